"""A model made over, with fewer layers or with rotary positions, learns to give what it gave before.

It is told the states of all tokens in the layers that it has kept, and the landmarks: much
more than landmarks alone, so it learns from little text.
"""

from __future__ import annotations

import copy
import dataclasses

import numpy
import torch
from numpy.random import Generator
from torch import Tensor

from . import draw, losses
from .batches import Group, by_length, group, landmark_row
from .bert import Bert
from .distil import MEASURED
from .draw import Chunk, Sampler
from .packed import Packed
from .settings import Settings
from .students import Parts, pruned
from .vectors import GROUP, all_states, at_landmarks, unit


def made_over(model: Bert, layers: tuple[int, ...], theta: float) -> Bert:
    """A copy with the layers named, all if none is, and with rotary positions if theta is above 0."""
    out = pruned(copy.deepcopy(model), layers)
    if theta:
        turned = Bert(dataclasses.replace(out.config, position_embedding_type="rotary", rope_theta=theta))
        turned.load_state_dict(out.state_dict())
        out = turned
    return out.requires_grad_(True).eval()


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
        self.held = self._groups(self._windows(held, settings.distil.measured, rng))

    def loss(self, model: Bert, rng: Generator, progress: float) -> tuple[Tensor, dict[str, float], int]:
        s = self.settings.imitate
        inner, outer, tokens = [], [], 0
        for made in self._groups(self._windows(self.sampler, s.tokens, rng)):
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
        got = unit(torch.cat([at_landmarks(all_states(model, made)[-1], made) for made in self.held]))
        want = unit(torch.cat([at_landmarks(all_states(self.parts.teacher, made)[-1], made) for made in self.held]))
        own = torch.arange(len(want), device=want.device)
        return {
            "cosine": (got * want).sum(dim=1).mean().item(),
            "own first": ((got @ want.T).argmax(dim=1) == own).float().mean().item(),
        }

    def _windows(self, sampler: Sampler, tokens: int, rng: Generator) -> list[list[Chunk]]:
        return draw.windows(sampler, self.settings.distil, tokens, self.parts.passage.room, rng)

    def _groups(self, windows: list[list[Chunk]]) -> list[Group]:
        frame = self.parts.passage
        rows = [landmark_row(draw.lay(self.packed, chunks, frame), frame) for chunks in windows]
        return [group([rows[i] for i in some], frame.pad) for some in by_length([len(r.ids) for r in rows], GROUP)]


def distance(got: Tensor, want: Tensor, made: Group) -> Tensor:
    """How far tokens' states are from those wanted, as a share of these states' own spread."""
    real = torch.from_numpy(made.mask).bool().to(want.device)
    got, want = got[real].float(), want[real].float()
    return (got - want).square().mean() / want.var(dim=0).mean()
