"""Packing, drawing and laying out, on a few small files."""

import json

import numpy
import pytest
from conftest import REPOSITORY

from waymark_training import draw
from waymark_training.__main__ import main
from waymark_training.draw import Chunk, Sampler
from waymark_training.mine import Index
from waymark_training.pack import SENTENCE, fill, sentence_ends, token_span
from waymark_training.packed import Packed
from waymark_training.settings import Distil, read

CONFIGS = REPOSITORY / "training/configs"


def decoded(packed, tokenizer, *chunk):
    """A range of tokens as text without its blanks."""
    letters = tokenizer._tokenizer.decode(packed.tokens(*chunk).tolist())
    return letters.replace(" ##", "").replace(" ", "")


def test_spans_round_trip(packed, tokenizer, data):
    spans = [line.split("\t") for line in (data / "train/long/tales/qrels/spans.tsv").read_text().splitlines()[1:]]
    documents = {row["_id"]: row["text"] for row in map(json.loads, (data / "train/long/tales/corpus.jsonl").open())}
    want = sorted(
        documents[s[1]].encode()[int(s[4]) : int(s[5])].decode().replace(" ", "").replace("é", "e") for s in spans
    )
    rows = [r for r in packed.gold if packed.names[packed.source[r[1]]] == "long/tales"]
    assert sorted(decoded(packed, tokenizer, *r[1:]) for r in rows) == want


def test_pairs_are_whole_passages_and_kept_once(packed, tokenizer):
    rows = [r for r in packed.gold if packed.names[packed.source[r[1]]] == "pairs/asked"]
    assert len(rows) == 40
    # Two questions share each passage.
    assert len({int(r[1]) for r in rows}) == 20
    for question, text, first, end in rows:
        assert packed.question[question] and not packed.question[text]
        assert (first, end) == (0, packed.length(text))
        assert packed.held[question] == packed.held[text]


def test_packing_is_deterministic(packed_file, data, tokenizer_file, config, tmp_path):
    flags = {"config": config, "data": data, "tokenizer": tokenizer_file, "out": tmp_path / "again.npz"}
    assert main(["pack", *(x for name, path in flags.items() for x in (f"--{name}", str(path)))]) == 0
    assert (tmp_path / "again.npz").read_bytes() == packed_file.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["again.npz"]


def test_a_file_over_the_limit_is_refused(data, tokenizer_file, config, tmp_path, capsys):
    small = tmp_path / "small.toml"
    small.write_text(config.read_text().replace("megabytes = 1", "megabytes = 0.001"))
    flags = {"config": small, "data": data, "tokenizer": tokenizer_file, "out": tmp_path / "x.npz"}
    assert main(["pack", *(x for name, path in flags.items() for x in (f"--{name}", str(path)))]) == 1
    assert "want at most 0.001" in capsys.readouterr().err
    assert not (tmp_path / "x.npz").exists()


def test_saving_keeps_everything(packed, tmp_path):
    packed.save(tmp_path / "x.npz")
    again = Packed.load(tmp_path / "x.npz")
    for name, value in vars(packed).items():
        assert numpy.array_equal(getattr(again, name), value), name


@pytest.mark.parametrize(
    "weights, budget, want",
    [
        ({"a": 1, "b": 1}, 40, {"a": 20, "b": 20}),
        ({"a": 1, "b": 3}, 40, {"a": 10, "b": 30}),
        # What a cannot give, b does.
        ({"a": 9, "b": 1}, 150, {"a": 100, "b": 50}),
        ({"a": 1, "b": 1}, 900, {"a": 100, "b": 200}),
        ({"a": 0, "b": 1}, 10, {"a": 0, "b": 10}),
    ],
)
def test_fill(weights, budget, want):
    sources = {"a": iter([10] * 10), "b": iter([10] * 20)}
    assert fill(sources, weights, budget) == want


def test_sentence_ends(tokenizer):
    text = 'é a. b "c!" d\ne'
    _, starts, ends = tokenizer.arrays(text)
    tokens = [text.encode()[s:e].decode() for s, e in zip(starts, ends)]
    marked = [token for token, end in zip(tokens, sentence_ends(text, starts)) if end]
    assert marked == [".", '"', "d"]
    assert token_span(starts, ends, 3, 5) == (1, 3)
    assert SENTENCE.search("3.5") is None


def test_cut(packed):
    text = next(i for i in range(len(packed.source)) if packed.length(i) > 60)
    whole = Chunk(text, 0, packed.length(text))
    for natural in (False, True):
        chunks = draw.cut(packed, whole, 20, natural)
        assert [c.first for c in chunks] == [0, *(c.end for c in chunks[:-1])]
        assert chunks[-1].end == whole.end
        assert all(0 < c.end - c.first <= 20 for c in chunks)
    start = packed.bounds[text]
    assert any(packed.ends[start + c.end - 1] and c.end - c.first < 20 for c in chunks[:-1])


def test_fit():
    chunks = [Chunk(0, 0, 5), Chunk(0, 5, 10), Chunk(0, 10, 15)]
    assert draw.fit(chunks, 18) == chunks
    assert draw.fit(chunks, 17) == [*chunks[:2], Chunk(0, 10, 14)]
    assert draw.fit(chunks, 13) == chunks[:2]
    assert draw.fit(chunks, 3) == [Chunk(0, 0, 2)]


def test_windows_fit_and_come_from_their_part(packed, mix, spec, tokenizer):
    frame = spec.frame(tokenizer)
    settings = Distil(content=(10, 30), sizes=(4, 8), whole=0.3, glue=1.0)
    for held in (False, True):
        sampler = Sampler(packed, mix.weights(), held=held)
        windows = draw.windows(sampler, settings, 2000, frame.room, numpy.random.default_rng(3))
        for chunks in windows:
            assert len(draw.lay(packed, chunks, frame).ids) <= frame.max_length
            assert all(packed.held[c.text] == held for c in chunks)
        if not held:
            assert any(len({c.text for c in chunks}) > 1 for chunks in windows)
            assert any(len(chunks) == 1 for chunks in windows)


def test_a_source_without_weight_is_not_drawn(packed):
    sampler = Sampler(packed, {"pairs/asked": 1.0})
    rng = numpy.random.default_rng(0)
    assert {packed.names[packed.source[sampler.short(rng, 99)]] for _ in range(9)} == {"pairs/asked"}
    assert not sampler.has("long")
    with pytest.raises(ValueError, match="nothing of text or long"):
        sampler.place(rng)


def test_index(packed):
    found = Index(packed, [2, 3, 5], 7)
    for text in (2, 3, 5):
        for first, end in ((0, 1), (3, min(15, packed.length(text)))):
            numbers = found.overlapping(Chunk(text, first, end))
            want = [i for i, c in enumerate(found.chunks) if c.text == text and c.first < end and first < c.end]
            assert list(numbers) == want


def test_configurations(config, tmp_path):
    for file in (config.parents[0] / "tiny.toml", *CONFIGS.glob("*.toml")):
        assert read(file).name
    for text, message in (
        ('name = "x"\nlayer = [1]', "unknown key 'layer'"),
        ('name = "x"\n[distil]\nspeed = 1', "distil: unknown key 'speed'"),
        ("seed = 1", "name"),
        ('name = "x"\n[distil]\nsteps = "9"', "steps is '9', want int"),
        ("=", "x.toml: "),
    ):
        (tmp_path / "x.toml").write_text(text)
        with pytest.raises(ValueError, match=message):
            read(tmp_path / "x.toml")
