"""Retrieval measures of one question: nDCG@10 of documents, hits of chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from .beir import Query
from .layout import Range


def ndcg(query: Query, ids: Sequence[str], scores: numpy.ndarray) -> float:
    """nDCG@10 with linear gains."""
    found = [query.gains.get(ids[i], 0.0) for i in first(scores, 10)]
    return _gain(found) / (_gain(sorted(query.gains.values(), reverse=True)[:10]) or 1.0)


def hits(
    query: Query, ids: Sequence[str], ranges: Sequence[Range], owner: numpy.ndarray, scores: numpy.ndarray
) -> tuple[float, float]:
    """Whether the best chunk, and one of the five best, overlaps a gold span of the query.

    owner is the number of each chunk's document.
    """
    right = []
    for i in first(scores, 5):
        start, end = ranges[i]
        spans = query.spans.get(ids[owner[i]], ())
        right.append(any(start < stop and begin < end for begin, stop in spans))
    return float(right[0]), float(any(right))


def first(scores: numpy.ndarray, count: int) -> numpy.ndarray:
    """The numbers of the highest scores, the highest first; ties stay in order."""
    if len(scores) > 4 * count:
        best = numpy.flatnonzero(scores >= numpy.partition(scores, -count)[-count])
        return best[numpy.argsort(-scores[best], kind="stable")[:count]]
    return numpy.argsort(-scores, kind="stable")[:count]


def _gain(gains: Sequence[float]) -> float:
    return sum(gain / numpy.log2(place + 2) for place, gain in enumerate(gains))
