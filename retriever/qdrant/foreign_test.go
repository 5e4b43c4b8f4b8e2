package qdrant

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/internal/qdranttest"
)

func TestPassages(t *testing.T) {
	address, name := qdranttest.Shared(t), qdranttest.Collection(t)
	client := qdranttest.Client(t, address)
	err := client.CreateCollection(t.Context(), &pb.CreateCollection{CollectionName: name, VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine})})
	if err != nil {
		t.Fatal(err)
	}
	const n = 2500 // more than a page
	var all []*pb.PointStruct
	for i := range n {
		all = append(all, &pb.PointStruct{Id: pb.NewIDNum(uint64(i)), Vectors: pb.NewVectors(1, 0), Payload: pb.NewValueMap(map[string]any{"content": "text"})})
	}
	all[7].Payload = pb.NewValueMap(map[string]any{"content": "seven", "s": "x", "i": 3, "f": 0.5, "b": true, "n": nil, "l": []any{"a", 1}, "m": map[string]any{"k": "v"}})
	if _, err := client.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: name, Wait: pb.PtrOf(true), Points: all}); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]Passage)
	for p, err := range Passages(t.Context(), address, name, "content", nil) {
		if err != nil {
			t.Fatal(err)
		}
		got[p.ID] = p
	}
	want := Passage{ID: "7", Text: "seven", Metadata: map[string]any{"s": "x", "i": int64(3), "f": 0.5, "b": true, "n": nil, "l": []any{"a", int64(1)}, "m": map[string]any{"k": "v"}}}
	if d := cmp.Diff(want, got["7"]); len(got) != n || d != "" {
		t.Errorf("%d passages, want %d; -want +got:\n%s", len(got), n, d)
	}
	last := func(collection, key string) (err error) {
		for _, err = range Passages(t.Context(), address, collection, key, nil) {
		}
		return err
	}
	wantError(t, "no such key", last(name, "text"), nil, `point 0 has no text under "text"`, name)
	wantError(t, "no such collection", last(name+"x", "content"), nil, name+"x")
	for range maps.Keys(got) {
		for range Passages(t.Context(), address, name, "content", nil) {
			break // must not hang
		}
		break
	}
}
