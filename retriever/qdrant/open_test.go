package qdrant

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"

	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
)

// wantError checks the kind of an error, if one is given, and what it says.
func wantError(t *testing.T, what string, err, kind error, says ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	if kind != nil && !errors.Is(err, kind) {
		t.Errorf("%s: %v, want it to be %q", what, err, kind)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: %q does not say %q", what, err, s)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	ctx := t.Context()
	address, name := qdranttest.Shared(t), qdranttest.Collection(t)
	closed := func(s *Store, err error) error {
		if s != nil {
			s.Close()
		}
		return err
	}
	_, err := Open(ctx, address, name, nil)
	wantError(t, "no collection", err, retriever.ErrNotFound, address, name)
	_, err = Open(ctx, address, name, &Options{Create: true})
	wantError(t, "creating without a dimension", err, nil, "dimension of its vectors", "want a fingerprint")

	s := openTest(t, name, Options{})
	other := fingerprint
	other.Model = "another model"
	var mismatch *retriever.MismatchError
	if _, err := Open(ctx, address, name, &Options{Fingerprint: other}); !errors.As(err, &mismatch) || mismatch.Have != fingerprint || mismatch.Want != other {
		t.Errorf("another model's collection: %v, want a *MismatchError with both", err)
	}
	bad := lines("d", "x", 2)
	bad.Chunks[1].Vector = []float32{1, 0, 0}
	wantError(t, "wrong dimension", s.Upsert(ctx, []retriever.Document{bad}), nil, `document "d"`, "vector of length 3: want 8")
	_, err = s.Candidates(ctx, retriever.Query{Vector: []float32{1}, Limit: 1, Weights: retriever.Weights{Landmark: 1}})
	wantError(t, "a query of the wrong dimension", err, nil, "vector of length 1: want 8")

	readOnly, err := Open(ctx, address, name, &Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	wantError(t, "writing for reading only", readOnly.Upsert(ctx, []retriever.Document{lines("d", "x", 2)}), errReadOnly)
	_, err = readOnly.Delete(ctx, []string{"d"})
	wantError(t, "deleting for reading only", err, errReadOnly)

	if err := s.client.DeleteCollection(ctx, name); err != nil {
		t.Fatal(err)
	}
	_, err = s.Stats(ctx)
	wantError(t, "a collection dropped meanwhile", err, retriever.ErrNotFound, name)

	foreign := qdranttest.Collection(t)
	client := qdranttest.Client(t, address)
	if err := client.CreateCollection(ctx, &pb.CreateCollection{CollectionName: foreign, VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: dim, Distance: pb.Distance_Cosine})}); err != nil {
		t.Fatal(err)
	}
	_, err = client.Upsert(ctx, &pb.UpsertPoints{CollectionName: foreign, Wait: pb.PtrOf(true), Points: []*pb.PointStruct{{Id: pb.NewIDNum(1), Vectors: pb.NewVectors(direction(1)...)}}})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, "somebody else's collection", closed(Open(ctx, address, foreign, &Options{Create: true, Fingerprint: fingerprint})), nil, "was not made by waymark", foreign)
	wantError(t, "somebody else's collection, to read", closed(Open(ctx, address, foreign, nil)), nil, "was not made by waymark")

	for _, address := range []string{"", ":", "host:port", "host:0", "host:99999", "[::1", "a:b:c"} {
		wantError(t, "address "+address, closed(Open(ctx, address, name, nil)), nil, "address")
	}
	for _, name := range []string{"", "a/b", strings.Repeat("x", 256)} {
		wantError(t, "collection "+name, closed(Open(ctx, address, name, nil)), nil, "collection name")
	}
	for what, o := range map[string]Options{
		"a part of -1": {Layout: Layout{PartLandmarks: -1}}, "a part of 65": {Layout: Layout{PartLandmarks: 65}},
		"more numbers than a multivector may have": {Layout: Layout{PartLandmarks: 64}, Fingerprint: retriever.Fingerprint{Dim: 1 << 15}},
		"an unknown quantisation":                  {Layout: Layout{Quantization: "tiny"}}, "a negative ef": {Search: Search{HNSWEf: -1}},
		"a shard for a tenant without a name": {Layout: Layout{ShardPerTenant: true}}, "a tenant that is not UTF-8": {Tenant: "\xff"},
		"reading and creating": {ReadOnly: true, Create: true},
	} {
		wantError(t, what, closed(Open(ctx, address, name, &o)), nil, "")
	}
}

