"""Settings of a collection: from the protobuf of its CreateCollection request to
the engine's classes, and what a client is told of them."""
import qdrant_edge as e
from qdrant_client import grpc as q

from errors import INVALID, UNIMPLEMENTED, Err

DISTANCES = {q.Cosine: e.Distance.Cosine, q.Dot: e.Distance.Dot, q.Euclid: e.Distance.Euclid,
             q.Manhattan: e.Distance.Manhattan}
DATATYPES = {q.Datatype.Float32: e.VectorStorageDatatype.Float32, q.Datatype.Float16: e.VectorStorageDatatype.Float16,
             q.Datatype.Uint8: e.VectorStorageDatatype.Uint8}
COMPRESSIONS = {q.x4: e.CompressionRatio.X4, q.x8: e.CompressionRatio.X8, q.x16: e.CompressionRatio.X16,
                q.x32: e.CompressionRatio.X32, q.x64: e.CompressionRatio.X64}
TOKENIZERS = {q.Prefix: e.TokenizerType.Prefix, q.Whitespace: e.TokenizerType.Whitespace,
              q.Word: e.TokenizerType.Word, q.Multilingual: e.TokenizerType.Multilingual}

# What a payload field can be indexed as: the name in the protobuf's enums and
# of the oneof with the parameters, the engine's type and its parameters.
FIELDS = [("Keyword", e.PayloadSchemaType.Keyword, e.KeywordIndexParams),
          ("Integer", e.PayloadSchemaType.Integer, e.IntegerIndexParams),
          ("Float", e.PayloadSchemaType.Float, e.FloatIndexParams),
          ("Geo", e.PayloadSchemaType.Geo, e.GeoIndexParams),
          ("Text", e.PayloadSchemaType.Text, e.TextIndexParams),
          ("Bool", e.PayloadSchemaType.Bool, e.BoolIndexParams),
          ("Datetime", e.PayloadSchemaType.Datetime, e.DatetimeIndexParams),
          ("Uuid", e.PayloadSchemaType.Uuid, e.UuidIndexParams)]

HNSW = q.HnswConfigDiff(m=16, ef_construct=100, full_scan_threshold=10000)
OPTIMIZERS = q.OptimizersConfigDiff(deleted_threshold=0.2, vacuum_min_vector_number=1000, default_segment_number=0,
                                    indexing_threshold=10000, flush_interval_sec=5)


def given(msg, *names):
    """The fields of these names that msg has."""
    return {n: getattr(msg, n) for n in names if msg.HasField(n)}


def merged(default, msg, field):
    """default with what that field of msg says."""
    out = type(default)()
    out.CopyFrom(default)
    out.MergeFrom(getattr(msg, field))
    return out


def hnsw(h):
    return e.HnswIndexConfig(h.m, h.ef_construct, h.full_scan_threshold, **given(
        h, "max_indexing_threads", "on_disk", "payload_m", "inline_storage"))


def quantization(z):
    kind = z.WhichOneof("quantization")
    if kind is None:
        return None
    z = getattr(z, kind)
    kw = given(z, "always_ram")
    if kind == "scalar":
        return e.ScalarQuantizationConfig(e.ScalarType.Int8, **given(z, "quantile"), **kw)
    if kind == "product":
        return e.ProductQuantizationConfig(COMPRESSIONS[z.compression], **kw)
    if kind == "binary":
        if z.HasField("encoding") or z.HasField("query_encoding"):
            raise Err(UNIMPLEMENTED, "encoding of binary quantization")
        return e.BinaryQuantizationConfig(**kw)
    raise Err(UNIMPLEMENTED, f"quantization {kind}")


def dense_params(p, common):
    if not 1 <= p.size <= 65536:
        raise Err(INVALID, f"Validation error in body: [vectors_config.size: value {p.size} invalid, must be from 1 to 65536]")
    if p.distance not in DISTANCES:
        raise Err(INVALID, "Malformed distance parameter: UnknownDistance")
    kw = given(p, "on_disk")
    if p.HasField("multivector_config"):
        kw["multivector_config"] = e.MultiVectorConfig(e.MultiVectorComparator.MaxSim)
    if p.datatype in DATATYPES:
        kw["datatype"] = DATATYPES[p.datatype]
    if p.HasField("quantization_config"):
        kw["quantization_config"] = quantization(p.quantization_config)
    if p.HasField("hnsw_config"):
        kw["hnsw_config"] = hnsw(merged(common, p, "hnsw_config"))
    return e.EdgeVectorParams(p.size, DISTANCES[p.distance], **kw)


def sparse_params(p):
    kw = given(p.index, "full_scan_threshold", "on_disk")
    if p.modifier == q.Modifier.Idf:
        kw["modifier"] = e.Modifier.Idf
    if p.index.datatype in DATATYPES:
        kw["datatype"] = DATATYPES[p.index.datatype]
    return e.EdgeSparseVectorParams(**kw)


def dense_of(r):
    """The dense vectors of a CreateCollection request, by name; the unnamed one is ""."""
    kind = r.vectors_config.WhichOneof("config")
    if kind == "params":
        return {"": r.vectors_config.params}
    return dict(r.vectors_config.params_map.map)


