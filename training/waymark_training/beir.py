"""Reads BEIR folders and lines of JSON, gzipped or not."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Query:
    """A question with its graded documents and, where known, the gold bytes in them."""

    id: str
    text: str
    gains: dict[str, float]
    spans: dict[str, list[tuple[int, int]]]
    length: int = 0
    """The nominal length, in tokens, of the document it asks about, in sets that are made by length."""


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, or of the same file gzipped."""
    zipped = path if path.suffix == ".gz" else path.with_name(path.name + ".gz")
    opened = gzip.open(zipped, "rt", encoding="utf-8") if zipped.is_file() else path.open(encoding="utf-8")
    with opened as file:
        for line in file:
            yield json.loads(line)


def corpus(folder: Path) -> list[dict[str, Any]]:
    """The documents of a set: _id, title and text."""
    return list(lines(folder / "corpus.jsonl"))


def queries(folder: Path) -> list[Query]:
    """All questions of a set, in the file's order, those without a graded document too."""
    out = {}
    for row in lines(folder / "queries.jsonl"):
        length = (row.get("metadata") or {}).get("tokens", 0)
        out[row["_id"]] = Query(row["_id"], row["text"], {}, {}, length)
    for query, document, gain in _table(folder / "qrels" / "test.tsv"):
        if query in out:
            out[query].gains[document] = float(gain)
    if (folder / "qrels" / "spans.tsv").is_file():
        for query, document, _, _, start, end in _table(folder / "qrels" / "spans.tsv"):
            if query in out:
                out[query].spans.setdefault(document, []).append((int(start), int(end)))
    return list(out.values())


def _table(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as file:
        next(file, None)
        for line in file:
            yield line.rstrip("\n").split("\t")
