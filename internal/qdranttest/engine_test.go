package qdranttest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Whatever the tests in this file say holds for a server too.

// TestIndexOnDemand lowers a collection's threshold for an index, upon which
// its HNSW graph is built, and searches with it and exactly.
func TestIndexOnDemand(t *testing.T) {
	const n, dim, queries, k = 3000, 32, 30, 10
	c, name := Client(t, Shared(t)), Collection(t)
	err := c.CreateCollection(t.Context(), &qdrant.CreateCollection{
		CollectionName: name,
		VectorsConfig: qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{
			"doc":   {Size: dim, Distance: qdrant.Distance_Cosine, HnswConfig: &qdrant.HnswConfigDiff{FullScanThreshold: qdrant.PtrOf(uint64(10))}},
			"plain": {Size: dim, Distance: qdrant.Distance_Cosine, HnswConfig: &qdrant.HnswConfigDiff{M: qdrant.PtrOf(uint64(0))}},
		}),
		QuantizationConfig: qdrant.NewQuantizationScalar(&qdrant.ScalarQuantization{Type: qdrant.QuantizationType_Int8}),
		OptimizersConfig:   &qdrant.OptimizersConfigDiff{IndexingThreshold: qdrant.PtrOf(uint64(1_000_000))},
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	var points []*qdrant.PointStruct
	for i := range n {
		points = append(points, &qdrant.PointStruct{Id: qdrant.NewIDNum(uint64(i)), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{
			"doc": qdrant.NewVectorDense(random()), "plain": qdrant.NewVectorDense(random()),
		})})
	}
	if _, err := c.Upsert(t.Context(), &qdrant.UpsertPoints{CollectionName: name, Points: points, Wait: qdrant.PtrOf(true)}); err != nil {
		t.Fatal(err)
	}
	info, err := c.GetCollectionInfo(t.Context(), name)
	if err != nil || info.GetIndexedVectorsCount() != 0 {
		t.Fatalf("below the threshold %d vectors are indexed, %v, want none", info.GetIndexedVectorsCount(), err)
	}
	err = c.UpdateCollection(t.Context(), &qdrant.UpdateCollection{
		CollectionName: name, OptimizersConfig: &qdrant.OptimizersConfigDiff{IndexingThreshold: qdrant.PtrOf(uint64(1))},
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // a server builds it in the background
		info, err = c.GetCollectionInfo(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Status == qdrant.CollectionStatus_Green && info.GetIndexedVectorsCount() >= n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a minute after the threshold fell, %d vectors are indexed, want %d", info.GetIndexedVectorsCount(), n)
		}
	}
	if got := info.Config.OptimizerConfig.GetIndexingThreshold(); got != 1 {
		t.Errorf("the threshold is %d, want 1", got)
	}
	search := func(v []float32, params *qdrant.SearchParams) map[uint64]bool {
		t.Helper()
		hits, err := c.Query(t.Context(), &qdrant.QueryPoints{
			CollectionName: name, Query: qdrant.NewQueryDense(v), Using: qdrant.PtrOf("doc"), Limit: qdrant.PtrOf(uint64(k)), Params: params,
		})
		if err != nil {
			t.Fatal(err)
		}
		ids := make(map[uint64]bool)
		for _, h := range hits {
			ids[h.Id.GetNum()] = true
		}
		return ids
	}
	rescore := &qdrant.QuantizationSearchParams{Rescore: qdrant.PtrOf(true), Oversampling: qdrant.PtrOf(4.0)}
	recall := make(map[string]int)
	for range queries {
		v := random()
		exact := search(v, &qdrant.SearchParams{Exact: qdrant.PtrOf(true)})
		for setting, params := range map[string]*qdrant.SearchParams{
			"ef 4":   {HnswEf: qdrant.PtrOf(uint64(4)), Quantization: rescore},
			"ef 400": {HnswEf: qdrant.PtrOf(uint64(400)), Quantization: rescore},
		} {
			for id := range search(v, params) {
				if exact[id] {
					recall[setting]++
				}
			}
		}
	}
	t.Logf("of %d, found by HNSW: %v", queries*k, recall)
	if recall["ef 400"] < queries*k*98/100 {
		t.Errorf("HNSW with ef 400 finds %d of %d", recall["ef 400"], queries*k)
	}
	if recall["ef 4"] >= recall["ef 400"] {
		t.Errorf("HNSW finds %d of %d with ef 4 and %d with ef 400: want fewer, or the graph is not used", recall["ef 4"], queries*k, recall["ef 400"])
	}
}

// TestSettingsAreKept reads back what a collection was created with and what
// was changed later.
func TestSettingsAreKept(t *testing.T) {
	c, name := Client(t, Shared(t)), Collection(t)
	err := c.CreateCollection(t.Context(), &qdrant.CreateCollection{
		CollectionName: name,
		VectorsConfig: qdrant.NewVectorsConfigMap(map[string]*qdrant.VectorParams{"doc": {Size: 4, Distance: qdrant.Distance_Cosine,
			Datatype: qdrant.Datatype_Float16.Enum(), OnDisk: qdrant.PtrOf(true)}}),
		SparseVectorsConfig: qdrant.NewSparseVectorsConfig(map[string]*qdrant.SparseVectorParams{"text": {Modifier: qdrant.Modifier_Idf.Enum()}}),
		Metadata:            qdrant.NewValueMap(map[string]any{"maker": "a", "kept": int64(1 << 60)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	err = c.UpdateCollection(t.Context(), &qdrant.UpdateCollection{
		CollectionName: name, Metadata: qdrant.NewValueMap(map[string]any{"maker": "b"}),
		HnswConfig: &qdrant.HnswConfigDiff{EfConstruct: qdrant.PtrOf(uint64(200))},
	})
	if err != nil {
		t.Fatal(err)
	}
	for field, params := range map[string]*qdrant.CreateFieldIndexCollection{
		"tenant": {FieldType: qdrant.FieldType_FieldTypeKeyword.Enum(),
			FieldIndexParams: qdrant.NewPayloadIndexParamsKeyword(&qdrant.KeywordIndexParams{IsTenant: qdrant.PtrOf(true)})},
		"n": {FieldType: qdrant.FieldType_FieldTypeInteger.Enum()},
	} {
		params.CollectionName, params.FieldName, params.Wait = name, field, qdrant.PtrOf(true)
		if _, err := c.CreateFieldIndex(t.Context(), params); err != nil {
			t.Fatal(err)
		}
	}
	info, err := c.GetCollectionInfo(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	doc := info.Config.Params.VectorsConfig.GetParamsMap().Map["doc"]
	got := fmt.Sprintln(doc.Size, doc.GetDatatype(), doc.GetOnDisk(), info.Config.Params.SparseVectorsConfig.Map["text"].GetModifier(),
		info.Config.HnswConfig.GetM(), info.Config.HnswConfig.GetEfConstruct(),
		info.Config.Metadata["maker"].GetStringValue(), info.Config.Metadata["kept"].GetIntegerValue(),
		info.PayloadSchema["tenant"].DataType, info.PayloadSchema["tenant"].Params.GetKeywordIndexParams().GetIsTenant(), info.PayloadSchema["n"].DataType)
	want := fmt.Sprintln(4, "Float16", true, "Idf", 16, 200, "b", 1<<60, "Keyword", true, "Integer")
	if got != want {
		t.Errorf("the collection is described as\n%swant\n%s", got, want)
	}
}

// TestStrictMode has filters on fields without an index refused.
func TestStrictMode(t *testing.T) {
	c, name := Client(t, Shared(t)), Collection(t)
	fill(t, c, name, 4)
	err := c.UpdateCollection(t.Context(), &qdrant.UpdateCollection{CollectionName: name, StrictModeConfig: &qdrant.StrictModeConfig{
		Enabled: qdrant.PtrOf(true), UnindexedFilteringRetrieve: qdrant.PtrOf(false), UnindexedFilteringUpdate: qdrant.PtrOf(false)}})
	if err != nil {
		t.Fatal(err)
	}
	filter := &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchInt("n", 3)}}
	query := &qdrant.QueryPoints{CollectionName: name, Query: qdrant.NewQueryDense([]float32{1, 0, 0, 0}), Using: qdrant.PtrOf("doc"), Filter: filter}
	remove := &qdrant.DeletePoints{CollectionName: name, Points: qdrant.NewPointsSelectorFilter(filter), Wait: qdrant.PtrOf(true)}
	if _, err := c.Query(t.Context(), query); status.Code(err) != codes.InvalidArgument {
		t.Errorf("Query by a field without an index: %v, want InvalidArgument", err)
	}
	if _, err := c.Delete(t.Context(), remove); status.Code(err) != codes.InvalidArgument {
		t.Errorf("Delete by a field without an index: %v, want InvalidArgument", err)
	}
	_, err = c.CreateFieldIndex(t.Context(), &qdrant.CreateFieldIndexCollection{CollectionName: name, FieldName: "n",
		FieldType: qdrant.FieldType_FieldTypeInteger.Enum(), Wait: qdrant.PtrOf(true)})
	if err != nil {
		t.Fatal(err)
	}
	if hits, err := c.Query(t.Context(), query); err != nil || len(hits) != 1 || hits[0].Id.GetNum() != 3 {
		t.Errorf("Query by a field with an index = %v, %v, want the point", hits, err)
	}
	if _, err := c.Delete(t.Context(), remove); err != nil {
		t.Errorf("Delete by a field with an index: %v", err)
	}
	if n := count(t, c, name); n != 3 {
		t.Errorf("%d points are left, want 3", n)
	}
}

// TestConditionalUpsert replaces only the points that a filter matches, and
// adds without replacing.
func TestConditionalUpsert(t *testing.T) {
	c, name := Client(t, Shared(t)), Collection(t)
	fill(t, c, name, 4) // n is the id
	points := func(from, to int) []*qdrant.PointStruct {
		var out []*qdrant.PointStruct
		for i := from; i < to; i++ {
			out = append(out, &qdrant.PointStruct{Id: qdrant.NewIDNum(uint64(i)), Payload: qdrant.NewValueMap(map[string]any{"n": 100 + i}),
				Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{"doc": qdrant.NewVectorDense([]float32{1, 0, 0, 0})})})
		}
		return out
	}
	below := &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewRange("n", &qdrant.Range{Lt: qdrant.PtrOf(2.0)})}}
	for _, u := range []*qdrant.UpsertPoints{
		{Points: points(0, 5), UpdateFilter: below},
		{Points: points(2, 6), UpdateMode: qdrant.UpdateMode_InsertOnly.Enum()},
	} {
		u.CollectionName, u.Wait = name, qdrant.PtrOf(true)
		if _, err := c.Upsert(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	found, err := c.Scroll(t.Context(), &qdrant.ScrollPoints{CollectionName: name, Limit: qdrant.PtrOf(uint32(10)), WithPayload: qdrant.NewWithPayload(true)})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, p := range found {
		got = append(got, p.Payload["n"].GetIntegerValue())
	}
	if d := cmp.Diff([]int64{100, 101, 2, 3, 104, 105}, got); d != "" {
		t.Errorf("want -, got +:\n%s", d)
	}
}
