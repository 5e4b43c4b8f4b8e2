"""An optional stage before stage 1: a window is rebuilt from the mean of its landmarks' states, after RetroMAE.

The encoder reads a masked window and names the masked tokens. A decoder of one layer names tokens with what the
landmarks hold, by the enhanced decoding of RetroMAE (arXiv 2205.12035): the query of a position is the landmarks' mean
and the position's embedding, and it sees that mean and a random part of the other tokens, so that all tokens of a
window can teach. Scores over the vocabulary, the dear part, are computed for tokens that have to be named alone. Head
and decoder start afresh and end with the stage.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy
import torch
from numpy.random import Generator
from torch import Tensor, nn
from torch.nn import functional

from . import draw, settings
from .batches import Group, groups
from .bert import Bert, BertConfig
from .distil import MEASURED
from .draw import Chunk, Sampler
from .packed import Packed
from .students import Parts
from .tokens import Tokenizer
from .vectors import at_landmarks, device_of, to_device

GROUP = 4096  # tokens of one call, with their padding: scores over the vocabulary take memory


class Decoder(nn.Module):
    """A layer that reads other states than its own."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width, inner, eps = config.hidden_size, config.intermediate_size, config.layer_norm_eps
        self.query_norm = nn.LayerNorm(width, eps=eps)
        self.attention = nn.MultiheadAttention(width, config.num_attention_heads, batch_first=True)
        self.attention_norm = nn.LayerNorm(width, eps=eps)
        self.feed = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))
        self.output_norm = nn.LayerNorm(width, eps=eps)

    def forward(self, queries: Tensor, read: Tensor, seen: Tensor) -> Tensor:
        """seen says which of the states that are read each query sees, [batch, queries, read]."""
        queries = self.query_norm(queries)
        hidden = ~seen.repeat_interleave(self.attention.num_heads, dim=0)
        found, _ = self.attention(queries, read, read, attn_mask=hidden, need_weights=False)
        states = self.attention_norm(queries + found)
        return self.output_norm(states + self.feed(states))


