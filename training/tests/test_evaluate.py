import json

import numpy
import pytest
import torch

from waymark_training.__main__ import main
from waymark_training.beir import Query
from waymark_training.evaluate import Index, Options, pooled, scaled
from waymark_training.layout import Frame, even_room, intervals, owners, spans, windows
from waymark_training.metrics import first, hits, ndcg
from waymark_training.pooling import MODES, headed_rows, late_rows, open_encoder
from waymark_training.sample import PCG, sample
from waymark_training.tokens import Token


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A set whose questions are the beginnings of its documents."""
    folder = tmp_path_factory.mktemp("toy") / "toy"
    texts = ["abc abc abc abc. dd dd dd dd dd.", "xyz xyz xyz. q q q q q q q q q q q", "12 34 56 78 90 12 34"]
    (folder / "qrels").mkdir(parents=True)

    def write(name, rows):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    write("corpus.jsonl", [{"_id": f"d{i}", "title": f"t{i}", "text": t} for i, t in enumerate(texts)])
    write(
        "queries.jsonl", [{"_id": f"q{i}", "text": t[:12]} for i, t in enumerate(texts)] + [{"_id": "x", "text": "x"}]
    )
    (folder / "qrels/test.tsv").write_text("h\n" + "".join(f"q{i}\td{i}\t1\n" for i in range(3)))
    (folder / "qrels/spans.tsv").write_text("h\n" + "".join(f"q{i}\td{i}\t0\t12\t0\t12\n" for i in range(3)))
    return folder


@pytest.mark.parametrize("mode", MODES)
def test_a_toy_set(mode, toy, saved, capsys):
    arguments = ["evaluate", "--checkpoint", str(saved), "--mode", mode, "--tokens", "6", str(toy)]
    assert main([*arguments, "--precision", "fp32"]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    name, chunks, *values = [cell.strip() for cell in row.strip("|").split("|")]
    assert name == "toy"
    assert int(chunks) == 3 if mode in ("truncated", "cls") else int(chunks) > 8
    assert len(values) == 7 and all(0 <= float(value) <= 1 for value in values)


def test_a_set_without_spans_has_no_hits(toy, saved, tmp_path, capsys):
    for file in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes((toy / file).read_bytes())
    arguments = [
        "evaluate",
        "--checkpoint",
        str(saved),
        "--tokens",
        "6",
        "--titles",
        "yes",
        "--queries",
        "3",
        str(tmp_path),
    ]
    assert main(arguments) == 0
    assert capsys.readouterr().out.rstrip().endswith("| - | - | - | - |")


def test_a_set_by_length_is_measured_length_by_length(toy, saved, tmp_path, capsys, monkeypatch):
    for file in ("corpus.jsonl", "qrels/test.tsv", "qrels/spans.tsv"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes((toy / file).read_bytes())
    queries = [json.loads(line) for line in (toy / "queries.jsonl").read_text().splitlines()]
    lengths = {"q0": 256, "q1": 256, "q2": 512}
    rows = [row | {"metadata": {"tokens": lengths.get(row["_id"], 256)}} for row in queries]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(Options, "tokens", 6)
    arguments = ["evaluate", "--checkpoint", str(saved), "--tokens", "6", "--rows", str(tmp_path / "rows.jsonl")]
    assert main([*arguments, str(tmp_path)]) == 0
    table = [[cell.strip() for cell in row.strip("|").split("|")] for row in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0].split()[-1] for row in table] == ["256", "512"]
    assert table[1][2] == "1.000"  # one document to choose from
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(line["query"], line["nominal"]) for line in lines] == [("q0", 256), ("q1", 256), ("q2", 512)]
    assert all(line["start"] == 0 and line["bytes"] > 12 for line in lines)
    assert main([*arguments, "--longest", "256", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_chunks_larger_than_a_window_are_refused(toy, saved, capsys):
    assert main(["evaluate", "--checkpoint", str(saved), "--tokens", "60", str(toy)]) == 1
    assert "chunks of 60 tokens, want 1 to" in capsys.readouterr().err


def test_lines_for_the_report_are_of_vectors_as_they_ship(toy, saved, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    assert main(["evaluate", "--checkpoint", str(saved), "--tokens", "6", "--rows", str(rows), str(toy)]) == 1
    assert "leave those options out" in capsys.readouterr().err and not rows.exists()


def test_vectors_of_a_document(saved):
    text = "abc def. ghi jkl, mno pqr stu. " * 4
    with torch.no_grad():
        found = {mode: open_encoder(saved, mode).documents([text], 7) for mode in MODES}
    for mode, ((chunks,), (raw,)) in found.items():
        assert len(chunks) == len(raw)
        assert numpy.isfinite(raw.numpy()).all() and (raw.norm(dim=1) > 0).all(), mode
    assert found["landmark"][0] == found["naive"][0] == found["late"][0] == found["multicls"][0]
    assert not numpy.allclose(found["landmark"][1][0], found["naive"][1][0], atol=1e-2)


@pytest.mark.parametrize("mode", MODES)
def test_documents_together_have_the_vectors_they_have_alone(saved, mode):
    texts = ["abc def. ghi jkl, mno pqr stu. " * n for n in (1, 4, 2)]
    encoder = open_encoder(saved, mode)
    with torch.no_grad():
        _, together = encoder.documents(texts, 7)
        for text, want in zip(texts, together):
            numpy.testing.assert_allclose(encoder.documents([text], 7)[1][0], want, atol=1e-5)


def test_late_windows_have_every_token_once():
    tokens = [Token(100 + i, i, i + 1) for i in range(23)]
    rows = late_rows(tokens, intervals(tokens, 23, 3), 23, Frame(1, 2, 0, (7, 8), 14))
    assert [i for row in rows for start, end in row.parts for i in row.ids[start:end]] == list(range(100, 123))
    assert all(row.ids[:3] == [1, 7, 8] and row.ids[-1] == 2 and len(row.ids) <= 14 for row in rows)
    assert [len(row.parts) for row in rows] == [3, 3, 2]


def test_a_cls_stands_in_front_of_every_chunk():
    tokens = [Token(100 + i, i, i + 1) for i in range(7)]
    (row,) = headed_rows(tokens, intervals(tokens, 7, 3), 7, Frame(1, 2, 0, (7, 8), 14))
    assert row.ids == [1, 7, 8, 100, 101, 102, 1, 103, 104, 105, 1, 106, 2]
    assert [row.ids[start] for start, _ in row.parts] == [1, 1, 1]


def test_windows_overlap_by_whole_chunks():
    assert spans([4, 4, 4, 4, 4], 12, overlap=3) == [(0, 3), (2, 5)]
    assert spans([4, 4, 4, 4, 4], 12, overlap=2) == [(0, 3), (3, 5)]
    assert spans([4, 10, 4], 12, overlap=11) == [(0, 1), (1, 2), (2, 3)]
    assert owners([4, 4, 4, 4, 4], [(0, 3), (2, 5)]) == [0, 0, 0, 1, 1]
    assert owners([4] * 6, [(0, 4), (2, 6)]) == [0, 0, 0, 1, 1, 1]


def test_a_chunk_in_two_windows_has_one_landmark():
    tokens = [Token(100 + i, i, i + 1) for i in range(20)]
    laid = windows(tokens, intervals(tokens, 20, 3), 20, Frame(1, 2, 0, (7, 8), 16), alike=True, overlap=4)
    assert sorted(chunk for window in laid for chunk in window.chunks) == list(range(7))
    assert sum(len(window.ids) for window in laid) > 20 + 7 + 3 * len(laid)
    for window in laid:
        assert all(window.ids[at] == 2 for at in window.landmarks)


def test_windows_are_filled_alike():
    assert spans([4, 4, 4, 4, 4], 16) == [(0, 4), (4, 5)]
    room = even_room([4, 4, 4, 4, 4], 16)
    assert room == 12
    assert spans([4, 4, 4, 4, 4], room) == [(0, 3), (3, 5)]
    assert even_room([5], 16) == 5


IDS, RANGES, OWNER = ["a", "b"], [(0, 10), (10, 20), (0, 30)], numpy.array([0, 0, 1])


def test_ndcg():
    query = Query("q", "", {"a": 1.0, "b": 3.0}, {})
    assert ndcg(query, IDS, numpy.array([0.1, 0.9])) == pytest.approx(1)
    assert ndcg(query, IDS, numpy.array([0.9, 0.1])) == pytest.approx((1 + 3 / 1.58496) / (3 + 1 / 1.58496), abs=1e-4)
    assert ndcg(Query("q", "", {"c": 1.0}, {}), IDS, numpy.array([0.9, 0.1])) == 0


def test_hits():
    def found(query, *scores):
        return hits(query, IDS, RANGES, OWNER, numpy.array(scores))

    query = Query("q", "", {"a": 1.0}, {"a": [(10, 12)]})
    assert found(query, 0.1, 0.9, 0.2) == (1, 1)
    assert found(query, 0.9, 0.1, 0.2) == (0, 1)
    assert found(Query("q", "", {"a": 1.0}, {"a": [(25, 30)]}), 0.1, 0.9, 0.2) == (0, 0)
    assert found(Query("q", "", {"a": 1.0}, {}), 0.1, 0.9, 0.2) == (0, 0)


def test_ties_stay_in_order():
    scores = numpy.array([0.5, 0.9, 0.5, 0.5] * 20)
    assert first(scores, 3).tolist() == [1, 5, 9]
    assert first(numpy.full(80, 0.5), 3).tolist() == [0, 1, 2]


def test_an_index_of_some_documents():
    ranges = [(i, i + 1) for i in range(5)]
    owner = numpy.array([0, 0, 1, 2, 2])
    made = Index(["a", "b", "c"], torch.arange(3.0)[:, None], torch.arange(5.0)[:, None], ranges, owner)
    part = made.part(["c", "a"])
    assert part.ids == ["a", "c"] and part.owner.tolist() == [0, 0, 1, 1]
    assert part.chunks.flatten().tolist() == [0, 1, 3, 4] and part.ranges == [(0, 1), (1, 2), (3, 4), (4, 5)]


def test_samples_are_those_of_go():
    random = PCG(0, 0)
    assert [random.uint64(), random.uint64()] == [4107282207882862730, 12464933722704884221]
    assert sample(list(range(10)), 10) == [4, 5, 8, 1, 0, 9, 7, 3, 6, 2]
    assert sample(list(range(1190)), 4) == [566, 255, 293, 672]
    assert sample([1, 2], 0) == [1, 2]


def test_document_vectors():
    vectors, chunks = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), [(0, 30), (30, 40)]
    assert pooled(vectors, chunks, weigh=False).tolist() == [0.5, 0.5]
    assert pooled(vectors, chunks, weigh=True).tolist() == [0.75, 0.25]
    assert scaled(torch.tensor([[3.0, 4.0]]), centre=False).tolist() == [pytest.approx([0.6, 0.8])]
    assert scaled(torch.tensor([[5.0, 0.0], [0.0, 2.0]]), centre=True)[0].tolist() == pytest.approx(
        [0.5**0.5, -(0.5**0.5)]
    )


def test_a_graph_is_measured_in_the_checkpoints_place(toy, saved, tmp_path, capsys):
    assert main(["export", "--checkpoint", str(saved), "--out", str(tmp_path), "--precision", "fp32"]) == 0
    capsys.readouterr()
    arguments = ["evaluate", "--checkpoint", str(saved), "--tokens", "6", "--precision", "fp32"]
    graph = ["--graph", str(tmp_path / "onnx/model.onnx")]
    tables = []
    for more in ([], graph):
        assert main([*arguments, *more, str(toy)]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert main([*arguments, "--mode", "late", *graph, str(toy)]) == 1
    assert "mode late needs a checkpoint" in capsys.readouterr().err
