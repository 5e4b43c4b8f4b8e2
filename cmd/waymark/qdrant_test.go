package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

// The scripts in testdata/qdrant need no model: what they work on is in stores that
// are made here.
func TestQdrantScripts(t *testing.T) { runQdrantScripts(t, "testdata/qdrant") }

// runQdrantScripts runs scripts that find in their environment a Qdrant, two names
// of collections that it does not have yet, and another Qdrant with a key and TLS.
func runQdrantScripts(t *testing.T, dir string) {
	shared := qdranttest.Shared(t)
	keyed := qdranttest.StartWith(t, qdranttest.Options{APIKey: "sesame", TLS: true})
	runScripts(t, dir, func(env *testscript.Env) error {
		env.Setenv("QDRANT", "qdrant://"+shared)
		env.Setenv("COLLECTION", qdranttest.Collection(t))
		env.Setenv("COLLECTION2", qdranttest.Collection(t))
		env.Setenv("KEYED", keyed.Address)
		if err := os.WriteFile(filepath.Join(env.WorkDir, "ca.pem"), keyed.RootCAs, 0o666); err != nil {
			return err
		}
		if err := makeStore(t, filepath.Join(env.WorkDir, "a.db"), "one", 12); err != nil {
			return err
		}
		return makeStore(t, filepath.Join(env.WorkDir, "b.db"), "two", 1)
	})
}

// makeStore fills a store with documents of up to three chunks, whose vectors a
// model of the given name might have made.
func makeStore(t *testing.T, path, model string, documents int) error {
	s, err := local.Open(t.Context(), path, &local.Options{Create: true, Fingerprint: retriever.Fingerprint{Model: model, Dim: 2}})
	if err != nil {
		return err
	}
	defer s.Close()
	var docs []retriever.Document
	for i := range documents {
		d := retriever.Document{ID: fmt.Sprintf("%02d.md", i), Title: fmt.Sprintf("Page %d", i), Hash: fmt.Sprint("hash", i),
			Metadata: map[string]any{"format": []string{"markdown", "text"}[i%2], "n": int64(i), "tags": []string{"a", "b c"}}}
		var sum [2]float64
		for c := range 1 + i%3 {
			word := fmt.Sprintf("word%d ", i)
			angle := float64(i)/10 + float64(c)/7
			x, y := math.Cos(angle), math.Sin(angle)
			r := chunker.Range{Start: c * len(word), End: (c + 1) * len(word)}
			d.Chunks = append(d.Chunks, retriever.Chunk{Text: r, Source: r, Lines: retriever.Lines{First: 1, Last: 1}, Tokens: 2,
				Vector: []float32{float32(x), float32(y)}, Norm: 2})
			d.Text += word
			sum[0], sum[1] = sum[0]+x, sum[1]+y
		}
		length := math.Hypot(sum[0], sum[1])
		d.Vector = []float32{float32(sum[0] / length), float32(sum[1] / length)}
		docs = append(docs, d)
	}
	return s.Upsert(t.Context(), docs)
}

// The key of the server that is copied from is no business of the target's.
func TestExportKeepsTheKey(t *testing.T) {
	a := &app{store: "qdrants://one.example/docs", sets: []string{"qdrant.api_key_file=key"}}
	source, err := a.config()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		to       string
		sets     []string
		env, own string
	}{
		{"qdrants://two.example/docs", nil, "", ""},
		{"qdrants://one.example:6335/docs", nil, "", ""},
		{"qdrants://two.example/docs", []string{"qdrant.api_key_env=OTHER"}, "OTHER", ""},
		{"qdrants://one.example:6334/copy", nil, "WAYMARK_QDRANT_API_KEY", "key"},
	} {
		target, err := a.targetConfig(source, test.to, test.sets)
		if err != nil {
			t.Fatal(err)
		}
		if q := target.Qdrant; q.APIKeyEnv != test.env || q.APIKeyFile != test.own {
			t.Errorf("%s with %q: the key is taken from the variable %q and the file %q, want %q and %q", test.to, test.sets, q.APIKeyEnv, q.APIKeyFile, test.env, test.own)
		}
	}
}

