//go:build cgo && onnx

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/internal/qdranttest"
)

// TestMain lets the test binary stand for the program.
func TestMain(m *testing.M) {
	if os.Getenv("WAYMARK_TEST_MAIN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestMigrates fills a collection as langchaingo's store does: one unnamed vector
// a point, the text under content beside the metadata.
func TestMigrates(t *testing.T) {
	library := os.Getenv("WAYMARK_ONNXRUNTIME")
	if library == "" {
		library = "../../.deps/lib"
	}
	address, from, to := qdranttest.Shared(t), qdranttest.Collection(t), qdranttest.Collection(t)
	client := qdranttest.Client(t, address)
	err := client.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName: from, VectorsConfig: pb.NewVectorsConfig(&pb.VectorParams{Size: 3, Distance: pb.Distance_Cosine}),
	})
	if err != nil {
		t.Fatal(err)
	}
	const ferry, lamp = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "a3c1d2e4-0000-4000-8000-000000000001"
	wait := true
	_, err = client.Upsert(t.Context(), &pb.UpsertPoints{CollectionName: from, Wait: &wait, Points: []*pb.PointStruct{
		{Id: pb.NewIDUUID(ferry), Vectors: pb.NewVectors(1, 0, 0), Payload: pb.NewValueMap(map[string]any{"content": "The ferry leaves at seven in the morning.", "year": 2020})},
		{Id: pb.NewIDUUID(lamp), Vectors: pb.NewVectors(0, 1, 0), Payload: pb.NewValueMap(map[string]any{"content": "The lighthouse keeper cleans the lamp on Sundays."})},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it changes nothing
		cmd := exec.Command(os.Args[0], address, from, to, "When does the boat depart?")
		cmd.Env = append(os.Environ(), "WAYMARK_TEST_MAIN=1", "WAYMARK_ONNXRUNTIME="+library)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(lines) != 3 || lines[0] != "moved 2 documents" || !strings.HasSuffix(lines[1], ferry+` "The ferry leaves at seven in the morning."`) || !strings.Contains(lines[2], lamp) {
			t.Fatalf("%v, it said:\n%s", err, out)
		}
	}
}
