"""A model made over, with fewer layers or with rotary positions, learns to give what it gave before.

It is told the states of all tokens in the layers that it has kept, and the landmarks: much
more than landmarks alone, so it learns from little text.
"""

from __future__ import annotations

import dataclasses

import numpy
import torch
from numpy.random import Generator
from torch import Tensor

from . import draw, losses
from .batches import Group, groups
from .bert import Bert
from .distil import MEASURED, agreement
from .draw import Chunk, Sampler
from .packed import Packed
from .settings import Settings
from .students import Parts
from .vectors import GROUP, all_states, at_landmarks, device_of, to_device, unit, window_vectors


def turned(parts: Parts, settings: Settings) -> Parts:
    """The parts with rotary positions in the student, if the settings have a theta for them."""
    if not settings.imitate.theta:
        return parts
    student = rotary(parts.student, settings.imitate.theta).to(device_of(parts.student))
    return dataclasses.replace(parts, student=student)


def rotary(model: Bert, theta: float) -> Bert:
    """A model with the same weights and rotary positions."""
    out = Bert(dataclasses.replace(model.config, position_embedding_type="rotary", rope_theta=theta))
    out.load_state_dict(model.state_dict())
    return out.eval()


class Imitation:
    """The objective of a model made over; the teacher is the model as it was."""

    def __init__(self, packed: Packed, settings: Settings, parts: Parts) -> None:
        self.packed = packed
        self.settings = settings
        self.parts = parts
        kept = settings.layers or range(len(parts.teacher.layers))
        self.kept = [layer + 1 for layer in kept]  # the first states are the embeddings
        self.sampler = Sampler(packed, settings.mix.weights())
        rng = numpy.random.default_rng([settings.seed, MEASURED])
        held = Sampler(packed, settings.mix.weights(), held=True)
        self.held = self._windows(held, settings.distil.measured, rng)
        laid = [draw.lay(packed, chunks, parts.passage) for chunks in self.held]
        with torch.no_grad():
            self.held_want = unit(torch.cat(window_vectors(parts.teacher, laid, parts.passage)))

    def loss(self, model: Bert, rng: Generator, progress: float) -> tuple[Tensor, dict[str, float], int]:
        s = self.settings.imitate
        inner, outer, tokens = [], [], 0
        rows = draw.rows(self.packed, self._windows(self.sampler, s.tokens, rng), self.parts.passage)
        for _, made in groups(rows, self.parts.passage.pad, GROUP):
            with torch.no_grad():
                want = all_states(self.parts.teacher, made)
            got = all_states(model, made)
            share = int(made.mask.sum())
            apart = [distance(states, want[kept], made) for states, kept in zip(got[1:], self.kept)]
            inner.append(share * torch.stack(apart).mean())
            outer.append(share * losses.cosine(at_landmarks(got[-1], made), at_landmarks(want[-1], made)))
            tokens += share
        terms = {"states": s.states * sum(inner) / tokens, "landmarks": s.landmarks * sum(outer) / tokens}
        return sum(terms.values()), {name: term.item() for name, term in terms.items()}, tokens

    def measure(self, model: Bert) -> dict[str, float]:
        """How near the landmarks are to what they were, and how often the own one is the nearest."""
        return agreement(self.packed, model, self.held, self.held_want, self.parts.passage)

    def _windows(self, sampler: Sampler, tokens: int, rng: Generator) -> list[list[Chunk]]:
        return draw.windows(sampler, self.settings.distil, tokens, self.parts.passage.room, rng)


def distance(got: Tensor, want: Tensor, made: Group) -> Tensor:
    """How far tokens' states are from those wanted, as a share of these states' own spread."""
    real = to_device(made.mask, want.device).bool()
    got, want = got[real].float(), want[real].float()
    return (got - want).square().mean() / want.var(dim=0).mean()
