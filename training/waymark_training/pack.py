"""Texts, pairs and long documents into one packed file."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import numpy

from . import beir
from .packed import KINDS, Packed
from .settings import Settings
from .tokens import Tokenizer

# Go's sentences end at line breaks too.
SENTENCE = re.compile(r"[.!?][)\"'\]’”]*\s+|\n\s*")

log = logging.getLogger(__name__)


def pack(settings: Settings, data: Path, tokenizer: Path, out: Path) -> Packed:
    """Packs a data folder (train/text, train/pairs, train/long) by the settings' mix and limits."""
    builder = Builder(Tokenizer(tokenizer), settings)
    readers = {"text": _texts, "pairs": _pairs, "long": _long}
    for kind in KINDS:
        weights = getattr(settings.mix, kind)
        sources = {
            name: readers[kind](builder, f"{kind}/{name}", data / "train" / kind / name) for name in sorted(weights)
        }
        taken = fill(sources, weights, getattr(settings.pack, kind))
        for name, count in taken.items():
            log.info("%s/%s: %d tokens", kind, name, count)
    packed = builder.packed()
    packed.save(out)
    size = out.stat().st_size
    log.info(
        "%d tokens, %d texts, %d answers, %.1f MB", len(packed.ids), len(packed.source), len(packed.gold), size / 1e6
    )
    if size > settings.pack.megabytes * 1e6:
        out.unlink()
        raise ValueError(f"{out} has {size / 1e6:.1f} MB, want at most {settings.pack.megabytes}: lower pack's tokens")
    return packed


def fill(sources: dict[str, Iterator[int]], weights: dict[str, float], budget: int) -> dict[str, int]:
    """Draws from each source, which yields what it added, in proportion to its weight.

    What a source that runs out leaves is shared among the rest.
    """
    taken = dict.fromkeys(sources, 0)
    left = {name: source for name, source in sources.items() if weights[name] > 0}
    while left and (rest := budget - sum(taken.values())) > 0:
        total = sum(weights[name] for name in left)
        for name, source in list(left.items()):
            goal = taken[name] + rest * weights[name] / total
            while taken[name] < goal:
                added = next(source, None)
                if added is None:
                    del left[name]
                    break
                taken[name] += added
    return taken


class Builder:
    """Collects texts; equal texts of a source are kept once."""

    def __init__(self, tokenizer: Tokenizer, settings: Settings) -> None:
        self.tokenizer = tokenizer
        self.settings = settings
        self.ids: list[numpy.ndarray] = []
        self.ends: list[numpy.ndarray] = []
        self.names: list[str] = []
        self.source: list[int] = []
        self.question: list[bool] = []
        self.held: list[bool] = []
        self.gold: list[tuple[int, int, int, int]] = []
        self.known: dict[tuple[str, bool, str], int] = {}

    def text(self, name: str, text: str, limit: int = 0, question: bool = False) -> tuple[int, int]:
        """Adds a text, cut to a limit of tokens; returns its number and how many tokens were added."""
        key = name, question, text
        if key in self.known:
            return self.known[key], 0
        ids, starts, _ = self.tokenizer.arrays(text)
        if len(ids) and ids.max() > numpy.iinfo(numpy.uint16).max:
            raise ValueError("the tokenizer has more than 65,536 tokens, which a packed file cannot hold")
        ids = ids[: limit or len(ids)]
        if name not in self.names:
            self.names.append(name)
        self.known[key] = len(self.source)
        self.ids.append(ids.astype(numpy.uint16))
        self.ends.append(sentence_ends(text, starts)[: len(ids)])
        self.source.append(self.names.index(name))
        self.question.append(question)
        self.held.append(not question and held_out(self.settings.seed, text, self.settings.pack.held))
        return self.known[key], len(ids)

    def packed(self) -> Packed:
        gold = numpy.array(self.gold, dtype=numpy.int32).reshape(-1, 4)
        held = numpy.array(self.held, dtype=bool)
        # A question that a held-out passage answers is held out with it.
        held[gold[held[gold[:, 1]], 0]] = True
        lengths = [len(ids) for ids in self.ids]
        return Packed(
            ids=numpy.concatenate([numpy.zeros(0, numpy.uint16), *self.ids]),
            ends=numpy.concatenate([numpy.zeros(0, bool), *self.ends]),
            bounds=numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(numpy.int64),
            source=numpy.array(self.source, dtype=numpy.uint8),
            question=numpy.array(self.question, dtype=bool),
            held=held,
            gold=gold,
            names=self.names,
        )


def sentence_ends(text: str, starts: numpy.ndarray) -> numpy.ndarray:
    """For tokens that start at those bytes, whether a sentence or a line ends before the next."""
    out = numpy.zeros(len(starts), dtype=bool)
    size = at = 0
    for found in SENTENCE.finditer(text):
        size += len(text[at : found.end()].encode())
        at = found.end()
        next_token = int(numpy.searchsorted(starts, size))
        if next_token > 0:
            out[next_token - 1] = True
    return out


def held_out(seed: int, text: str, share: float) -> bool:
    """Whether a text is held out: the same for the same text, wherever it stands."""
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest) < share * 2**64


def token_span(starts: numpy.ndarray, ends: numpy.ndarray, start: int, end: int) -> tuple[int, int]:
    """The tokens [first, last) that a range of bytes touches."""
    return int(numpy.searchsorted(ends, start, side="right")), int(numpy.searchsorted(starts, end))


def _shuffled(builder: Builder, name: str, rows: list) -> list:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    rng = numpy.random.default_rng([builder.settings.seed, int.from_bytes(digest)])
    return [rows[i] for i in rng.permutation(len(rows))]


def _texts(builder: Builder, name: str, path: Path) -> Iterator[int]:
    for row in _shuffled(builder, name, list(beir.lines(path.with_name(path.name + ".jsonl")))):
        yield builder.text(name, row["text"])[1]


def _pairs(builder: Builder, name: str, path: Path) -> Iterator[int]:
    for row in _shuffled(builder, name, list(beir.lines(path.with_name(path.name + ".jsonl")))):
        question, asked = builder.text(name, row["q"], builder.settings.pack.passage, question=True)
        passage, added = builder.text(name, row["d"], builder.settings.pack.passage)
        length = len(builder.ids[passage])
        if length and len(builder.ids[question]):
            builder.gold.append((question, passage, 0, length))
        yield asked + added


def _long(builder: Builder, name: str, path: Path) -> Iterator[int]:
    asked: dict[str, list[beir.Query]] = {}
    for query in beir.queries(path):
        for document in query.spans:
            asked.setdefault(document, []).append(query)
    for row in _shuffled(builder, name, beir.corpus(path)):
        document, added = builder.text(name, row["text"])
        _, starts, ends = builder.tokenizer.arrays(row["text"])
        for query in asked.get(row["_id"], ()):
            question, count = builder.text(name, query.text, builder.settings.pack.passage, question=True)
            added += count
            for span in query.spans[row["_id"]]:
                first, end = token_span(starts, ends, *span)
                if first < end and len(builder.ids[question]):
                    builder.gold.append((question, document, first, end))
        yield added
