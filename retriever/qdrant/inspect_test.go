package qdrant

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
)

// inspected opens a new collection with two landmarks a point and three documents
// of one, two and three points.
func inspected(t *testing.T) (*Store, *pb.Client) {
	t.Helper()
	address := qdranttest.Shared(t)
	s, err := Open(t.Context(), address, qdranttest.Collection(t), &Options{
		Create: true, Fingerprint: retriever.Fingerprint{Model: "test", Dim: 4}, Tenant: "acme", Layout: Layout{PartLandmarks: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	var docs []retriever.Document
	for n := 1; n <= 3; n++ {
		d := retriever.Document{ID: fmt.Sprintf("d%d", n), Hash: "h", Text: strings.Repeat("xy", n), Vector: []float32{1, 0, 0, 0}, Metadata: map[string]any{"lang": "go", "n": int64(n)}}
		for i := range 2 * n {
			r := chunker.Range{Start: i, End: i + 1}
			d.Chunks = append(d.Chunks, retriever.Chunk{Text: r, Source: r, Vector: []float32{1, 0, 0, 0}, Norm: 1})
		}
		docs = append(docs, d)
	}
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	return s, qdranttest.Client(t, address)
}

// findings are what Inspect found, by subject; what is wrong starts with "!".
func findings(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all, err := s.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, f := range all {
		out[f.Subject] = f.Detail
		if f.Hint != "" {
			out[f.Subject] = "!" + f.Detail + " -> " + f.Hint
		}
	}
	return out
}

func expect(t *testing.T, found map[string]string, subject string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(found[subject], part) {
			t.Errorf("%s: %q, want %q in it", subject, found[subject], part)
		}
	}
	for other, text := range found {
		if other != subject && strings.HasPrefix(text, "!") {
			t.Errorf("%s is wrong too: %s", other, text)
		}
	}
}

func TestInspectSound(t *testing.T) {
	s, _ := inspected(t)
	found := findings(t, s)
	expect(t, found, "points", "6, of 3 documents")
	expect(t, found, "settings", "4 dimensions in float16, up to 2 landmarks a point, 1 shards, status green")
	expect(t, found, "indexes", fmt.Sprintf("%d of the payload", len(fixedIndexes)+3)) // lang as keyword, n also as number
	expect(t, found, "server", s.address)
	if strings.Contains(found["server"], "key") {
		t.Errorf("there is no key: %q", found["server"])
	}
}

func TestInspectIndexes(t *testing.T) {
	s, client := inspected(t)
	for _, field := range []string{keyVersion, numberField("n")} {
		if _, err := client.DeleteFieldIndex(t.Context(), &pb.DeleteFieldIndexCollection{CollectionName: s.collection, FieldName: field, Wait: pb.PtrOf(true)}); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, findings(t, s), "indexes", "!payload indexes are missing: number.n, version", "waymark export")
}

// stray stores a later part of a document.
func stray(t *testing.T, s *Store, client *pb.Client, document, version string, part int, pending time.Time) {
	t.Helper()
	payload := map[string]*pb.Value{
		keyTenant: pb.NewValueString("acme"), keyDocument: pb.NewValueString(document), keyVersion: pb.NewValueString(version), keyPart: pb.NewValueInt(int64(part)),
	}
	if !pending.IsZero() {
		payload[keyPending] = pb.NewValueInt(pending.Unix())
	}
	put(t, client, s.collection, &pb.PointStruct{
		Id: partID("acme", document, version, part), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{}), Payload: payload,
	})
}

func put(t *testing.T, client *pb.Client, collection string, p *pb.PointStruct) {
	t.Helper()
	if _, err := client.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: collection, Wait: pb.PtrOf(true), Points: []*pb.PointStruct{p}}); err != nil {
		t.Fatal(err)
	}
}

func TestInspectPoints(t *testing.T) {
	s, client := inspected(t)
	// Of writers that may be at work: a new document, and a new version.
	stray(t, s, client, "d2", "new", 1, time.Now())
	stray(t, s, client, "d9", "new", 1, time.Now())
	expect(t, findings(t, s), "points", "8, of 3 documents; 2 of them are being written")
	// Left by writers that died: of a version that is gone, and of no document.
	stray(t, s, client, "d1", "old", 1, time.Time{})
	stray(t, s, client, "d8", "old", 1, time.Now().Add(-2*stale))
	expect(t, findings(t, s), "points", "!2 of 10 points belong to no document", "1h0m0s")

	// A point of somebody else.
	s, client = inspected(t)
	put(t, client, s.collection, &pb.PointStruct{Id: pb.NewIDNum(7), Vectors: pb.NewVectorsMap(map[string]*pb.Vector{}), Payload: map[string]*pb.Value{}})
	expect(t, findings(t, s), "points", "!1 points of the collection were not written by waymark")

	// A part that is lost.
	heads, err := s.readHeads(t.Context(), []string{"d3"}, keyVersion)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Delete(t.Context(), &pb.DeletePoints{
		CollectionName: s.collection, Wait: pb.PtrOf(true), Points: pb.NewPointsSelector(partID("acme", "d3", text(heads[0], keyVersion), 2)),
	}); err != nil {
		t.Fatal(err)
	}
	expect(t, findings(t, s), "points", `!1 documents lack some of their points, the first is "d3"`, "index again")
}

// Points of other tenants are not this one's.
func TestInspectTenant(t *testing.T) {
	s, _ := inspected(t)
	other, err := Open(t.Context(), s.address, s.collection, &Options{ReadOnly: true, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	found := findings(t, other)
	expect(t, found, "points", "0, of 0 documents")
	expect(t, found, "server", "the API key travels unencrypted")
}

func TestInspectSettings(t *testing.T) {
	s, client := inspected(t)
	name := qdranttest.Collection(t)
	req := s.createRequest()
	req.CollectionName = name
	vectors := req.GetVectorsConfig().GetParamsMap().GetMap()
	vectors[vectorDoc].Distance = pb.Distance_Cosine
	vectors[vectorPart].Size = 8
	vectors[vectorLandmarks].MultivectorConfig = nil
	req.GetSparseVectorsConfig().GetMap()[vectorText].Modifier = nil
	if err := client.CreateCollection(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, i := range fixedIndexes {
		if _, err := client.CreateFieldIndex(t.Context(), i.request(name)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := json.Marshal(description{formatVersion, 2, s.fingerprint})
	if err != nil {
		t.Fatal(err)
	}
	put(t, client, name, &pb.PointStruct{Id: collectionID, Vectors: pb.NewVectorsMap(map[string]*pb.Vector{}),
		Payload: map[string]*pb.Value{keyCollection: pb.NewValueString(string(d))}})
	wrong, err := Open(t.Context(), s.address, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	expect(t, findings(t, wrong), "settings", `!vectors "doc" are compared by Cosine, want Dot`, `vectors "part" have 8 dimensions, want 4`,
		`vectors "landmarks": multivector is false`, "no sparse vectors", "waymark export")
}
