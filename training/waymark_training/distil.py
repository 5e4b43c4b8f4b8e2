"""Stage 1: the landmark of a chunk learns the vector that the teacher gives the chunk alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import torch
from numpy.random import Generator
from torch import Tensor

from . import draw, losses
from .batches import groups
from .bert import Bert
from .draw import Chunk, Sampler
from .layout import Frame
from .packed import Packed
from .settings import Settings
from .students import Parts
from .vectors import GROUP, all_states, at_landmarks, mean_vectors, unit, window_vectors

CENTRE, MEASURED = 1 << 40, 1 << 41  # in the place of a step's number, what these draw with
CENTRE_TOKENS = 10_000


class Distillation:
    """The objective of stage 1."""

    def __init__(self, packed: Packed, settings: Settings, parts: Parts) -> None:
        self.packed = packed
        self.settings = settings.distil
        self.parts = parts
        self.sampler = Sampler(packed, settings.mix.weights())
        rng = numpy.random.default_rng([settings.seed, CENTRE])
        chunks = [c for w in self._windows(self.sampler, CENTRE_TOKENS, rng) for c in w]
        self.centre = self._teacher(chunks, parts.passage).mean(dim=0)
        questions = self._questions(self.sampler, 500, rng)
        self.query_centre = self._teacher(questions, parts.query).mean(dim=0)
        rng = numpy.random.default_rng([settings.seed, MEASURED])
        held = Sampler(packed, settings.mix.weights(), held=True)
        self.held = self._windows(held, self.settings.measured, rng)
        self.held_want = self._teacher([c for w in self.held for c in w], parts.passage)
        self.held_questions = self._questions(held, 100, rng)
        self.held_questions_want = self._teacher(self.held_questions, parts.query)

    def loss(self, model: Bert, rng: Generator, progress: float) -> tuple[Tensor, dict[str, float], int]:
        s = self.settings
        windows = self._windows(self.sampler, s.tokens, rng)
        chunks, got, layerwise, tokens = self._student(model, windows, self.parts.passage)
        want = self._teacher(chunks, self.parts.passage)
        terms = {
            "cosine": s.cosine * losses.cosine(got, want),
            "centred": s.centred * losses.cosine(unit(got) - self.centre, want - self.centre),
            "contrast": s.contrast
            * losses.own_first(losses.centred(got, self.centre), losses.centred(want, self.centre), s.temperature),
            "layerwise": (s.layerwise[0] + (s.layerwise[1] - s.layerwise[0]) * progress) * layerwise,
        }
        if s.queries:
            questions = self._questions(self.sampler, s.queries, rng)
            questions, asked, _, more = self._student(model, [[q] for q in questions], self.parts.query)
            want = self._teacher(questions, self.parts.query)
            terms["queries"] = s.cosine * losses.cosine(asked, want)
            terms["queries"] += s.centred * losses.cosine(unit(asked) - self.query_centre, want - self.query_centre)
            tokens += more
        return sum(terms.values()), {name: term.item() for name, term in terms.items()}, tokens

    def measure(self, model: Bert) -> dict[str, float]:
        return agreement(self.packed, model, self.held, self.held_want, self.parts.passage) | {
            "query cosine": agreement(
                self.packed, model, [[q] for q in self.held_questions], self.held_questions_want, self.parts.query
            )["cosine"]
        }

    def _windows(self, sampler: Sampler, tokens: int, rng: Generator) -> list[list[Chunk]]:
        return draw.windows(sampler, self.settings, tokens, self.parts.passage.room, rng)

    def _questions(self, sampler: Sampler, count: int, rng: Generator) -> list[Chunk]:
        return [question_chunk(self.packed, sampler.question(rng), self.parts.query) for _ in range(count)]

    def _teacher(self, chunks: Sequence[Chunk], frame: Frame) -> Tensor:
        return unit(mean_vectors(self.parts.teacher, [draw.ids(self.packed, c) for c in chunks], frame))

    def _student(
        self, model: Bert, windows: Sequence[Sequence[Chunk]], frame: Frame
    ) -> tuple[list[Chunk], Tensor, Tensor, int]:
        """The windows' chunks in the order of their landmarks' vectors, the layer-wise term, the tokens read."""
        rows = draw.rows(self.packed, windows, frame)
        out, vectors, terms, counts = [], [], [], []
        for numbers, made in groups(rows, frame.pad, GROUP):
            states = all_states(model, made)
            vectors.append(at_landmarks(states[-1], made))
            terms.append(losses.layerwise(states, made, *self.settings.layers))
            counts.append(made.chunks)
            out.extend(chunk for i in numbers for chunk in windows[i])
        shares = torch.tensor(counts, device=terms[0].device) / sum(counts)
        return out, torch.cat(vectors), (torch.stack(terms) * shares).sum(), sum(len(row.ids) for row in rows)


def question_chunk(packed: Packed, question: int, frame: Frame) -> Chunk:
    """A question as one chunk, cut to a window."""
    return Chunk(question, 0, min(packed.length(question), frame.room - 1))


def agreement(
    packed: Packed, model: Bert, windows: Sequence[Sequence[Chunk]], want: Tensor, frame: Frame
) -> dict[str, float]:
    """How landmarks compare with the vectors wanted."""
    got = unit(torch.cat(window_vectors(model, [draw.lay(packed, chunks, frame) for chunks in windows], frame)))
    return compared(got, want)


def compared(got: Tensor, want: Tensor) -> dict[str, float]:
    """How near unit vectors are to those wanted, and how often the own one is the nearest of all."""
    nearest = (got @ want.T).argmax(dim=1)
    own = torch.arange(len(want), device=nearest.device)
    return {
        "cosine": (got * want).sum(dim=1).mean().item(),
        "own first": (nearest == own).float().mean().item(),
    }
