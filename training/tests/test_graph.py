import numpy
import onnx
import pytest
import torch

from waymark_training.encode import onnx_runner, torch_runner
from waymark_training.export import TOLERANCE, calibration, checked, difference, random_batch
from waymark_training.graph import build
from waymark_training.layout import Batch
from waymark_training.outliers import neutral, plan
from waymark_training.quantise import drift, quantise

TEXTS = ["the harbour bridge was opened in spring", "bread keeps best in a cloth bag; so it is said."]


@pytest.fixture(scope="module")
def planned(model, tokenizer, spec):
    return plan(model, calibration(tokenizer, spec, TEXTS))


@pytest.mark.parametrize("kind", ["neutral", "planned"])
def test_graph_computes_what_torch_does(model, planned, kind):
    graph = build(model, neutral(model) if kind == "neutral" else planned)
    assert difference(model, onnx_runner(graph.SerializeToString())) <= TOLERANCE


def test_a_wrong_graph_is_refused(model):
    graph = build(model, neutral(model))
    for constant in graph.graph.initializer:
        if constant.name == "layers.1.up.bias":
            constant.CopyFrom(onnx.numpy_helper.from_array(numpy.ones(64, dtype=numpy.float32), constant.name))
    with pytest.raises(ValueError, match="differs from torch"):
        checked(model, graph)


@pytest.mark.parametrize("runner", ["torch", "onnx"])
def test_padding_changes_nothing(model, runner):
    run = torch_runner(model) if runner == "torch" else onnx_runner(build(model, neutral(model)).SerializeToString())
    whole = random_batch(model, rows=3, length=20)
    got = run(whole)
    for row in range(3):
        n = whole.mask[row].sum()
        one = Batch(whole.ids[row : row + 1, :n], whole.mask[row : row + 1, :n], whole.positions[row : row + 1])
        assert numpy.abs(run(one)[0] - got[row]).max() <= TOLERANCE


def test_dropout_is_off(model):
    model.train()
    try:
        example = random_batch(model, rows=1, length=9)
        run = torch_runner(model)
        assert numpy.array_equal(run(example), run(example))
    finally:
        model.eval()


def test_states_of_every_layer(model):
    ids = torch.arange(1, 7)[None]
    states = model.all_states(ids, torch.ones_like(ids))
    assert len(states) == 4
    assert torch.equal(states[-1], model(ids, torch.ones_like(ids)))


def test_large_channels_are_found(planned):
    for layer in planned:
        assert 5 in layer.split
        assert layer.feed_forward[3] == layer.feed_forward.max() > 2


def test_the_plan_lowers_drift(model, planned, tokenizer, spec, tmp_path):
    found = []
    for layers in (neutral(model), planned):
        quantise(build(model, layers), tmp_path / "8bit.onnx")
        run = onnx_runner(tmp_path / "8bit.onnx")
        found.append(drift(torch_runner(model), run, tokenizer, spec, TEXTS, every=5))
    assert found[1].landmarks.mean() > found[0].landmarks.mean()
    assert found[1].landmarks.min() > 0.99
    assert str(found[1]).startswith(f"{len(found[1].landmarks)} landmarks: cosine 0.99")


def test_the_written_graph_is_valid(model, planned, tmp_path):
    quantise(build(model, planned), tmp_path / "8bit.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "8bit.onnx"))


def test_excluded_nodes_stay_in_floating_point(model, planned, tmp_path):
    quantise(build(model, planned), tmp_path / "8bit.onnx", exclude=["layers.2.down.product"])
    graph = onnx.load(tmp_path / "8bit.onnx").graph
    kept = {node.name for node in graph.node if node.op_type == "MatMul"}
    split = {f"layers.{i}.split.{part}.float" for i in range(3) for part in ("up", "down")}
    assert kept == {"layers.2.down.product", *split}
    with pytest.raises(ValueError, match="'layers.9.down'"):
        quantise(build(model, planned), tmp_path / "8bit.onnx", exclude=["layers.9.down"])
