"""The gRPC service Points."""
import qdrant_edge as e
from qdrant_client import grpc as q
from qdrant_client.conversions.conversion import GrpcToRest, grpc_to_payload, payload_to_grpc

import settings
from convert import grpc_id, grpc_vectors, id_output, point, vectors_output
from errors import INVALID, UNIMPLEMENTED, Err
from rpc import rpc


# ---------------------------------------------------------------- requests

def opt(msg, field, default=None):
    return getattr(msg, field) if msg.HasField(field) else default


def filter_of(r, field="filter"):
    return GrpcToRest.convert_filter(getattr(r, field)) if r.HasField(field) else None


def with_payload_of(r, default):
    return GrpcToRest.convert_with_payload_selector(r.with_payload) if r.HasField("with_payload") else default


def with_vectors_of(r):
    return GrpcToRest.convert_with_vectors_selector(r.with_vectors) if r.HasField("with_vectors") else False


def selector(s, field):
    if not s.HasField(field) or getattr(s, field).WhichOneof("points_selector_one_of") is None:
        raise Err(INVALID, "PointSelector is missing")
    got = GrpcToRest.convert_points_selector(getattr(s, field))
    if hasattr(got, "points"):
        got.points = [grpc_id(i) for i in getattr(s, field).points.ids]
    return got


def limit_of(r):
    limit = opt(r, "limit", 10)
    if limit == 0:
        raise Err(INVALID, "Validation error in body: [limit: value 0 invalid, must be 1 or larger]")
    return limit


# ---------------------------------------------------------------- answers

def order_value(p):
    v = getattr(p, "order_value", None)
    return None if v is None else q.OrderValue(int=v) if isinstance(v, int) else q.OrderValue(float=v)


def scored(p, payload=None):
    payload = (p.payload if payload is None else payload) or {}
    return q.ScoredPoint(id=id_output(p.id), payload=payload_to_grpc(payload), score=p.score, version=p.version or 0,
                         vectors=vectors_output(p.vector), order_value=order_value(p))


def retrieved(p):
    return q.RetrievedPoint(id=id_output(p.id), payload=payload_to_grpc(p.payload or {}),
                            vectors=vectors_output(p.vector), order_value=order_value(p))


def done(r):
    """A write is applied before its answer; without `wait` the status says only that it was received, as the
    server's does."""
    return q.UpdateResult(operation_id=0, status=q.Completed if r.wait else q.Acknowledged)


