import numpy
import onnx
import pytest
import torch
from onnx import helper, numpy_helper

from waymark_training import checkpoint
from waymark_training.base import dequantise, fetch


def quantised(name, values, axis=None):
    """A tensor as the package's graph holds it, in 8 bits with a scale and a zero point."""
    largest = numpy.abs(values).max(axis=axis) / 127
    scale = numpy.asarray(largest, dtype=numpy.float32)
    zero = numpy.full(scale.shape, 3, dtype=numpy.int8)
    whole = (numpy.clip(numpy.round(values / scale), -120, 120) + 3).astype(numpy.int8)
    parts = {"quantized": whole, "scale": scale, "zero_point": zero}
    return [numpy_helper.from_array(part, f"{name}_{kind}") for kind, part in parts.items()]


@pytest.fixture
def graph(model):
    constants, nodes = [], []
    for name, value in model.state_dict().items():
        stored, values = checkpoint.bert_name(name), value.numpy()
        if stored.endswith((".bias", "LayerNorm.weight")):
            constants.append(numpy_helper.from_array(values, stored))
        elif stored.startswith("embeddings"):
            constants += quantised(stored, values)
        else:
            number = f"onnx::MatMul_{len(nodes)}"
            constants += quantised(number, values.T, axis=0)
            module = "/" + stored.removesuffix(".weight").replace(".", "/").replace("layer/", "layer.")
            inputs = ["x", f"{number}_quantized", "z", f"{number}_zero_point"]
            nodes.append(helper.make_node("MatMulInteger", inputs, [number], f"{module}/MatMul_quant"))
    return onnx.ModelProto(graph=onnx.GraphProto(initializer=constants, node=nodes))


def test_dequantise(graph, model):
    found = dequantise(graph, model.config)
    for name, value in model.state_dict().items():
        got = found.state_dict()[name]
        assert (got - value).abs().max() <= value.abs().max() * 8 / 127, name
        if value.dim() > 1:
            assert torch.nn.functional.cosine_similarity(got.flatten(), value.flatten(), dim=0) > 0.999, name


def test_a_graph_without_a_weight_is_refused(graph, model):
    del graph.graph.node[4]
    with pytest.raises(ValueError, match="no encoder.layer.0.intermediate.dense.weight of shape"):
        dequantise(graph, model.config)


def test_maven_that_fails_is_quoted(tmp_path, monkeypatch):
    program = tmp_path / "mvn"
    program.write_text("#!/bin/sh\necho no such artifact\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(OSError, match="no such artifact"):
        fetch(tmp_path)
