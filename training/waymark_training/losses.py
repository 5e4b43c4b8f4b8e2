"""The terms of the training losses."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from .batches import Group
from .vectors import at_landmarks, chunk_means, unit


def cosine(got: Tensor, want: Tensor) -> Tensor:
    """One minus the mean cosine."""
    return 1 - functional.cosine_similarity(got, want, dim=-1).mean()


def centred(vectors: Tensor, centre: Tensor) -> Tensor:
    """Unit vectors without what all have in common: e5's crowd in a narrow cone."""
    return unit(unit(vectors) - centre)


def own_first(got: Tensor, want: Tensor, temperature: float) -> Tensor:
    """Cross-entropy of picking each vector's own target among all."""
    own = torch.arange(len(got), device=got.device)
    return functional.cross_entropy(got @ want.T / temperature, own)


def layerwise(states: Sequence[Tensor], made: Group, first: int, last: int) -> Tensor:
    """How far landmarks are, in the layers first to last, from the mean of their chunks' own tokens.

    Both are centred by the batch's mean. The tokens only teach: they get no gradient.
    """
    terms = []
    for layer in states[first : last + 1]:
        want = chunk_means(layer.detach(), made)
        centre = want.mean(dim=0)
        terms.append(cosine(at_landmarks(layer, made) - centre, want - centre))
    return torch.stack(terms).mean()


def info_nce(scores: Tensor, right: Tensor, ignored: Tensor, temperature: float) -> Tensor:
    """-log of the share of the right ones, [questions, candidates]; rows without any are left out."""
    scores = (scores / temperature).masked_fill(ignored, -torch.inf)
    rows = right.any(dim=1)
    if not rows.any():
        return scores.new_zeros(())
    scores, right = scores[rows], right[rows]
    best = torch.logsumexp(scores.masked_fill(~right, -torch.inf), dim=1)
    return (torch.logsumexp(scores, dim=1) - best).mean()


def soft_labels(scores: Tensor, teacher: Tensor, temperature: float, teacher_temperature: float) -> Tensor:
    """Divergence of the scores' distribution over candidates from the teacher's."""
    return functional.kl_div(
        functional.log_softmax(scores / temperature, dim=1),
        functional.log_softmax(teacher / teacher_temperature, dim=1),
        log_target=True,
        reduction="batchmean",
    )
