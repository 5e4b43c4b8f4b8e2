"""Measures a checkpoint on BEIR sets, as waymark eval measures an export."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy
import torch
from torch import Tensor

from . import beir
from .beir import Query
from .layout import Range
from .metrics import hits, ndcg
from .pooling import Encoder, open_encoder
from .sample import sample
from .vectors import autocast, best_device, unit

COLUMNS = ("doc", "max", "mix", "hit@1", "hit@5", "mix hit@1", "mix hit@5")
BLOCK = 64  # documents whose windows are encoded together


@dataclasses.dataclass(frozen=True)
class Options:
    """How sets are measured."""

    mode: str = "landmark"
    tokens: int = 128
    """Of a chunk."""
    queries: int = 0
    """A sample of so many, 0 for all."""
    titles: str = "auto"
    """Titles before texts: yes, no, or auto for sets without spans, as BEIR has them."""
    precision: str = "auto"
    window: int = 0
    overlap: int = 0
    weigh: bool = False
    """A document's vector is the mean of its chunks' weighed by their bytes, else each counts the same."""
    centre: bool = False
    """Vectors lose the mean of the set's before they are scaled."""
    longest: int = 0
    """Of sets with nominal lengths, only documents of up to so many tokens; 0 for all."""
    graph: Path | None = None
    """An export of the checkpoint to run in its place."""
    rows: Path | None = None
    """A file to add a line of JSON to for each question."""


@dataclasses.dataclass(frozen=True)
class Index:
    """The vectors of a set: of documents, and of chunks, document after document."""

    ids: list[str]
    documents: Tensor
    chunks: Tensor
    ranges: list[Range]
    owner: numpy.ndarray
    """The number of each chunk's document."""

    def part(self, keep: Sequence[str]) -> Index:
        """The index of some of the documents."""
        wanted = set(keep)
        numbers = [i for i, name in enumerate(self.ids) if name in wanted]
        chunks = numpy.flatnonzero(numpy.isin(self.owner, numbers))
        return Index(
            [self.ids[i] for i in numbers],
            self.documents[numbers],
            self.chunks[chunks],
            [self.ranges[i] for i in chunks],
            numpy.searchsorted(numbers, self.owner[chunks]),
        )


