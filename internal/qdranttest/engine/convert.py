"""Filters, vectors and queries: from qdrant_client's models, and from protobuf
where speed counts, to the engine's classes."""
import uuid

import numpy
import qdrant_edge as e
from qdrant_client import grpc as q
from qdrant_client.conversions.conversion import grpc_to_payload
from qdrant_client.http import models as m

from errors import INVALID, UNIMPLEMENTED, Err

MAX_MULTIVECTOR_FLOATS = 1 << 20  # a multi-vector with so many floats is refused


def as_list(x):
    return [] if x is None else x if isinstance(x, list) else [x]


def valid_id(i):
    if isinstance(i, str):
        try:
            return str(uuid.UUID(i))
        except ValueError:
            raise Err(INVALID, f"Unable to parse UUID: {i}")
    return i


# ---------------------------------------------------------------- filters

def match(x):
    for attr, cls in (("value", e.MatchValue), ("text", e.MatchText), ("text_any", e.MatchTextAny),
                      ("phrase", e.MatchPhrase), ("any", e.MatchAny), ("except_", e.MatchExcept)):
        v = getattr(x, attr, None)
        if v is not None:
            # The engine takes a Python bool for an integer, but not a numpy one.
            return cls(numpy.bool_(v) if isinstance(v, bool) else v)
    raise Err(UNIMPLEMENTED, f"match {x}")


def given(x):
    return {k: v for k, v in x if v is not None}


def geo_point(p):
    return e.GeoPoint(p.lon, p.lat)


def field_condition(c):
    kw = {}
    if c.match is not None:
        kw["match"] = match(c.match)
    if isinstance(c.range, m.DatetimeRange):
        kw["range"] = e.RangeDateTime(**{k: v.isoformat() for k, v in given(c.range).items()})
    elif c.range is not None:
        kw["range"] = e.RangeFloat(**given(c.range))
    if c.values_count is not None:
        kw["values_count"] = e.ValuesCount(**given(c.values_count))
    if c.geo_bounding_box is not None:
        b = c.geo_bounding_box
        kw["geo_bounding_box"] = e.GeoBoundingBox(geo_point(b.top_left), geo_point(b.bottom_right))
    if c.geo_radius is not None:
        kw["geo_radius"] = e.GeoRadius(geo_point(c.geo_radius.center), c.geo_radius.radius)
    if c.geo_polygon is not None:
        rings = [[geo_point(p) for p in r.points] for r in [c.geo_polygon.exterior, *as_list(c.geo_polygon.interiors)]]
        kw["geo_polygon"] = e.GeoPolygon(rings[0], rings[1:])
    if c.is_empty is not None:
        kw["is_empty"] = c.is_empty
    if c.is_null is not None:
        kw["is_null"] = c.is_null
    return e.FieldCondition(c.key, **kw)


def condition(c):
    if isinstance(c, m.Filter):
        return filter_(c)
    if isinstance(c, m.FieldCondition):
        return field_condition(c)
    if isinstance(c, m.HasIdCondition):
        return e.HasIdCondition({valid_id(i) for i in c.has_id})
    if isinstance(c, m.IsEmptyCondition):
        return e.IsEmptyCondition(c.is_empty.key)
    if isinstance(c, m.IsNullCondition):
        return e.IsNullCondition(c.is_null.key)
    if isinstance(c, m.HasVectorCondition):
        return e.HasVectorCondition(c.has_vector)
    if isinstance(c, m.NestedCondition):
        return e.NestedCondition(c.nested.key, filter_(c.nested.filter))
    raise Err(UNIMPLEMENTED, f"condition {type(c).__name__}")


def filter_(f):
    if f is None:
        return None
    kw = {k: [condition(c) for c in as_list(getattr(f, k))] for k in ("must", "should", "must_not") if getattr(f, k)}
    if f.min_should is not None:
        kw["min_should"] = e.MinShould([condition(c) for c in f.min_should.conditions], f.min_should.min_count)
    return e.Filter(**kw)


def filter_keys(f):
    """The payload keys that a filter looks at."""
    if f is None:
        return
    conditions = as_list(f.must) + as_list(f.should) + as_list(f.must_not)
    if f.min_should is not None:
        conditions += f.min_should.conditions
    for c in conditions:
        if isinstance(c, m.Filter):
            yield from filter_keys(c)
        elif isinstance(c, m.FieldCondition):
            yield c.key
        elif isinstance(c, m.NestedCondition):
            yield from (f"{c.nested.key}[].{k}" for k in filter_keys(c.nested.filter))


def without(f, ids):
    """The filter f, and none of ids."""
    return m.Filter(must=[f] if f else None, must_not=[m.HasIdCondition(has_id=ids)]) if ids else f


# ---------------------------------------------------------------- points

