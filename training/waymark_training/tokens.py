"""Tokens with the bytes they stand for, as Waymark's Go side counts them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy
import tokenizers


@dataclasses.dataclass(frozen=True)
class Token:
    """A token id and the bytes [start, end) of the text's UTF-8 that it stands for."""

    id: int
    start: int
    end: int


class Tokenizer:
    """A Hugging Face fast tokenizer, fed whole texts."""

    def __init__(self, file: Path) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_file(str(file))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # Special tokens spelt out in a text stay text, so that no document can
        # forge a landmark.
        self._tokenizer.encode_special_tokens = True

    def special(self, token: str) -> int:
        """The id of a special token."""
        found = self._tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f"the tokenizer has no token {token!r}")
        return found

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text, without special ones."""
        return [Token(*map(int, values)) for values in zip(*self.arrays(text))]

    def arrays(self, text: str) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """The tokens of a text as arrays: their ids, where they start and where they end."""
        # Go, which passes the text through C, also puts a blank for each NUL.
        encoding = self._tokenizer.encode(text.replace("\0", " "), add_special_tokens=False)
        offsets = _byte_offsets(text)[numpy.array(encoding.offsets, dtype=int).reshape(-1, 2)]
        starts = numpy.maximum.accumulate(offsets[:, 0])
        return numpy.array(encoding.ids, dtype=int), starts, numpy.maximum(starts, offsets[:, 1])

    def ids(self, text: str) -> list[int]:
        """The ids of a text's tokens, such as those of a prefix."""
        return [token.id for token in self.tokens(text)]


def _byte_offsets(text: str) -> numpy.ndarray:
    """Where each character of a text begins in its UTF-8, and where the last one ends."""
    codes = numpy.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    widths = 1 + (codes >= 0x80).astype(int) + (codes >= 0x800) + (codes >= 0x10000)
    return numpy.concatenate([[0], numpy.cumsum(widths)])
