"""Windows gathered into padded groups, each token marked with the chunk it belongs to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy

from .layout import Frame, Window


@dataclasses.dataclass(frozen=True)
class Group:
    """Rows of about one length. Their chunks are numbered from 0, row after row."""

    ids: numpy.ndarray
    """[rows, length], filled up with the padding's id."""
    mask: numpy.ndarray
    """1 for tokens and 0 for padding."""
    segments: numpy.ndarray
    """The chunk that a token is part of; the number of chunks at all other positions."""
    landmarks: numpy.ndarray
    """Where the chunks' landmarks stand in the flattened rows; empty without landmarks."""
    chunks: int
    """How many chunks there are."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A sequence with its chunks' tokens, [start, end), and landmarks if it has any."""

    ids: Sequence[int]
    parts: Sequence[tuple[int, int]]
    landmarks: Sequence[int] = ()


def landmark_row(window: Window, frame: Frame) -> Row:
    """A window as a row: a chunk's part ends at its landmark."""
    starts = [1 + len(frame.prefix), *(at + 1 for at in window.landmarks[:-1])]
    return Row(window.ids, list(zip(starts, window.landmarks)), window.landmarks)


def group(rows: Sequence[Row], pad: int) -> Group:
    """Fills rows up to the longest."""
    shape = len(rows), max(len(row.ids) for row in rows)
    count = sum(len(row.parts) for row in rows)
    ids = numpy.full(shape, pad, dtype=numpy.int64)
    mask = numpy.zeros(shape, dtype=numpy.int64)
    segments = numpy.full(shape, count, dtype=numpy.int64)
    landmarks, chunk = [], 0
    for i, row in enumerate(rows):
        ids[i, : len(row.ids)] = row.ids
        mask[i, : len(row.ids)] = 1
        for start, end in row.parts:
            segments[i, start:end] = chunk
            chunk += 1
        landmarks.extend(i * shape[1] + at for at in row.landmarks)
    return Group(ids, mask, segments, numpy.array(landmarks, dtype=numpy.int64), count)


def groups(rows: Sequence[Row], pad: int, budget: int) -> Iterator[tuple[list[int], Group]]:
    """Rows in groups of like length, each of at most budget tokens, with the rows' numbers."""
    for numbers in by_length([len(row.ids) for row in rows], budget):
        yield numbers, group([rows[i] for i in numbers], pad)


def by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Numbers of sequences in groups of like length, each of at most budget tokens with its padding."""
    out: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if out and (lengths[i] * (len(out) + 1) > budget or lengths[i] > 1.25 * lengths[out[0]] + 8):
            yield out
            out = []
        out.append(i)
    if out:
        yield out