// TestReplyTooLarge: what is too large is so again, and is not asked for twice.
func TestReplyTooLarge(t *testing.T) {
	var d dying
	d.left.Store(math.MaxInt64)
	s := openTest(t, qdranttest.Collection(t), Options{Dial: append(d.dial(), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(10_000)))})
	upsert(t, s, lines("a", "x", 200))
	before := d.calls.Load()
	_, err := s.Fetch(t.Context(), []string{"a"}, retriever.Want{Text: true})
	wantError(t, "a reply too large", err, nil, "larger than max", "ask for fewer at a time")
	if n := d.calls.Load() - before; n != 2 || errors.Is(err, retriever.ErrUnreachable) {
		t.Errorf("%d calls, want 2, and %v, want another error", n, err)
	}
}

func TestNobodyThere(t *testing.T) {
	_, err := Open(t.Context(), "127.0.0.1:1", "c", &Options{RetryFor: 100 * time.Millisecond})
	wantError(t, "no server", err, retriever.ErrUnreachable, "qdrant at 127.0.0.1:1", "gave up after")
}

func TestKeyAndTLS(t *testing.T) {
	server := qdranttest.StartWith(t, qdranttest.Options{APIKey: "secret-key"})
	open := func(key string) error {
		s, err := Open(t.Context(), server.Address, "c", &Options{Create: true, Fingerprint: fingerprint, APIKey: key})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	if err := open("secret-key"); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"", "wrong-key"} {
		err := open(key)
		wantError(t, "key "+key, err, retriever.ErrDenied, "qdrant at "+server.Address)
		if err != nil && key != "" && strings.Contains(err.Error(), key) {
			t.Errorf("the error tells the key: %v", err)
		}
	}
}

func TestOldServer(t *testing.T) {
	for version, says := range map[string]string{
		"1.18.3": "", "1.13.0": "", "v2.0.0": "", "dev": "",
		"1.12.4": "lacks MaxSim of fetched candidates alone where a vector has no graph: want 1.13 or newer",
		"1.9.0":  "lacks MaxSim of fetched candidates alone where a vector has no graph; the values of a key (facets); the query call",
		"0.11.1": "want 1.13 or newer",
	} {
		err := checkVersion("here:6334", version)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("version %s: %v, want %q", version, err, says)
		}
	}
}

// TestCreateRequest looks at what is asked of a server, since the engine that
// tests run on has no cluster.
func TestCreateRequest(t *testing.T) {
	s := &Store{collection: "c", opts: Options{Fingerprint: fingerprint}.withDefaults()}
	r := s.createRequest()
	v := r.GetVectorsConfig().GetParamsMap().GetMap()
	if len(v) != 2 || v[vectorLandmarks].GetMultivectorConfig() == nil || v[vectorLandmarks].GetHnswConfig().M != nil || v[vectorDoc].GetSize() != dim ||
		v[vectorDoc].GetDatatype() != pb.Datatype_Float16 || v[vectorDoc].GetDistance() != pb.Distance_Dot || r.ShardNumber != nil || r.StrictModeConfig != nil || r.ShardingMethod != nil {
		t.Errorf("by default: %v", r)
	}
	if r.GetSparseVectorsConfig().GetMap()[vectorText].GetModifier() != pb.Modifier_Idf {
		t.Errorf("words without inverse document frequencies: %v", r)
	}
	s.opts.Layout = Layout{PartLandmarks: 64, Float32: true, Quantization: Scalar, OnDisk: true, HNSWM: 32, HNSWEfConstruct: 200,
		Shards: 6, Replicas: 2, WriteConsistency: 2, ShardPerTenant: true, Strict: true}
	r = s.createRequest()
	v = r.GetVectorsConfig().GetParamsMap().GetMap()
	l, d := v[vectorLandmarks], v[vectorDoc]
	if l.GetHnswConfig().M == nil || l.GetHnswConfig().GetM() != 0 || d.GetHnswConfig().GetM() != 32 || d.GetHnswConfig().GetEfConstruct() != 200 || v[vectorPart] == nil {
		t.Errorf("graphs: %v", r)
	}
	if d.GetDatatype() != pb.Datatype_Float32 || !d.GetOnDisk() || d.GetQuantizationConfig().GetScalar().GetType() != pb.QuantizationType_Int8 {
		t.Errorf("vectors: %v", d)
	}
	if r.GetShardNumber() != 6 || r.GetReplicationFactor() != 2 || r.GetWriteConsistencyFactor() != 2 || r.GetShardingMethod() != pb.ShardingMethod_Custom ||
		!r.GetStrictModeConfig().GetEnabled() || r.GetStrictModeConfig().GetUnindexedFilteringRetrieve() {
		t.Errorf("cluster and strict mode: %v", r)
	}
	s.opts.Layout.Quantization = Binary
	if q := s.createRequest().GetVectorsConfig().GetParamsMap().GetMap()[vectorDoc].GetQuantizationConfig(); q.GetBinary() == nil {
		t.Errorf("binary quantisation: %v", q)
	}
	p := (&search{Store: &Store{opts: Options{Search: Search{HNSWEf: 99, Oversampling: 3}, Layout: Layout{Quantization: Scalar}}}}).params()
	if p.GetHnswEf() != 99 || p.GetQuantization().GetOversampling() != 3 || !p.GetQuantization().GetRescore() || p.Exact != nil {
		t.Errorf("search by an index: %v", p)
	}
	if p := (&search{Store: &Store{opts: Options{Search: Search{Exact: true}}}}).params(); !p.GetExact() {
		t.Errorf("exact search: %v", p)
	}
}

