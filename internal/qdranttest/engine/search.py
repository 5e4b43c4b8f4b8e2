"""Queries on one shard: what the engine takes as it is, and point ids in the
place of vectors and groups, which it does not know."""
import qdrant_edge as e
from qdrant_client.http import models as m

from convert import (as_list, expression, filter_, order_by, payload_selector, search_params, valid_id, vector,
                     without)
from errors import INVALID, NOT_FOUND, UNIMPLEMENTED, Err


def filters(r):
    """All filters of a query, at every level."""
    yield r.filter
    for x in as_list(r.prefetch):
        yield from filters(x)


def points(shard, r):
    exclude = []
    query = scoring(shard, r.query, r.using, exclude)
    if isinstance(r.query, (m.FusionQuery, m.RrfQuery)) and not r.prefetch:
        raise Err(INVALID, "Wrong input: Validation failed: cannot apply Fusion without prefetches")
    if r.prefetch and r.query is None:
        raise Err(INVALID, "Bad request: A query is needed to merge the prefetches. "
                           "Can't have prefetches without defining a query.")
    return shard.query(e.QueryRequest(
        limit=10 if r.limit is None else r.limit, offset=r.offset or 0, query=query,
        prefetches=[prefetch(shard, x) for x in as_list(r.prefetch)] or None,
        with_vector=r.with_vector or False, with_payload=payload_selector(r.with_payload or False),
        filter=filter_(without(r.filter, exclude)), score_threshold=r.score_threshold, params=search_params(r.params)))


def prefetch(shard, x):
    exclude = []
    query = scoring(shard, x.query, x.using, exclude)
    return e.Prefetch(limit=10 if x.limit is None else x.limit, query=query,
                      prefetches=[prefetch(shard, y) for y in as_list(x.prefetch)] or None,
                      params=search_params(x.params), filter=filter_(without(x.filter, exclude)),
                      score_threshold=x.score_threshold)


def groups(shard, r, group_by, limit, size):
    """Groups by ranking every point, then filling groups in rank order. A point with several
    values belongs to several groups, met in the order of its values."""
    want = r.with_payload
    r = r.model_copy(update={"limit": max(shard.count(e.CountRequest()), 1), "with_payload": True, "offset": 0})
    out = {}
    for p in points(shard, r):
        v = p.payload or {}
        for k in group_by.split("."):
            v = v.get(k) if isinstance(v, dict) else None
        for g in dict.fromkeys(x for x in as_list(v) if isinstance(x, (str, int)) and not isinstance(x, bool)):
            if g not in out:
                if len(out) >= limit:
                    continue
                out[g] = []
            if len(out[g]) < size:
                out[g].append(p)
    ids = list({str(p.id): p.id for ps in out.values() for p in ps}.values())
    payloads = {}
    if ids:
        payloads = {str(x.id): x.payload for x in shard.retrieve(ids, payload_selector(want or False), False)}
    return [(g, [(p, payloads.get(str(p.id))) for p in ps]) for g, ps in out.items()]


def vector_of(shard, v, using, exclude):
    """A point id in the place of a vector stands for that point's vector; the point itself is
    added to exclude, to be left out of the answer."""
    if not isinstance(v, (int, str)):
        return vector(v)
    v = valid_id(v)
    record = shard.retrieve([v], False, [using or ""])
    vs = record[0].vector if record else None
    got = vs.get(using or "") if isinstance(vs, dict) else vs
    if got is None:
        raise Err(NOT_FOUND, f"Not found: No point with id {v} found")
    exclude.append(v)
    return got


def scoring(shard, x, using, exclude):
    """The engine's form of what points are scored by."""
    def fetch(v):
        return vector_of(shard, v, using, exclude)

    if x is None:
        return None
    if isinstance(x, m.NearestQuery):
        if x.mmr is not None:
            diversity = x.mmr.diversity if x.mmr.diversity is not None else 0.5
            return e.Mmr(fetch(x.nearest), 1.0 - diversity, x.mmr.candidates_limit or 100, using)
        return e.Query.Nearest(fetch(x.nearest), using)
    if isinstance(x, m.FusionQuery):
        return e.Fusion.Rrf(2) if x.fusion == m.Fusion.RRF else e.Fusion.Dbsf()
    if isinstance(x, m.RrfQuery):
        return e.Fusion.Rrf(2 if x.rrf.k is None else x.rrf.k, x.rrf.weights or None)
    if isinstance(x, m.OrderByQuery):
        return order_by(x.order_by)
    if isinstance(x, m.SampleQuery):
        return e.Sample.Random
    if isinstance(x, m.RecommendQuery):
        return recommend(x.recommend, using, fetch)
    if isinstance(x, (m.DiscoverQuery, m.ContextQuery)):
        context = x.discover.context if isinstance(x, m.DiscoverQuery) else x.context
        pairs = [e.ContextPair(fetch(y.positive), fetch(y.negative)) for y in as_list(context)]
        if isinstance(x, m.DiscoverQuery):
            return e.Query.Discover(e.DiscoverQuery(fetch(x.discover.target), pairs), using)
        return e.Query.Context(e.ContextQuery(pairs), using)
    if isinstance(x, m.FormulaQuery):
        return e.Formula(expression(x.formula), x.defaults or None)
    raise Err(UNIMPLEMENTED, f"query {type(x).__name__}")


def recommend(r, using, fetch):
    positive, negative = [fetch(v) for v in as_list(r.positive)], [fetch(v) for v in as_list(r.negative)]
    if r.strategy == m.RecommendStrategy.BEST_SCORE:
        return e.Query.RecommendBestScore(e.RecommendQuery(positive, negative), using)
    if r.strategy == m.RecommendStrategy.SUM_SCORES:
        return e.Query.RecommendSumScores(e.RecommendQuery(positive, negative), using)

    def mean(vs):
        return [sum(c) / len(vs) for c in zip(*vs)]
    p = mean(positive)
    return e.Query.Nearest([2 * a - b for a, b in zip(p, mean(negative))] if negative else p, using)
