"""Draws texts from a packed file and cuts them into chunks for windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy
from numpy.random import Generator

from .batches import Row, landmark_row
from .layout import Frame, Window
from .packed import Packed
from .settings import Distil

SHORTEST = 8  # tokens of a document's part in a window
RUN = 12  # two chunks that share so many tokens in a row may say the same


class Chunk(NamedTuple):
    """A range of a text's tokens."""

    text: int
    first: int
    end: int


class Sampler:
    """Draws texts, or questions with their passages, source by source as the mix says."""

    def __init__(self, packed: Packed, weights: dict[str, float], held: bool = False) -> None:
        self.packed = packed
        lengths = numpy.diff(packed.bounds)
        self._texts, self._questions, self._gold = {}, {}, {}
        for number, name in enumerate(packed.names):
            mine = (packed.source == number) & (packed.held == held) & (lengths > 0) & (weights.get(name, 0) > 0)
            self._texts[name] = numpy.flatnonzero(mine & ~packed.question)
            self._questions[name] = numpy.flatnonzero(mine & packed.question)
            usable = mine[packed.gold[:, 0]] & mine[packed.gold[:, 1]]
            self._gold[name] = numpy.flatnonzero(usable)
        self._weights = weights
        self._ends = {name: numpy.cumsum(lengths[texts]) for name, texts in self._texts.items()}
        self._lengths = lengths

    def _source(self, rng: Generator, numbers: dict[str, numpy.ndarray], kinds: Sequence[str]) -> str:
        names = [name for name in self.packed.names if name.split("/")[0] in kinds and len(numbers[name])]
        if not names:
            raise ValueError(f"the packed file has nothing of {' or '.join(kinds)} that the mix names")
        weights = numpy.array([self._weights[name] for name in names])
        return names[rng.choice(len(names), p=weights / weights.sum())]

    def has(self, kind: str) -> bool:
        """Whether there are questions with gold of a kind."""
        return any(len(rows) for name, rows in self._gold.items() if name.startswith(kind + "/"))

    def place(self, rng: Generator) -> tuple[int, int]:
        """A text for a window and where to start in it: as likely as it is long, half of the time its beginning."""
        name = self._source(rng, self._texts, ("text", "long"))
        at = int(rng.integers(self._ends[name][-1]))
        number = int(numpy.searchsorted(self._ends[name], at, side="right"))
        text = int(self._texts[name][number])
        length = int(self._lengths[text])
        start = 0 if rng.random() < 0.5 else at - int(self._ends[name][number]) + length
        return text, min(start, max(0, length - SHORTEST))

    def short(self, rng: Generator, longest: int) -> int:
        """A text of at most so many tokens; after some tries the shortest that came up."""
        name = self._source(rng, self._texts, ("text", "pairs"))
        found = rng.choice(self._texts[name], size=8)
        fitting = found[self._lengths[found] <= longest]
        return int(fitting[0]) if len(fitting) else int(found[self._lengths[found].argmin()])

    def question(self, rng: Generator) -> int:
        name = self._source(rng, self._questions, ("pairs", "long"))
        return int(rng.choice(self._questions[name]))

    def answered(self, rng: Generator, kind: str) -> str:
        """A source of a kind that has questions with answers."""
        return self._source(rng, self._gold, (kind,))

    def gold(self, rng: Generator, name: str, count: int = 1) -> list[tuple[int, Chunk]]:
        """Questions of a source with the part of a text that answers each: up to count, all of one text."""
        rows = self._gold[name]
        texts = self.packed.gold[rows, 1]
        same = rows[texts == texts[rng.integers(len(rows))]]
        drawn = self.packed.gold[rng.permutation(same)[:count]].tolist()
        return [(question, Chunk(*chunk)) for question, *chunk in drawn]


def cut(packed: Packed, part: Chunk, size: int, natural: bool) -> list[Chunk]:
    """Cuts a part of a text into chunks of size tokens, or of whole sentences up to that size."""
    out, at = [], part.first
    start = packed.bounds[part.text]
    while at < part.end:
        end = min(at + size, part.end)
        if natural and end < part.end:
            stops = numpy.flatnonzero(packed.ends[start + at : start + end])
            end = at + int(stops[-1]) + 1 if len(stops) else end
        out.append(Chunk(part.text, at, end))
        at = end
    return out


def fit(chunks: Sequence[Chunk], room: int) -> list[Chunk]:
    """The first chunks that fit a window's room with their landmarks, the last one shortened."""
    out = []
    for chunk in chunks:
        end = min(chunk.end, chunk.first + room - 1)
        if end <= chunk.first:
            break
        out.append(chunk._replace(end=end))
        room -= end - chunk.first + 1
    return out


def ids(packed: Packed, chunk: Chunk) -> list[int]:
    return packed.tokens(*chunk).tolist()


def runs(packed: Packed, chunk: Chunk) -> set[bytes]:
    """All runs of RUN tokens in a chunk; the same words may stand in several sources."""
    tokens = packed.tokens(*chunk)
    return {tokens[i : i + RUN].tobytes() for i in range(max(len(tokens) - RUN, 0) + 1)}


def lay(packed: Packed, chunks: Sequence[Chunk], frame: Frame) -> Window:
    """The window of some chunks."""
    window = Window([frame.cls, *frame.prefix], [], [])
    for number, chunk in enumerate(chunks):
        window.ids.extend([*ids(packed, chunk), frame.landmark])
        window.landmarks.append(len(window.ids) - 1)
        window.chunks.append(number)
    return window


def rows(packed: Packed, windows: Sequence[Sequence[Chunk]], frame: Frame) -> list[Row]:
    """The rows of some windows' chunks."""
    return [landmark_row(lay(packed, chunks, frame), frame) for chunks in windows]


def windows(sampler: Sampler, settings: Distil, tokens: int, room: int, rng: Generator) -> list[list[Chunk]]:
    """The chunks of windows with so many tokens in all, for distillation."""
    out = []
    while tokens > 0:
        make = whole if rng.random() < settings.whole else glued
        out.append(fit(make(sampler, settings, room, rng), room))
        tokens -= sum(chunk.end - chunk.first for chunk in out[-1])
    return out


def whole(sampler: Sampler, settings: Distil, room: int, rng: Generator) -> list[Chunk]:
    """A short text as one chunk."""
    text = sampler.short(rng, room - 1)
    return [Chunk(text, 0, sampler.packed.length(text))]


def glued(sampler: Sampler, settings: Distil, room: int, rng: Generator) -> list[Chunk]:
    """Parts of texts, several where glue says so, in chunks of one size."""
    low, high = (min(n, room - 1) for n in settings.content)
    left = int(rng.integers(low, high + 1))
    size = int(rng.choice(settings.sizes))
    natural = rng.random() < settings.natural
    several = rng.random() < settings.glue
    out = []
    while left >= min(SHORTEST, low):
        text, start = sampler.place(rng)
        share = int(rng.integers(SHORTEST, max(left, SHORTEST) + 1)) if several else left
        part = Chunk(text, start, min(start + share, sampler.packed.length(text)))
        out.extend(cut(sampler.packed, part, size, natural))
        left -= part.end - part.first
    return out