class Extra(nn.Module):
    """What the stage trains beside the encoder: the decoder, and the head of both, tied to the word embeddings."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.decoder = Decoder(config)
        self.transform = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width, eps=config.layer_norm_eps)
        )
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def scores(self, states: Tensor, words: Tensor) -> Tensor:
        """The scores of all words, [states, vocabulary]."""
        return functional.linear(self.transform(states), words, self.bias)


class Reconstruction:
    """The objective of the stage."""

    def __init__(self, packed: Packed, config: settings.Settings, parts: Parts) -> None:
        check(config.retromae)
        self.packed = packed
        self.settings = config.retromae
        self.seed = config.seed
        self.frame = parts.passage
        self.mask = Tokenizer(parts.tokenizer).special("[MASK]")
        # Parts of texts come whole, to be cut here.
        self.uncut = dataclasses.replace(config.distil, sizes=(self.frame.room,), natural=0.0)
        self.sampler = Sampler(packed, config.mix.weights())
        held = Sampler(packed, config.mix.weights(), held=True)
        self.held = self._windows(held, self.settings.measured, self._held_rng())
        torch.manual_seed(config.seed)
        self.extra = Extra(parts.student.config).to(device_of(parts.student))

    def loss(self, model: Bert, rng: Generator, progress: float) -> tuple[Tensor, dict[str, float], int]:
        windows = self._windows(self.sampler, self.settings.tokens, rng)
        terms, tokens = self._terms(model, windows, rng)
        return sum(terms.values()), {name: term.item() for name, term in terms.items()}, tokens

    def measure(self, model: Bert) -> dict[str, float]:
        """The loss of encoder and decoder; the same tokens are masked each time."""
        terms, _ = self._terms(model, self.held, self._held_rng())
        return {name: term.item() for name, term in terms.items()}

    def _held_rng(self) -> Generator:
        return numpy.random.default_rng([self.seed, MEASURED])

    def _windows(self, sampler: Sampler, tokens: int, rng: Generator) -> list[list[Chunk]]:
        room = self.frame.room
        out = []
        for parts in draw.windows(sampler, self.uncut, tokens, room, rng):
            natural = rng.random() < self.settings.natural
            chunks = [c for part in parts for c in varied(self.packed, part, self.settings.sizes, natural, rng)]
            out.append(draw.fit(chunks, room))
        return out

    def _terms(self, model: Bert, windows: Sequence[Sequence[Chunk]], rng: Generator) -> tuple[dict[str, Tensor], int]:
        """The mean losses of the tokens to name, and how many tokens were read."""
        rows = draw.rows(self.packed, windows, self.frame)
        losses = [self._losses(model, made, rng) for _, made in groups(rows, self.frame.pad, GROUP)]
        encoder, decoder = (torch.cat(parts).mean() for parts in zip(*losses))
        return {"encoder": encoder, "decoder": decoder}, sum(len(row.ids) for row in rows)

    def _losses(self, model: Bert, made: Group, rng: Generator) -> tuple[Tensor, Tensor]:
        """The losses of the tokens that the encoder, and the decoder, has to name."""
        device = device_of(model)
        ids = to_device(made.ids, device)
        masked = some(made, self.settings.masked, rng)
        states = model(to_device(numpy.where(masked, self.mask, made.ids), device), to_device(made.mask, device))
        vectors = landmark_means(states, made)[:, None]
        queries = vectors + model.embeddings.positions.weight[: ids.shape[1]]
        read = torch.cat([vectors, model.embeddings(ids)[:, 1:]], dim=1)
        seen = to_device(visible(made.mask, self.settings.hidden, rng), device)
        rebuilt = self.extra.decoder(queries, read, seen)
        named = some(made, self.settings.predicted, rng)
        return self._named(model, states, ids, masked), self._named(model, rebuilt, ids, named)

    def _named(self, model: Bert, states: Tensor, ids: Tensor, where: numpy.ndarray) -> Tensor:
        """The cross-entropy of the tokens that have to be named, one by one."""
        chosen = to_device(where, ids.device)
        scores = self.extra.scores(states[chosen], model.embeddings.words.weight)
        return functional.cross_entropy(scores.float(), ids[chosen], reduction="none")


def check(stage: settings.RetroMAE) -> None:
    """Refuses settings that leave nothing to learn."""
    for name in ("masked", "predicted"):
        if not 0 < getattr(stage, name) <= 1:
            raise ValueError(f"{name} is {getattr(stage, name)}, want a share above 0, up to 1")
    if not 0 <= stage.hidden <= 1:
        raise ValueError(f"hidden is {stage.hidden}, want a share from 0 to 1")
    if not stage.sizes or min(stage.sizes) < 1:
        raise ValueError(f"sizes are {list(stage.sizes)}, want chunks of at least one token")


def varied(packed: Packed, part: Chunk, sizes: Sequence[int], natural: bool, rng: Generator) -> list[Chunk]:
    """Cuts a part of a text into chunks, each of a size of its own."""
    out: list[Chunk] = []
    while part.first < part.end:
        out.append(draw.cut(packed, part, int(rng.choice(sizes)), natural)[0])
        part = part._replace(first=out[-1].end)
    return out


def some(made: Group, share: float, rng: Generator) -> numpy.ndarray:
    """A random share of the chunks' own tokens: no landmark, prefix or [CLS]."""
    return (made.segments < made.chunks) & (rng.random(made.segments.shape) < share)


def visible(mask: numpy.ndarray, hidden: float, rng: Generator) -> numpy.ndarray:
    """Which positions each sees, [rows, length, length]: the first, where the vector stands, and some others."""
    rows, length = mask.shape
    seen = rng.random((rows, length, length), dtype=numpy.float32) >= hidden
    seen &= (mask[:, None, :] > 0) & ~numpy.eye(length, dtype=bool)
    seen[:, :, 0] = True
    return seen


def landmark_means(states: Tensor, made: Group) -> Tensor:
    """The mean of each row's landmark states, [rows, width]."""
    counts = numpy.bincount(made.landmarks // made.ids.shape[1]).tolist()
    return torch.stack([part.mean(dim=0) for part in at_landmarks(states, made).split(counts)])