// What is wrong inside a collection is found, each with what to do about it.
func TestDoctorLooksIntoCollections(t *testing.T) {
	address, collection := qdranttest.Shared(t), qdranttest.Collection(t)
	client := qdranttest.Client(t, address)
	store := "qdrant://" + address + "/" + collection
	path := filepath.Join(t.TempDir(), "a.db")
	if err := makeStore(t, path, "one", 12); err != nil {
		t.Fatal(err)
	}
	waymark := func(args ...string) (int, string) {
		var out strings.Builder
		code := run(t.Context(), args, program{stdout: &out, stderr: &out})
		return code, out.String()
	}
	if code, out := waymark("export", "--store", "local:"+path, "--to", store); code != exitDone {
		t.Fatalf("exit code %d: %s", code, out)
	}
	// An index that is gone, a point that a dead writer left, and a document whose
	// vector is another's.
	wait := true
	if _, err := client.DeleteFieldIndex(t.Context(), &qdrant.DeleteFieldIndexCollection{CollectionName: collection, FieldName: "document", Wait: &wait}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Upsert(t.Context(), &qdrant.UpsertPoints{CollectionName: collection, Wait: &wait, Points: []*qdrant.PointStruct{{
		Id: qdrant.NewIDNum(1), Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{}),
		Payload: qdrant.NewValueMap(map[string]any{"tenant": "", "document": "gone.md", "version": "old", "part": 1}),
	}}}); err != nil {
		t.Fatal(err)
	}
	points, err := client.Scroll(t.Context(), &qdrant.ScrollPoints{CollectionName: collection, Filter: &qdrant.Filter{
		Must: []*qdrant.Condition{qdrant.NewMatchKeyword("document", "03.md"), qdrant.NewMatchInt("part", 0)},
	}})
	if err != nil || len(points) != 1 {
		t.Fatalf("%d points, error %v", len(points), err)
	}
	if _, err := client.UpdateVectors(t.Context(), &qdrant.UpdatePointVectors{CollectionName: collection, Wait: &wait, Points: []*qdrant.PointVectors{{
		Id: points[0].Id, Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{"doc": qdrant.NewVectorDense([]float32{0, 1})}),
	}}}); err != nil {
		t.Fatal(err)
	}
	code, out := waymark("doctor", "--store", store)
	if code == exitDone {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"ok   settings    2 dimensions",
		"FAIL indexes     payload indexes are missing: document\n                 hint: without them filters are slow or refused",
		"FAIL points      1 of 25 points belong to no document",
		"                 hint: searches do not see them",
		`FAIL documents   1 of 12 are not consistent, the first: document "03.md": its vector has cosine`,
		"                 hint: the file or collection is damaged: index again into another place, with --store",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
}

// Whatever goes wrong with a server, no key is shown: not in what is printed, and
// not in the log that --verbose writes.
func TestKeysAreNotShown(t *testing.T) {
	keyed := qdranttest.StartWith(t, qdranttest.Options{APIKey: "sesame", TLS: true})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, keyed.RootCAs, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"search", "x"}, {"doctor", "--json"}, {"export", "--to", "local:" + filepath.Join(t.TempDir(), "x.db")},
	} {
		for _, key := range []string{"hunter2", "sesame"} {
			var out strings.Builder
			code := run(t.Context(), append(args, "--verbose", "--store", "qdrants://"+keyed.Address+"/docs", "--set", "qdrant.retry_for=0s", "--set", "qdrant.ca_file="+ca), program{
				stdout: &out, stderr: &out, environ: []string{"WAYMARK_QDRANT_API_KEY=" + key, "WAYMARK_ONNXRUNTIME=" + os.Getenv("WAYMARK_ONNXRUNTIME")},
			})
			want := exitUnreachable
			if key == "sesame" {
				want = exitNoStore
			}
			if code != want {
				t.Errorf("%v with the key %s: exit code %d, want %d: %s", args, key, code, want, &out)
			}
			if strings.Contains(out.String(), key) {
				t.Errorf("%v shows the key: %s", args, &out)
			}
		}
	}
}