// TestRequestsOfASearch counts the calls of searches.
func TestRequestsOfASearch(t *testing.T) {
	for _, part := range []int{1, 64} {
		var d dying
		d.left.Store(math.MaxInt64)
		s := openTest(t, qdranttest.Collection(t), Options{Layout: Layout{PartLandmarks: part}, Dial: d.dial()})
		upsert(t, s, lines("a", "x", 150), lines("b", "y", 3))
		for _, q := range []retriever.Query{
			{Vector: direction(3), Limit: 10},
			{Vector: direction(3), Words: "line5 of the document", Limit: 10},
			{Words: "line5", Limit: 10},
			{Vector: direction(3), Limit: 10, Filter: retriever.Filter{All: []retriever.Condition{{Key: "name", Op: retriever.Eq, Value: "x"}}}},
		} {
			q.Weights = retriever.Weights{Landmark: 0.8, Document: 0.2}
			before := d.calls.Load()
			if _, err := s.Candidates(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			if n := d.calls.Load() - before; n != 2 {
				t.Errorf("part of %d, %+v: %d calls, want 2", part, q, n)
			}
		}
	}
}

// TestRequestsOfASpreadSearch counts the calls of searches for a few chunks of each
// document where documents are long, and all that come back.
func TestRequestsOfASpreadSearch(t *testing.T) {
	var d dying
	d.left.Store(math.MaxInt64)
	s := openTest(t, qdranttest.Collection(t), Options{Dial: d.dial()})
	var docs []retriever.Document
	for i := range 5 {
		docs = append(docs, lines(fmt.Sprint(i), "x", 300))
	}
	upsert(t, s, docs...)
	for _, test := range []struct {
		q           retriever.Query
		calls, want int
	}{
		{retriever.Query{Vector: direction(3), Limit: 8, PerDocument: 2}, 3, 8}, // of five documents there are no 100 parts: one call more
		{retriever.Query{Vector: direction(3), Limit: 100, PerDocument: 2}, 3, 10},
		{retriever.Query{Vector: direction(3), Limit: 100, PerDocument: 30}, 2, 100},
		{retriever.Query{Words: "document", Limit: 100, PerDocument: 2}, 4, 10}, // and one for chunks that score the same
	} {
		test.q.Weights = retriever.Weights{Landmark: 0.8, Document: 0.2}
		before := d.calls.Load()
		c, err := s.Candidates(t.Context(), test.q)
		if n, found := int(d.calls.Load()-before), len(c.Dense)+len(c.Lexical); err != nil || n != test.calls || found != test.want {
			t.Errorf("%+v: %d calls, %d candidates, %v, want %d and %d", test.q, n, found, err, test.calls, test.want)
		}
	}
}
