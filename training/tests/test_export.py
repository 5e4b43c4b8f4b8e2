import hashlib
import json

import numpy
import pytest
from conftest import REPOSITORY

from waymark_training.__main__ import main
from waymark_training.encode import encode, onnx_runner, torch_runner
from waymark_training.tokens import Tokenizer

DEFAULT = REPOSITORY / "models/waymark-e5-small"


@pytest.fixture(scope="module", params=["fp32", "int8"])
def exported(request, saved, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "tiny"
    assert main(["export", "--checkpoint", str(saved), "--out", str(out), "--precision", request.param]) == 0
    return request.param, out


def test_the_directory_is_complete(exported):
    precision, out = exported
    manifest = json.loads((out / "waymark.json").read_text(encoding="utf-8"))
    graph = out / manifest["weights"]["file"]
    assert manifest["weights"]["sha256"] == hashlib.sha256(graph.read_bytes()).hexdigest()
    assert manifest["name"] == "tiny"
    assert manifest["one_per_batch"] == (precision == "int8")
    assert (manifest["dimension"], manifest["max_length"]) == (32, 48)
    # The same files, keys and kinds of value as the default model has.
    for file in DEFAULT.rglob("*.json"):
        want, got = (json.loads((d / file.relative_to(DEFAULT)).read_text(encoding="utf-8")) for d in (DEFAULT, out))
        if file.name == "tokenizer.json":
            assert got["truncation"] is None and got["padding"] is None
        else:
            assert shape(got) == shape(want), file.name


def shape(value):
    """A JSON value with its kinds in the place of its leaves."""
    if isinstance(value, dict):
        return {key: shape(x) for key, x in value.items()}
    if isinstance(value, list):
        return [shape(x) for x in value[:3]]
    return type(value)


def test_the_golden_vectors_are_the_models(exported, model, spec):
    _, out = exported
    golden = json.loads((out / "waymark.json").read_text(encoding="utf-8"))["golden"]
    chunks = [(c["start"], c["end"]) for c in golden["chunks"]]
    tokenizer = Tokenizer(out / "tokenizer.json")
    got = encode(torch_runner(model), tokenizer, spec, golden["text"], chunks)
    assert (1 - numpy.array(golden["landmarks"]) @ got.landmarks.T).diagonal().max() < golden["tolerance"]
    assert 1 - numpy.array(golden["document"]) @ got.document < golden["tolerance"]


@pytest.mark.parametrize("exported", ["int8"], indirect=True)
def test_parity_fixture(exported, saved, tmp_path, model, spec, tokenizer):
    _, out = exported
    cases = [
        {"kind": "query", "text": "who?", "chunk_tokens": 9},
        {"kind": "passage", "text": "a b  c d", "chunk_tokens": 2},
    ]
    earlier, fixture = tmp_path / "earlier.json", tmp_path / "fixture.json"
    earlier.write_text(json.dumps({"cases": cases}))
    flags = {"checkpoint": saved, "model": out, "cases": earlier, "out": fixture}
    assert main(["parity", *(x for name, path in flags.items() for x in (f"--{name}", str(path)))]) == 0
    query, passage = json.loads(fixture.read_text())["cases"]
    assert query["windows"][0]["ids"][1:7] == tokenizer.ids("query:")
    assert passage["chunk_token_byte_ranges"] == [[0, 3], [5, 8]]
    want = encode(onnx_runner(out / "onnx/model_qint8.onnx"), tokenizer, spec, "a b  c d", [(0, 5), (5, 8)])
    assert numpy.abs(want.landmarks - numpy.array(passage["landmarks_int8"])).max() < 1e-5


def test_bench(exported, tmp_path, capsys):
    _, out = exported
    (tmp_path / "text.txt").write_text("bread keeps best in a cloth bag " * 9)
    assert main(["bench", "--text", str(tmp_path / "text.txt"), str(out), str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["48", "48", "12", "12"]
    (tmp_path / "text.txt").write_text("bread")
    assert main(["bench", "--text", str(tmp_path / "text.txt"), str(out)]) == 1
    assert "the text has 5 tokens" in capsys.readouterr().err


def test_failures_are_one_line(tmp_path, capsys):
    assert main(["export", "--checkpoint", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("waymark_training: ")
