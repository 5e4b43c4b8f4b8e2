package qdrant

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/retriever"
)

// The vectors of a point.
const (
	vectorDoc       = "doc"       // the document vector, on a document's first point
	vectorPart      = "part"      // the mean of the part's landmarks, where a part has several
	vectorLandmarks = "landmarks" // a multivector compared by MaxSim
	vectorText      = "text"      // sparse: words by BM25
)

// The payload of a point. The keys under keyEqual and keyNumber depend on the
// metadata (see filter.go).
const (
	keyTenant   = "tenant"
	keyDocument = "document" // its ID
	keyPart     = "part"     // counted from 0; part 0 is the head
	keyVersion  = "version"  // of the document, the same in all its parts
	keyPending  = "pending"  // when the part was written, until its head is there
	keyFirst    = "first"    // index of the first chunk
	keyStart    = "start"    // of the part's text in the document's
	keyText     = "text"
	keyChunks   = "chunks" // spans, headings and norms of the part's chunks

	// Of the head alone.
	keyTitle      = "title"
	keyHash       = "hash"
	keyMetadata   = "metadata"
	keyParts      = "parts"       // how many
	keyChunkCount = "chunk_count" // of the document

	keyEqual  = "equal"
	keyNumber = "number"

	// Of the point that describes the collection.
	keyCollection = "waymark"
)

// namespace is that of the points' version 5 UUIDs.
var namespace = uuid.MustParse("9c0f4e0b-6a43-5d0e-9b0a-2f1d6a7c5e11")

func pointID(parts ...string) *pb.PointId {
	name, _ := json.Marshal(parts) // strings always can be; unlike joined ones, no two lists look alike
	return pb.NewIDUUID(uuid.NewSHA1(namespace, name).String())
}

// headID is the point that says which version of a document is there.
func headID(tenant, document string) *pb.PointId { return pointID(tenant, document, "0") }

// partID is the point of a later part, which belongs to one version.
func partID(tenant, document, version string, part int) *pb.PointId {
	return pointID(tenant, document, fmt.Sprint(part), version)
}

// collectionID is the point that describes the collection.
var collectionID = pointID("collection")

// formatVersion is that of the layout, as docs/qdrant.md describes it.
const formatVersion = 1

// description is what the collection says of itself.
type description struct {
	Format        int                   `json:"format"`
	PartLandmarks int                   `json:"part_landmarks"`
	Fingerprint   retriever.Fingerprint `json:"fingerprint"`
}

// createRequest is the collection that the options ask for.
func (s *Store) createRequest() *pb.CreateCollection {
	l := s.opts.Layout
	dim := uint64(s.opts.Fingerprint.Dim)
	kind := pb.Datatype_Float16
	if l.Float32 {
		kind = pb.Datatype_Float32
	}
	graph := &pb.HnswConfigDiff{M: optional[uint64](l.HNSWM), EfConstruct: optional[uint64](l.HNSWEfConstruct)}
	none := &pb.HnswConfigDiff{M: pb.PtrOf(uint64(0))} // no graph: only ever scored, behind a prefetch or exactly
	// Unit vectors by dot product: with the cosine, the server would scale them
	// again and give back others than it was given.
	params := func(hnsw *pb.HnswConfigDiff) *pb.VectorParams {
		p := &pb.VectorParams{Size: dim, Distance: pb.Distance_Dot, Datatype: &kind, HnswConfig: hnsw, QuantizationConfig: l.Quantization.config()}
		if l.OnDisk {
			p.OnDisk = &l.OnDisk
		}
		return p
	}
	vectors := map[string]*pb.VectorParams{vectorDoc: params(graph)}
	if l.PartLandmarks > 1 {
		vectors[vectorPart] = params(graph)
		vectors[vectorLandmarks] = params(none)
	} else {
		vectors[vectorLandmarks] = params(graph)
	}
	vectors[vectorLandmarks].MultivectorConfig = &pb.MultiVectorConfig{Comparator: pb.MultiVectorComparator_MaxSim}
	req := &pb.CreateCollection{
		CollectionName: s.collection,
		VectorsConfig:  pb.NewVectorsConfigMap(vectors),
		SparseVectorsConfig: pb.NewSparseVectorsConfig(map[string]*pb.SparseVectorParams{
			vectorText: {Modifier: pb.Modifier_Idf.Enum(), Index: &pb.SparseIndexConfig{OnDisk: &l.OnDisk}},
		}),
		ShardNumber:            optional[uint32](l.Shards),
		ReplicationFactor:      optional[uint32](l.Replicas),
		WriteConsistencyFactor: optional[uint32](l.WriteConsistency),
	}
	if l.ShardPerTenant {
		req.ShardingMethod = pb.ShardingMethod_Custom.Enum()
	}
	if l.Strict {
		no := false
		req.StrictModeConfig = &pb.StrictModeConfig{Enabled: &l.Strict, UnindexedFilteringRetrieve: &no, UnindexedFilteringUpdate: &no}
	}
	return req
}

func (q Quantization) config() *pb.QuantizationConfig {
	inMemory := true
	switch q {
	case Scalar:
		return pb.NewQuantizationScalar(&pb.ScalarQuantization{Type: pb.QuantizationType_Int8, AlwaysRam: &inMemory})
	case Binary:
		return pb.NewQuantizationBinary(&pb.BinaryQuantization{AlwaysRam: &inMemory})
	}
	return nil
}

// optional is a number of a request, left out when it is 0.
func optional[T uint32 | uint64](n int) *T {
	if n == 0 {
		return nil
	}
	v := T(n)
	return &v
}

// index is one that the payload has.
type index struct {
	key    string
	kind   pb.FieldType
	tenant bool
}

// fixedIndexes are those that every collection has; each key of the metadata adds
// two more.
var fixedIndexes = []index{
	{key: keyTenant, kind: pb.FieldType_FieldTypeKeyword, tenant: true},
	{key: keyDocument, kind: pb.FieldType_FieldTypeKeyword},
	{key: keyVersion, kind: pb.FieldType_FieldTypeKeyword},
	{key: keyPart, kind: pb.FieldType_FieldTypeInteger},
	{key: keyPending, kind: pb.FieldType_FieldTypeInteger},
	{key: keyChunkCount, kind: pb.FieldType_FieldTypeInteger},
}

func (i index) request(collection string) *pb.CreateFieldIndexCollection {
	wait := true
	req := &pb.CreateFieldIndexCollection{CollectionName: collection, FieldName: i.key, FieldType: &i.kind, Wait: &wait}
	if i.tenant {
		req.FieldIndexParams = pb.NewPayloadIndexParamsKeyword(&pb.KeywordIndexParams{IsTenant: &i.tenant})
	}
	return req
}