class Points(q.PointsServicer):
    def __init__(self, shards):
        self.shards = shards

    # ---------------------------------------------------------------- writing

    def upsert(self, name, r):
        if not r.points:
            raise Err(INVALID, "Bad request: Empty update request")
        self.shards.upsert(name, [point(p) for p in r.points], filter_of(r, "update_filter"), opt(r, "update_mode"))

    def payload(self, name, op, r):
        self.shards.apply(name, op, selector(r, "points_selector"), grpc_to_payload(r.payload), opt(r, "key"))

    def set_payload(self, name, r):
        self.payload(name, "set_payload", r)

    def overwrite_payload(self, name, r):
        self.payload(name, "overwrite_payload", r)

    def delete_points(self, name, r):
        self.shards.apply(name, "delete_points", selector(r, "points"))

    def clear_payload(self, name, r):
        self.shards.apply(name, "clear_payload", selector(r, "points"))

    def delete_payload(self, name, r):
        self.shards.apply(name, "delete_payload", selector(r, "points_selector"), list(r.keys))

    def update_vectors(self, name, r):
        self.shards.update_vectors(name, [e.PointVectors(grpc_id(p.id), grpc_vectors(p.vectors)) for p in r.points],
                                   filter_of(r, "update_filter"))

    def delete_vectors(self, name, r):
        self.shards.apply(name, "delete_vectors", selector(r, "points_selector"), list(r.vectors.names))

    def write(self, operation, r):
        self.shards.resolve(r.collection_name)
        operation(r.collection_name, r)
        return q.PointsOperationResponse(result=done(r))

    @rpc
    def Upsert(self, r):
        return self.write(self.upsert, r)

    @rpc
    def Delete(self, r):
        return self.write(self.delete_points, r)

    @rpc
    def SetPayload(self, r):
        return self.write(self.set_payload, r)

    @rpc
    def OverwritePayload(self, r):
        return self.write(self.overwrite_payload, r)

    @rpc
    def DeletePayload(self, r):
        return self.write(self.delete_payload, r)

    @rpc
    def ClearPayload(self, r):
        return self.write(self.clear_payload, r)

    @rpc
    def UpdateVectors(self, r):
        return self.write(self.update_vectors, r)

    @rpc
    def DeleteVectors(self, r):
        return self.write(self.delete_vectors, r)

    @rpc
    def UpdateBatch(self, r):
        self.shards.resolve(r.collection_name)
        for o in r.operations:
            kind = o.WhichOneof("operation")
            operation = None if kind is None else getattr(self, kind, None)
            if operation is None:
                raise Err(UNIMPLEMENTED, f"UpdateBatch {kind}")
            operation(r.collection_name, getattr(o, kind))
        return q.UpdateBatchResponse(result=[done(r) for _ in r.operations])

    @rpc
    def CreateFieldIndex(self, r):
        if not r.HasField("field_type"):
            raise Err(INVALID, "cannot convert field_type")
        self.shards.create_index(r.collection_name, r.field_name, settings.field_schema(r.field_type, r.field_index_params))
        return q.PointsOperationResponse(result=done(r))

    @rpc
    def DeleteFieldIndex(self, r):
        self.shards.delete_index(r.collection_name, r.field_name)
        return q.PointsOperationResponse(result=done(r))

    # ---------------------------------------------------------------- reading

    @rpc
    def Get(self, r):
        ids = [grpc_id(i) for i in r.ids]
        found = self.shards.get(r.collection_name, ids, with_payload_of(r, False), with_vectors_of(r))
        return q.GetResponse(result=[retrieved(p) for p in found])

    @rpc
    def Scroll(self, r):
        order = GrpcToRest.convert_order_by(r.order_by) if r.HasField("order_by") else None
        offset = grpc_id(r.offset) if r.HasField("offset") else None
        found, following = self.shards.scroll(r.collection_name, filter_of(r), limit_of(r), offset,
                                              with_payload_of(r, True), with_vectors_of(r), order)
        return q.ScrollResponse(result=[retrieved(p) for p in found],
                                next_page_offset=None if following is None else id_output(following))

    @rpc
    def Count(self, r):
        n = self.shards.count(r.collection_name, filter_of(r), opt(r, "exact", True))
        return q.CountResponse(result=q.CountResult(count=n))

    def query(self, name, r):
        limit_of(r)
        return [scored(p) for p in self.shards.query(name, GrpcToRest.convert_query_points(r))]

    @rpc
    def Query(self, r):
        self.shards.resolve(r.collection_name)
        return q.QueryResponse(result=self.query(r.collection_name, r))

    @rpc
    def QueryBatch(self, r):
        self.shards.resolve(r.collection_name)
        return q.QueryBatchResponse(result=[q.BatchResult(result=self.query(r.collection_name, x)) for x in r.query_points])

    @rpc
    def QueryGroups(self, r):
        self.shards.resolve(r.collection_name)
        x = q.QueryPoints(prefetch=r.prefetch)
        for f in ("query", "using", "filter", "params", "score_threshold", "with_payload", "with_vectors"):
            if r.HasField(f):
                v = getattr(r, f)
                getattr(x, f).CopyFrom(v) if hasattr(v, "CopyFrom") else setattr(x, f, v)
        groups = self.shards.query_groups(r.collection_name, GrpcToRest.convert_query_points(x), r.group_by,
                                          opt(r, "limit", 10), opt(r, "group_size", 3))

        def group_id(g):
            if isinstance(g, str):
                return q.GroupId(string_value=g)
            return q.GroupId(unsigned_value=g) if g >= 0 else q.GroupId(integer_value=g)
        return q.QueryGroupsResponse(result=q.GroupsResult(groups=[
            q.PointGroup(id=group_id(g), hits=[scored(p, payload or {}) for p, payload in ps]) for g, ps in groups]))

    @rpc
    def Facet(self, r):
        hits = self.shards.facet(r.collection_name, r.key, opt(r, "limit", 10), r.exact, filter_of(r))

        def value(v):
            if isinstance(v, bool):
                return q.FacetValue(bool_value=v)
            return q.FacetValue(integer_value=v) if isinstance(v, int) else q.FacetValue(string_value=str(v))
        return q.FacetResponse(hits=[q.FacetHit(value=value(v), count=n) for v, n in hits])