def evaluate(source: Path, sets: Sequence[Path], options: Options) -> None:
    """Prints a row for each set: document nDCG@10 by its vector, by the best chunk and by both, and chunk hits.

    A set whose questions name a nominal length has a row for each, over the documents of that length alone.
    """
    encoder = open_encoder(source, options.mode, options.window, options.overlap, options.graph)
    if options.rows and (options.weigh or options.centre or options.tokens != Options.tokens):
        raise ValueError("lines for the report do not say how chunks were cut and pooled: leave those options out")
    largest = encoder.spec.frame(encoder.tokenizer).room - 1
    if not 1 <= options.tokens <= largest:
        raise ValueError(f"chunks of {options.tokens} tokens, want 1 to {largest}")
    print(f"| set | chunks | {' | '.join(COLUMNS)} |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for folder in sets:
        queries = [query for query in sample(beir.queries(folder), options.queries) if query.gains]
        if options.longest:
            queries = [query for query in queries if query.length <= options.longest]
        with torch.no_grad(), autocast(best_device(), options.precision):
            made = index(encoder, documents(folder, queries, options), options)
            vectors = encoder.queries([query.text for query in queries])
        for length in sorted({query.length for query in queries}):
            numbers = [i for i, query in enumerate(queries) if query.length == length]
            mine = [queries[i] for i in numbers]
            found = made.part([name for query in mine for name in query.gains]) if length else made
            values = measure(found, mine, vectors[numbers])
            _print(f"{folder.name} {length}" if length else folder.name, len(found.ranges), values)
            if options.rows:
                _write(
                    options.rows,
                    f"{source.name} in {options.graph.stem}" if options.graph else source.name,
                    options,
                    folder.name,
                    found,
                    mine,
                    values,
                )


def documents(folder: Path, queries: Sequence[Query], options: Options) -> dict[str, str]:
    """The texts of a set; of a set with nominal lengths, those that the questions are about."""
    rows = beir.corpus(folder)
    if any(query.length for query in queries):
        wanted = {name for query in queries for name in query.gains}
        rows = [row for row in rows if row["_id"] in wanted]
    titles = options.titles == "yes" or options.titles == "auto" and not any(query.spans for query in queries)
    return {
        row["_id"]: f"{row['title']}\n{row['text']}" if titles and row.get("title") else row["text"] for row in rows
    }


def index(encoder: Encoder, texts: dict[str, str], options: Options) -> Index:
    """Encodes the documents of a set."""
    ranges, vectors = [], []
    names = sorted(texts, key=lambda name: len(texts[name]))
    for start in range(0, len(names), BLOCK):
        block = encoder.documents([texts[name] for name in names[start : start + BLOCK]], options.tokens)
        ranges += block[0]
        vectors += block[1]
    place = {name: i for i, name in enumerate(names)}
    order = [place[name] for name in texts]
    return Index(
        list(texts),
        scaled(torch.stack([pooled(vectors[i], ranges[i], options.weigh) for i in order]), options.centre),
        scaled(torch.cat([vectors[i] for i in order]), options.centre),
        [chunk for i in order for chunk in ranges[i]],
        numpy.repeat(numpy.arange(len(order)), [len(ranges[i]) for i in order]),
    )


def pooled(vectors: Tensor, chunks: Sequence[Range], weigh: bool) -> Tensor:
    """A document's vector."""
    if not weigh:
        return vectors.mean(dim=0)
    sizes = torch.tensor([end - start for start, end in chunks], dtype=vectors.dtype)
    return (vectors * sizes[:, None]).sum(dim=0) / sizes.sum().clamp(min=1)


def scaled(vectors: Tensor, centre: bool) -> Tensor:
    """Unit vectors."""
    vectors = unit(vectors)
    return unit(vectors - vectors.mean(dim=0)) if centre else vectors


def measure(made: Index, queries: Sequence[Query], vectors: Tensor) -> numpy.ndarray:
    """The columns for each question, [questions, columns]; no hits in a set without spans."""
    by_document = (vectors @ made.documents.T).float().numpy()
    by_chunk = (vectors @ made.chunks.T).float().numpy()
    starts = numpy.searchsorted(made.owner, numpy.arange(len(made.ids)))
    best = numpy.maximum.reduceat(by_chunk, starts, axis=1)
    both = (by_chunk + by_document[:, made.owner]) / 2
    rows = []
    for i, query in enumerate(queries):
        ranked = [ndcg(query, made.ids, scores[i]) for scores in (by_document, best, (best + by_document) / 2)]
        chunks = [hits(query, made.ids, made.ranges, made.owner, scores[i]) for scores in (by_chunk, both)]
        rows.append([*ranked, *chunks[0], *chunks[1]])
    values = numpy.array(rows)
    if not any(query.spans for query in queries):
        values[:, 3:] = numpy.nan
    return values


def _print(name: str, chunks: int, values: numpy.ndarray) -> None:
    cells = ["-" if numpy.isnan(value) else f"{value:.3f}" for value in values.mean(axis=0)]
    print(f"| {name} | {chunks} | {' | '.join(cells)} |", flush=True)


def _write(
    file: Path, model: str, options: Options, name: str, made: Index, queries: Sequence[Query], values: numpy.ndarray
) -> None:
    """Adds the questions' lines: where the answer stands and how it was found."""
    place = {document: i for i, document in enumerate(made.ids)}
    last = numpy.append(numpy.flatnonzero(numpy.diff(made.owner)), len(made.owner) - 1)
    setting = {"model": model, "mode": options.mode, "window": options.window, "overlap": options.overlap, "set": name}
    with file.open("a", encoding="utf-8") as out:
        for query, row in zip(queries, values):
            document = max(query.gains, key=lambda one: query.gains[one])
            line = setting | {"query": query.id, "nominal": query.length}
            if document in place:
                line["bytes"] = made.ranges[last[place[document]]][1]
            if query.spans:
                line["start"] = min(start for start, _ in next(iter(query.spans.values())))
            scores = {k: round(float(v), 5) for k, v in zip(COLUMNS, row) if not numpy.isnan(v)}
            out.write(json.dumps(line | scores) + "\n")