def engine_config(r):
    common = merged(HNSW, r, "hnsw_config")
    optimizers = merged(OPTIMIZERS, r, "optimizers_config")
    return e.EdgeConfig(
        vectors={n: dense_params(p, common) for n, p in dense_of(r).items()} or None,
        sparse_vectors={n: sparse_params(p) for n, p in r.sparse_vectors_config.map.items()} or None,
        hnsw_config=hnsw(common),
        quantization_config=quantization(r.quantization_config),
        optimizers=e.EdgeOptimizersConfig(**given(
            optimizers, "deleted_threshold", "vacuum_min_vector_number", "default_segment_number", "max_segment_size",
            "indexing_threshold")))


def set_quantization(msg, diff):
    msg.ClearField("quantization_config")
    kind = diff.WhichOneof("quantization")
    if kind not in (None, "disabled"):
        getattr(msg.quantization_config, kind).CopyFrom(getattr(diff, kind))


def merge_update(created, r):
    """Takes the settings of an UpdateCollection request over into the request that created the collection."""
    for field in ("optimizers_config", "hnsw_config", "strict_mode_config"):
        if r.HasField(field):
            getattr(created, field).MergeFrom(getattr(r, field))
    if r.HasField("quantization_config"):
        set_quantization(created, r.quantization_config)
    if r.HasField("params"):
        for name, value in given(r.params, "replication_factor", "write_consistency_factor", "on_disk_payload").items():
            setattr(created, name, value)
    dense = dense_of(created)
    diffs = {"": r.vectors_config.params} if r.vectors_config.HasField("params") else r.vectors_config.params_map.map
    for name, diff in diffs.items():
        if name not in dense:
            raise Err(INVALID, f"Wrong input: Not existing vector name error: {name}")
        p = dense[name]
        if diff.HasField("hnsw_config"):
            p.hnsw_config.MergeFrom(diff.hnsw_config)
        if diff.HasField("on_disk"):
            p.on_disk = diff.on_disk
        if diff.HasField("quantization_config"):
            set_quantization(p, diff.quantization_config)
    for name, p in r.sparse_vectors_config.map.items():
        created.sparse_vectors_config.map[name].MergeFrom(p)
    for key, value in r.metadata.items():
        created.metadata[key].CopyFrom(value)


def field_schema(field_type, params):
    """What a payload field is to be indexed as."""
    name, engine_type, cls = FIELDS[[getattr(q, "FieldType" + f[0]) for f in FIELDS].index(field_type)]
    kind = params.WhichOneof("index_params")
    if kind is None:
        return engine_type
    if kind != name.lower() + "_index_params":
        raise Err(INVALID, f"field_type {name} does not go with {kind}")
    p = getattr(params, kind)
    kw = {f.name: value for f, value in p.ListFields() if f.name != "tokenizer"}
    if name == "Text":
        if "stopwords" in kw or "stemmer" in kw:
            raise Err(UNIMPLEMENTED, "stopwords or stemmer of a text index")
        kw["tokenizer"] = TOKENIZERS.get(p.tokenizer, e.TokenizerType.Word)
    return cls(**kw)


def field_info(i):
    name = next(f[0] for f in FIELDS if f[1] == i.data_type)
    info = q.PayloadSchemaInfo(data_type=getattr(q, name), points=i.points)
    if i.params is not None:
        p = getattr(info.params, name.lower() + "_index_params")
        p.SetInParent()
        for f in p.DESCRIPTOR.fields:
            value = getattr(i.params, f.name, None)
            if isinstance(value, (bool, int)):
                setattr(p, f.name, value)
            elif f.name == "tokenizer" and value is not None:
                p.tokenizer = next(t for t, v in TOKENIZERS.items() if v == value)
    return info


def collection_info(r, i):
    """What a client is told of a collection that r created and i describes."""
    params = q.CollectionParams(
        shard_number=r.shard_number or 1, on_disk_payload=r.on_disk_payload if r.HasField("on_disk_payload") else True,
        replication_factor=r.replication_factor or 1, write_consistency_factor=r.write_consistency_factor or 1)
    for field in ("vectors_config", "sparse_vectors_config"):
        if r.HasField(field):
            getattr(params, field).CopyFrom(getattr(r, field))
    if r.HasField("sharding_method"):
        params.sharding_method = r.sharding_method
    config = q.CollectionConfig(
        params=params, hnsw_config=merged(HNSW, r, "hnsw_config"),
        optimizer_config=merged(OPTIMIZERS, r, "optimizers_config"),
        wal_config=merged(q.WalConfigDiff(wal_capacity_mb=32), r, "wal_config"))
    for field in ("quantization_config", "strict_mode_config"):
        if r.HasField(field):
            getattr(config, field).CopyFrom(getattr(r, field))
    for key, value in r.metadata.items():
        config.metadata[key].CopyFrom(value)
    return q.CollectionInfo(
        status=q.Green, optimizer_status=q.OptimizerStatus(ok=True), segments_count=i.segments_count,
        points_count=i.points_count, indexed_vectors_count=i.indexed_vectors_count, config=config,
        payload_schema={k: field_info(v) for k, v in i.payload_schema.items()})
