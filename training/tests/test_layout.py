import json

import pytest
from conftest import REPOSITORY

from waymark_training.bert import BertConfig
from waymark_training.layout import Frame, batch, blocks, intervals, windows
from waymark_training.spec import Spec
from waymark_training.tokens import Token, Tokenizer

FRAME = Frame(cls=1, landmark=2, pad=0, prefix=(7, 8), max_length=10)


def row(*sizes: int) -> list[Token]:
    """Tokens of those sizes, one after the other, with ids from 100."""
    out, at = [], 0
    for i, size in enumerate(sizes):
        out.append(Token(100 + i, at, at + size))
        at += size
    return out


@pytest.mark.parametrize(
    "name, tokens, chunks, want",
    [
        ("empty", [], [(0, 0)], [([1, 7, 8, 2], [3], [0])]),
        ("one chunk", row(1, 1), [(0, 2)], [([1, 7, 8, 100, 101, 2], [5], [0])]),
        ("two chunks", row(1, 1, 1), [(0, 2), (2, 3)], [([1, 7, 8, 100, 101, 2, 102, 2], [5, 7], [0, 1])]),
        (
            "two windows",
            row(*[1] * 6),
            [(0, 3), (3, 6)],
            [([1, 7, 8, 100, 101, 102, 2], [6], [0]), ([1, 7, 8, 103, 104, 105, 2], [6], [1])],
        ),
        ("a full window", row(*[1] * 6), [(0, 6)], [([1, 7, 8, *range(100, 106), 2], [9], [0])]),
        (
            "a chunk larger than a window",
            row(*[1] * 7),
            [(0, 7)],
            [([1, 7, 8, *range(100, 106), 2], [9], [0]), ([1, 7, 8, 106, 2], [4], [0])],
        ),
        (
            "a chunk inside a token repeats it",
            row(1, 4),
            [(0, 2), (2, 5)],
            [([1, 7, 8, 100, 101, 2, 101, 2], [5, 7], [0, 1])],
        ),
        ("a chunk of blanks", [Token(100, 0, 1)], [(0, 1), (1, 3)], [([1, 7, 8, 100, 2, 2], [4, 5], [0, 1])]),
    ],
)
def test_windows(name, tokens, chunks, want):
    got = windows(tokens, chunks, chunks[-1][1], FRAME)
    assert [(w.ids, w.landmarks, w.chunks) for w in got] == want


def test_every_token_is_in_one_block():
    tokens = row(3, 1, 2, 5, 1, 1, 4)
    chunks = [(0, 2), (2, 4), (4, 11), (11, 17)]
    got = blocks(tokens, chunks, 17, room=2)
    assert [ids for _, ids in got] == [[100], [101], [102, 103], [104, 105], [106]]
    assert [chunk for chunk, _ in got] == [0, 1, 2, 3, 3]


@pytest.mark.parametrize("chunks", [[], [(0, 4)], [(1, 5)], [(0, 2), (3, 5)], [(0, 3), (3, 2), (2, 5)]])
def test_chunks_must_tile(chunks):
    with pytest.raises(ValueError, match="chunk"):
        windows(row(5), chunks, 5, FRAME)


def test_no_room():
    with pytest.raises(ValueError, match="no room"):
        windows(row(1), [(0, 1)], 1, Frame(1, 2, 0, (7,) * 8, 10))


def test_intervals():
    assert intervals(row(2, 2, 2, 2, 2), 11, 2) == [(0, 4), (4, 8), (8, 11)]
    assert intervals([], 3, 2) == [(0, 3)]
    # Two tokens of one byte cannot be parted.
    assert intervals([Token(1, 0, 1), Token(2, 0, 1), Token(3, 1, 2)], 2, 1) == [(0, 1), (1, 2)]


def test_batch():
    got = batch(windows(row(1, 1, 1, 1, 1), [(0, 2), (2, 3), (3, 5)], 5, FRAME), pad=9)
    assert got.ids.tolist() == [[1, 7, 8, 100, 101, 2, 102, 2], [1, 7, 8, 103, 104, 2, 9, 9]]
    assert got.mask.tolist() == [[1] * 8, [1] * 6 + [0] * 2]
    assert got.positions.tolist() == [[5, 7], [5, 0]]


def test_windows_are_those_that_go_lays_out():
    """The fixture that the Go side's tests compare with, on the default model's tokenizer."""
    tokenizer = Tokenizer(REPOSITORY / "models/waymark-e5-small/tokenizer.json")
    spec = Spec.of("default", tokenizer, BertConfig())
    cases = json.loads((REPOSITORY / "landmark/onnx/testdata/parity.json").read_text(encoding="utf-8"))["cases"]
    assert cases
    for case in cases:
        size = len(case["text"].encode())
        tokens = tokenizer.tokens(case["text"])
        chunks = intervals(tokens, size, case["chunk_tokens"])
        got = windows(tokens, chunks, size, spec.frame(tokenizer, query=case["kind"] == "query"))
        assert [w.ids for w in got] == [w["ids"] for w in case["windows"]]
        assert [w.landmarks for w in got] == [w["landmark_positions"] for w in case["windows"]]
