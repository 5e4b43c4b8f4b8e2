"""Which ids enter the model for a text's chunks, and where their landmarks stand.

A window is `[CLS] prefix c1 [LMK] c2 [LMK] ...`. Windows are filled to the brim, or
all alike as Waymark fills them, and may overlap by whole chunks. A chunk has the tokens
that start inside its bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy

from .tokens import Token

Range = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Frame:
    """What stands around the chunks of every window."""

    cls: int
    landmark: int
    pad: int
    prefix: tuple[int, ...]
    max_length: int

    @property
    def room(self) -> int:
        """How many positions a window has for chunks and their landmarks."""
        return self.max_length - 1 - len(self.prefix)


@dataclasses.dataclass(frozen=True)
class Window:
    """One sequence: its ids, where its landmarks stand and which chunk each closes."""

    ids: list[int]
    landmarks: list[int]
    chunks: list[int]


@dataclasses.dataclass(frozen=True)
class Batch:
    """Windows side by side, short ones filled up: int64 [B, T], [B, T] and [B, N]."""

    ids: numpy.ndarray
    mask: numpy.ndarray
    positions: numpy.ndarray


def check_tiles(chunks: Sequence[Range], size: int) -> None:
    """Raises ValueError unless the chunks cover a text of size bytes, each from where the last ends."""
    at = 0
    for number, (start, end) in enumerate(chunks):
        if start != at or end < start:
            raise ValueError(f"chunk {number} covers bytes {start}-{end}, want it to start at {at}")
        at = end
    if not chunks or at != size:
        raise ValueError(f"chunks end at byte {at} of a text of {size} bytes, want them to cover it all")


def intervals(tokens: Sequence[Token], size: int, every: int) -> list[Range]:
    """Cuts a text of size bytes after every so many tokens, at the start of the next."""
    starts = [0]
    for token in tokens[every::every]:
        if token.start > starts[-1]:
            starts.append(token.start)
    return list(zip(starts, starts[1:] + [size]))


def blocks(tokens: Sequence[Token], chunks: Sequence[Range], size: int, room: int) -> list[tuple[int, list[int]]]:
    """Gives each chunk its ids: (chunk, ids), more than once for a chunk larger than room."""
    check_tiles(chunks, size)
    out, at = [], 0
    for chunk, (start, end) in enumerate(chunks):
        first = at
        while at < len(tokens) and (tokens[at].start < end or chunk == len(chunks) - 1):
            at += 1
        ids = [token.id for token in tokens[first:at]]
        if not ids and first > 0 and tokens[first - 1].end > start:
            # A chunk inside one long token repeats it, so that its landmark
            # has something to close.
            ids = [tokens[first - 1].id]
        while len(ids) > room:
            out.append((chunk, ids[:room]))
            ids = ids[room:]
        out.append((chunk, ids))
    return out


def windows(
    tokens: Sequence[Token],
    chunks: Sequence[Range],
    size: int,
    frame: Frame,
    alike: bool = False,
    overlap: int = 0,
) -> list[Window]:
    """Lays out the chunks of a text of size bytes.

    A chunk that stands in several windows has its landmark in that which gives it the most context.
    """
    if frame.room < 2:
        raise ValueError(
            f"a window of {frame.max_length} has no room for a chunk after a prefix of {len(frame.prefix)}"
        )
    parts = blocks(tokens, chunks, size, frame.room - 1)
    costs = [len(ids) + 1 for _, ids in parts]
    laid = spans(costs, even_room(costs, frame.room, overlap) if alike else frame.room, overlap)
    owned = owners(costs, laid)
    out: list[Window] = []
    for number, (start, end) in enumerate(laid):
        window = Window([frame.cls, *frame.prefix], [], [])
        for block in range(start, end):
            chunk, ids = parts[block]
            window.ids.extend([*ids, frame.landmark])
            if owned[block] == number:
                window.landmarks.append(len(window.ids) - 1)
                window.chunks.append(chunk)
        out.append(window)
    return out


def spans(costs: Sequence[int], room: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Which blocks, [start, end), share a window that is filled to the brim.

    A window begins with whole blocks of the one before, of up to overlap tokens without their landmarks.
    """
    out: list[tuple[int, int]] = []
    start = done = 0
    while done < len(costs):
        end, used = done, sum(costs[start:done])
        while end < len(costs) and used + costs[end] <= room:
            used += costs[end]
            end += 1
        if end == done:  # what it begins with leaves no room for the next block
            start += 1
            continue
        out.append((start, end))
        start, back = end, 0
        while start > out[-1][0] + 1 and back + costs[start - 1] - 1 <= overlap:
            start -= 1
            back += costs[start] - 1
        done = end
    return out


def even_room(costs: Sequence[int], room: int, overlap: int = 0) -> int:
    """The least room that takes no more windows than room does."""
    wanted, low = len(spans(costs, room, overlap)), max(costs)
    while low < room:
        middle = (low + room) // 2
        if len(spans(costs, middle, overlap)) <= wanted:
            room = middle
        else:
            low = middle + 1
    return low


def owners(costs: Sequence[int], laid: Sequence[tuple[int, int]]) -> list[int]:
    """Which window each block is read in: that whose nearer edge is farthest away, the text's ends being none."""
    before = numpy.concatenate([[0], numpy.cumsum(costs)]).tolist()
    out, best = [-1] * len(costs), [-1] * len(costs)
    for number, (start, end) in enumerate(laid):
        for block in range(start, end):
            left = before[-1] if start == 0 else before[block] - before[start]
            right = before[-1] if end == len(costs) else before[end] - before[block + 1]
            if min(left, right) > best[block]:
                out[block], best[block] = number, min(left, right)
    return out


def batch(windows: Sequence[Window], pad: int) -> Batch:
    """Fills windows up to the longest; rows with fewer landmarks point at position 0."""
    length = max(len(window.ids) for window in windows)
    count = max(len(window.landmarks) for window in windows)
    out = Batch(
        ids=numpy.full((len(windows), length), pad, dtype=numpy.int64),
        mask=numpy.zeros((len(windows), length), dtype=numpy.int64),
        positions=numpy.zeros((len(windows), count), dtype=numpy.int64),
    )
    for row, window in enumerate(windows):
        out.ids[row, : len(window.ids)] = window.ids
        out.mask[row, : len(window.ids)] = 1
        out.positions[row, : len(window.landmarks)] = window.landmarks
    return out
