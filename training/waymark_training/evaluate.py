"""Measures a checkpoint on BEIR sets, with the columns of Go's spaneval."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch
from torch import Tensor

from . import beir, checkpoint
from .batches import Row
from .beir import Query
from .bert import Bert
from .layout import Frame, Range, Window, blocks, even_room, intervals, spans, windows
from .sample import sample
from .spec import Spec
from .tokens import Token, Tokenizer
from .vectors import autocast, best_device, device_of, mean_vectors, part_vectors, unit, window_vectors

MODES = ("landmark", "naive", "late", "truncated")
COLUMNS = ("doc", "max", "mix", "hit@1", "hit@5", "mix hit@1", "mix hit@5")


@dataclasses.dataclass(frozen=True)
class Encoder:
    """A model with a way to make vectors of a document's chunks.

    landmark takes landmarks' states, naive encodes each chunk alone, late takes the
    means of chunks' tokens in windows, truncated has one vector for what fits one
    window. All but landmark pool by means, as the base model was trained.
    """

    model: Bert
    tokenizer: Tokenizer
    spec: Spec
    mode: str

    def query(self, texts: Sequence[str]) -> Tensor:
        """The unit vectors of questions."""
        frame = self.spec.frame(self.tokenizer, query=True)
        ids = [self.tokenizer.ids(text)[: frame.room - 1] for text in texts]
        if self.mode != "landmark":
            return unit(mean_vectors(self.model, ids, frame)).cpu()
        laid = [
            Window([frame.cls, *frame.prefix, *one, frame.landmark], [len(one) + 1 + len(frame.prefix)], [0])
            for one in ids
        ]
        return unit(torch.cat(window_vectors(self.model, laid, frame))).cpu()

    def document(self, text: str, every: int) -> tuple[list[Range], Tensor]:
        """A document's chunks in bytes, and their raw vectors."""
        frame = self.spec.frame(self.tokenizer)
        tokens, size = self.tokenizer.tokens(text), len(text.encode())
        chunks = intervals(tokens, size, every)
        if self.mode == "landmark":
            laid = windows(tokens, chunks, size, frame, alike=True)
            return chunks, torch.cat(window_vectors(self.model, laid, frame))
        if self.mode == "late":
            return chunks, torch.cat(part_vectors(self.model, late_rows(tokens, chunks, size, frame), frame))
        if self.mode == "truncated":
            read = tokens[: frame.room - 1]
            return [(0, read[-1].end if read else 0)], mean_vectors(self.model, [[t.id for t in read]], frame)
        ids = [ids for _, ids in blocks(tokens, chunks, size, frame.room - 1)]
        return chunks, mean_vectors(self.model, ids, frame)


def late_rows(tokens: Sequence[Token], chunks: Sequence[Range], size: int, frame: Frame) -> list[Row]:
    """Windows without landmarks, closed by one separator, filled alike; a part for each chunk."""
    parts = blocks(tokens, chunks, size, frame.room - 1)
    costs = [len(ids) for _, ids in parts]
    out = []
    for start, end in spans(costs, even_room(costs, frame.room - 1)):
        row, ranges = [frame.cls, *frame.prefix], []
        for _, ids in parts[start:end]:
            ranges.append((len(row), len(row) + len(ids)))
            row.extend(ids)
        out.append(Row([*row, frame.landmark], ranges))
    return out


@dataclasses.dataclass(frozen=True)
class Index:
    """The vectors of a set: of documents, and of chunks, document after document."""

    ids: list[str]
    documents: Tensor
    chunks: Tensor
    ranges: list[Range]
    owner: numpy.ndarray
    """The number of each chunk's document."""


def index(encoder: Encoder, rows: Sequence[dict], every: int, titles: bool) -> Index:
    """Encodes the documents of a set in chunks of so many tokens."""
    documents, chunks, ranges, owner = [], [], [], []
    for number, row in enumerate(rows):
        text = f"{row['title']}\n{row['text']}" if titles and row.get("title") else row["text"]
        found, raw = encoder.document(text, every)
        documents.append(raw.mean(dim=0).cpu())
        chunks.append(raw.cpu())
        ranges += found
        owner += [number] * len(found)
    ids = [row["_id"] for row in rows]
    return Index(ids, unit(torch.stack(documents)), unit(torch.cat(chunks)), ranges, numpy.array(owner))


def evaluate(
    source: Path, sets: Sequence[Path], mode: str, every: int, queries: int, titles: bool, precision: str
) -> None:
    """Prints a row for each set: document nDCG@10 by its vector, by the best chunk and by both, and chunk hits."""
    encoder = open_encoder(source, mode)
    largest = encoder.spec.frame(encoder.tokenizer).room - 1
    if not 1 <= every <= largest:
        raise ValueError(f"chunks of {every} tokens, want 1 to {largest}")
    print(f"| set | chunks | {' | '.join(COLUMNS)} |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for folder in sets:
        with torch.no_grad(), autocast(device_of(encoder.model), precision):
            made = index(encoder, beir.corpus(folder), every, titles)
            values = measure(encoder, made, sample(beir.queries(folder), queries))
        cells = ["-" if numpy.isnan(value) else f"{value:.3f}" for value in values]
        print(f"| {folder.name} | {len(made.ranges)} | {' | '.join(cells)} |", flush=True)


def open_encoder(source: Path, mode: str) -> Encoder:
    model, tokenizer = checkpoint.load(source), Tokenizer(source / "tokenizer.json")
    return Encoder(model.to(best_device()), tokenizer, Spec.of(source.name, tokenizer, model.config), mode)


def measure(encoder: Encoder, made: Index, queries: Sequence[Query]) -> numpy.ndarray:
    """The mean of each column over those queries that have a graded document; no hits in a set without spans."""
    asked = [query for query in queries if query.gains]
    vectors = encoder.query([query.text for query in asked])
    by_document = (vectors @ made.documents.T).float().numpy()
    by_chunk = (vectors @ made.chunks.T).float().numpy()
    starts = numpy.searchsorted(made.owner, numpy.arange(len(made.ids)))
    best = numpy.maximum.reduceat(by_chunk, starts, axis=1)
    both = (by_chunk + by_document[:, made.owner]) / 2
    rows = []
    for i, query in enumerate(asked):
        ranked = [ndcg(query, made, scores[i]) for scores in (by_document, best, (best + by_document) / 2)]
        rows.append([*ranked, *hits(query, made, by_chunk[i]), *hits(query, made, both[i])])
    means = numpy.array(rows).mean(axis=0)
    if not any(query.spans for query in asked):
        means[3:] = numpy.nan
    return means


def ndcg(query: Query, made: Index, scores: numpy.ndarray) -> float:
    """nDCG@10 with linear gains."""
    found = [query.gains.get(made.ids[i], 0.0) for i in _first(scores, 10)]
    return _gain(found) / (_gain(sorted(query.gains.values(), reverse=True)[:10]) or 1.0)


def hits(query: Query, made: Index, scores: numpy.ndarray) -> tuple[float, float]:
    """Whether the best chunk, and one of the five best, overlaps a gold span of the query."""
    right = []
    for i in _first(scores, 5):
        start, end = made.ranges[i]
        spans_here = query.spans.get(made.ids[made.owner[i]], ())
        right.append(any(start < last and first < end for first, last in spans_here))
    return float(right[0]), float(any(right))


def _first(scores: numpy.ndarray, count: int) -> numpy.ndarray:
    return numpy.argsort(-scores, kind="stable")[:count]


def _gain(gains: Sequence[float]) -> float:
    return sum(gain / numpy.log2(place + 2) for place, gain in enumerate(gains))