def check_rows(where, sizes):
    """The server's rules for a multi-vector of rows of these sizes; the engine itself panics on ragged rows."""
    if not sizes:
        why = "multi vector must not be empty"
    elif 0 in sizes:
        why = "all vectors must be non-empty"
    elif sum(sizes) >= MAX_MULTIVECTOR_FLOATS:
        why = f"Total size of all vectors ({sum(sizes)}) must be less than {MAX_MULTIVECTOR_FLOATS}"
    elif len(set(sizes)) > 1:
        bad = next(n for n in sizes if n != sizes[0])
        why = f"all vectors must have the same dimension, found vector with dimension {bad}"
    else:
        return
    raise Err(INVALID, f"Validation error in body: [{where}: {why}]")


def vector(v):
    """A vector of a query."""
    if isinstance(v, list) and v and isinstance(v[0], list):
        check_rows("query", [len(x) for x in v])
    return e.SparseVector(v.indices, v.values) if isinstance(v, m.SparseVector) else v


def grpc_vector(v):
    """A vector of a point, without the detour over models, which takes long for many floats."""
    kind = v.WhichOneof("vector")
    if kind == "dense":
        return v.dense.data[:]
    if kind == "sparse":
        return e.SparseVector(v.sparse.indices[:], v.sparse.values[:])
    if kind == "multi_dense":
        check_rows("points", [len(x.data) for x in v.multi_dense.vectors])
        return [x.data[:] for x in v.multi_dense.vectors]
    if kind is not None:
        raise Err(UNIMPLEMENTED, f"vector as {kind}")
    # the fields of clients before 1.16
    if v.HasField("indices"):
        return e.SparseVector(v.indices.data[:], v.data[:])
    if v.HasField("vectors_count"):
        if not v.vectors_count or len(v.data) % v.vectors_count:
            raise Err(INVALID, f"{len(v.data)} floats cannot be split into {v.vectors_count} vectors")
        size = len(v.data) // v.vectors_count
        check_rows("points", [size] * v.vectors_count)
        return [v.data[i:i + size] for i in range(0, len(v.data), size)]
    return v.data[:]


def grpc_vectors(v):
    if v.WhichOneof("vectors_options") == "vector":
        return grpc_vector(v.vector)
    return {name: grpc_vector(v.vectors.vectors[name]) for name in v.vectors.vectors}


def grpc_id(i):
    kind = i.WhichOneof("point_id_options")
    if kind is None:
        raise Err(INVALID, "Empty ID is not allowed")
    return i.num if kind == "num" else valid_id(i.uuid)


def point(p):
    if not p.HasField("vectors"):
        raise Err(INVALID, "Expected some vectors")
    return e.Point(grpc_id(p.id), grpc_vectors(p.vectors), grpc_to_payload(p.payload))


def vector_output(v):
    if hasattr(v, "indices"):
        return q.VectorOutput(sparse=q.SparseVector(indices=v.indices, values=v.values))
    if len(v) and isinstance(v[0], list):
        return q.VectorOutput(multi_dense=q.MultiDenseVector(vectors=[q.DenseVector(data=x) for x in v]))
    return q.VectorOutput(dense=q.DenseVector(data=v))


def vectors_output(v):
    if not v:
        return None
    if isinstance(v, dict):
        return q.VectorsOutput(vectors=q.NamedVectorsOutput(vectors={k: vector_output(x) for k, x in v.items()}))
    return q.VectorsOutput(vector=vector_output(v))


def id_output(i):
    return q.PointId(num=i) if isinstance(i, int) else q.PointId(uuid=str(i))


# ---------------------------------------------------------------- queries

def order_by(o):
    if o is None:
        return None
    if isinstance(o, str):
        return e.OrderBy(o)
    direction = {m.Direction.ASC: e.Direction.Asc, m.Direction.DESC: e.Direction.Desc, None: None}[o.direction]
    start = o.start_from.isoformat() if hasattr(o.start_from, "isoformat") else o.start_from
    return e.OrderBy(o.key, direction, start)


def search_params(x):
    if x is None:
        return None
    quantization = acorn = None
    if x.quantization is not None:
        z = x.quantization
        quantization = e.QuantizationSearchParams(bool(z.ignore), z.rescore, z.oversampling)
    if x.acorn is not None:
        acorn = e.AcornSearchParams(bool(x.acorn.enable), x.acorn.max_selectivity)
    return e.SearchParams(hnsw_ef=x.hnsw_ef, exact=bool(x.exact), indexed_only=bool(x.indexed_only),
                          quantization=quantization, acorn=acorn)


def payload_selector(w):
    if isinstance(w, m.PayloadSelectorInclude):
        return e.PayloadSelector.Include(w.include)
    if isinstance(w, m.PayloadSelectorExclude):
        return e.PayloadSelector.Exclude(w.exclude)
    return w


def expression(x):
    if isinstance(x, (int, float)):
        return e.Expression.Constant(float(x))
    if isinstance(x, str):
        return e.Expression.Variable(x)
    if isinstance(x, m.SumExpression):
        return e.Expression.Sum([expression(y) for y in x.sum])
    if isinstance(x, m.MultExpression):
        return e.Expression.Mult([expression(y) for y in x.mult])
    return e.Expression.Condition(condition(x))
