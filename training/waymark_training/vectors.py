"""Vectors of many chunks at once, in torch: landmarks' states and means of tokens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from .batches import Group, Row, groups, landmark_row
from .bert import Bert
from .layout import Frame, Window

GROUP = 8192  # tokens of one call, with their padding


def device_of(model: Bert) -> torch.device:
    return model.embeddings.words.weight.device


def best_device() -> torch.device:
    """The first GPU, or else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def has_bf16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 in hardware."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return any(torch.cpu.get_capabilities().get(name) for name in ("avx512_bf16", "amx_bf16"))


@contextlib.contextmanager
def autocast(device: torch.device, precision: str) -> Iterator[None]:
    """bfloat16 for products where it is asked for: precision auto takes it where it is fast."""
    if precision not in ("auto", "bf16", "fp32"):
        raise ValueError(f"precision {precision!r}, want auto, bf16 or fp32")
    wanted = precision == "bf16" or precision == "auto" and has_bf16(device)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=wanted):
        yield


def to_device(values: numpy.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(values).to(device, non_blocking=True)


def all_states(model: Bert, made: Group) -> list[Tensor]:
    """The embeddings and each layer's states of a group."""
    device = device_of(model)
    return model.all_states(to_device(made.ids, device), to_device(made.mask, device))


def at_landmarks(states: Tensor, made: Group) -> Tensor:
    """The states of the landmarks, [chunks, width], in single precision."""
    return states.flatten(0, 1)[to_device(made.landmarks, states.device)].float()


def chunk_means(states: Tensor, made: Group) -> Tensor:
    """The mean of each chunk's own tokens, [chunks, width]; zeros for a chunk without any."""
    flat = states.flatten(0, 1).float()
    segments = to_device(made.segments, states.device).flatten()
    sums = flat.new_zeros(made.chunks + 1, flat.shape[1]).index_add(0, segments, flat)
    counts = torch.bincount(segments, minlength=made.chunks + 1).clamp(min=1)
    return (sums / counts[:, None])[: made.chunks]


def at_heads(states: Tensor, made: Group) -> Tensor:
    """The states at the first tokens of the chunks' parts, [chunks, width]."""
    segments = to_device(made.segments, states.device).flatten()
    first = torch.full((made.chunks + 1,), len(segments), device=states.device)
    first = first.scatter_reduce(0, segments, torch.arange(len(segments), device=states.device), "amin")
    return states.flatten(0, 1)[first[: made.chunks]].float()


def window_vectors(model: Bert, windows: Sequence[Window], frame: Frame) -> list[Tensor]:
    """The raw states of each window's landmarks, [landmarks, width] a window."""
    return row_vectors(model, [landmark_row(window, frame) for window in windows], frame.pad, at_landmarks)


@torch.no_grad()
def mean_vectors(model: Bert, chunks: Sequence[Sequence[int]], frame: Frame) -> Tensor:
    """Each chunk encoded alone and pooled as the base model was trained: the mean over its whole window."""
    return torch.cat(row_vectors(model, [alone(ids, frame) for ids in chunks], frame.pad, chunk_means))


def alone(ids: Sequence[int], frame: Frame) -> Row:
    """A text by itself: all of its row is one part."""
    row = [frame.cls, *frame.prefix, *ids, frame.landmark]
    return Row(row, [(0, len(row))])


def row_vectors(model: Bert, rows: Sequence[Row], pad: int, read: Callable[[Tensor, Group], Tensor]) -> list[Tensor]:
    """What read makes of the last layer's states for each row, in order."""
    out: list[Tensor] = [torch.empty(0)] * len(rows)
    for numbers, made in groups(rows, pad, GROUP):
        vectors = read(all_states(model, made)[-1], made)
        for i, part in zip(numbers, vectors.split([len(rows[i].parts) for i in numbers])):
            out[i] = part
    return out


def unit(vectors: Tensor) -> Tensor:
    return functional.normalize(vectors, dim=-1)
