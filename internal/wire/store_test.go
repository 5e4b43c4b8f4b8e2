package wire

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/qdrant"
)

func noEnv(string) string { return "" }

// at is the configuration with its store elsewhere; a server that is not there is
// not waited for.
func at(store string) configs.Config {
	cfg := configs.Default()
	cfg.Store = store
	cfg.Qdrant.RetryFor = 0
	return cfg
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Every setting reaches the option of its name.
func TestQdrantOptions(t *testing.T) {
	c := configs.Qdrant{
		APIKeyEnv: "KEY", Timeout: time.Second, RetryFor: 2 * time.Second,
		Exact: true, Candidates: 3, HNSWEf: 4, Oversampling: 5, PartLandmarks: 6, Float32: true, Quantization: "binary", OnDisk: true,
		HNSWM: 7, HNSWEfConstruct: 8, Shards: 9, Replicas: 10, WriteConsistency: 11, ShardPerTenant: true, Strict: true,
	}
	want := qdrant.Options{
		Tenant: "acme", APIKey: "secret", TLS: true, Timeout: time.Second, RetryFor: 2 * time.Second,
		Search: qdrant.Search{Exact: true, Candidates: 3, HNSWEf: 4, Oversampling: 5},
		Layout: qdrant.Layout{PartLandmarks: 6, Float32: true, Quantization: qdrant.Binary, OnDisk: true, HNSWM: 7, HNSWEfConstruct: 8,
			Shards: 9, Replicas: 10, WriteConsistency: 11, ShardPerTenant: true, Strict: true},
	}
	getenv := func(name string) string { return map[string]string{"KEY": "secret"}[name] }
	got, err := qdrantOptions(c, configs.Place{Kind: configs.KindQdrant, TLS: true, Tenant: "acme"}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, part := range []any{got.Search, got.Layout} {
		for v, i := reflect.ValueOf(part), 0; i < v.NumField(); i++ {
			if v.Field(i).IsZero() {
				t.Errorf("%s.%s is not set from the configuration", v.Type(), v.Type().Field(i).Name)
			}
		}
	}

	// The default leaves all but the times to the package, and 0 for the retries is
	// none at all.
	got, err = qdrantOptions(configs.Default().Qdrant, configs.Place{}, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(qdrant.Options{Timeout: time.Minute, RetryFor: 30 * time.Second}, got); diff != "" {
		t.Errorf("default (-want +got):\n%s", diff)
	}
	if got, err := qdrantOptions(configs.Qdrant{}, configs.Place{}, noEnv); err != nil || got.RetryFor >= 0 {
		t.Errorf("retry_for 0 became %v, error %v", got.RetryFor, err)
	}
}

// What is wrong with files is said before anything is dialled, and without what they
// hold.
func TestChecksBeforeDialling(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Error("the server was dialled")
			conn.Close()
		}
	}()
	for _, test := range []struct {
		name   string
		change func(*configs.Config)
		want   string
	}{
		{"key file", func(c *configs.Config) { c.Qdrant.APIKeyFile = "no/such" }, "qdrant.api_key_file: open no/such"},
		{"empty key file", func(c *configs.Config) { c.Qdrant.APIKeyFile = writeFile(t, " \n") }, "is empty: want the key in it"},
		{"no certificates", func(c *configs.Config) {
			c.Store = "qdrants://" + l.Addr().String() + "/docs"
			c.Qdrant.CAFile = writeFile(t, "hunter2")
		}, "qdrant.ca_file: "},
		{"model", func(c *configs.Config) { c.Model.Path = "no-such-model" }, `model "no-such-model"`},
		{"language model's key", func(c *configs.Config) { c.LLM.APIKeyFile = "no/such" }, "llm.api_key_file"},
		{"collection", func(c *configs.Config) { c.Store += "*" }, `collection name "docs*"`},
		{"layout", func(c *configs.Config) { c.Qdrant.PartLandmarks = 65 }, "65 landmarks a part: want 1 to 64"},
	} {
		cfg := at("qdrant://" + l.Addr().String() + "/docs")
		test.change(&cfg)
		for _, access := range []Access{Read, Plan} {
			_, err := Open(t.Context(), cfg, access, noEnv, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want %q", test.name, err, test.want)
			} else if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: the error shows what the file holds: %v", test.name, err)
			}
		}
	}
}

func TestErrorsOfStores(t *testing.T) {
	shared := qdranttest.Shared(t)
	keyed := qdranttest.StartWith(t, qdranttest.Options{APIKey: "secret", TLS: true})
	ca := writeFile(t, string(keyed.RootCAs))
	print := retriever.Fingerprint{Model: "one", Dim: 4}
	collection := qdranttest.Collection(t)
	s, err := CreateStore(t.Context(), at("qdrant://"+shared+"/"+collection), print, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if s.Fingerprint() != print {
		t.Errorf("the store keeps %+v, want %+v", s.Fingerprint(), print)
	}
	s.Close()

	withKey := func(key string) configs.Config {
		cfg := at("qdrants://" + keyed.Address + "/docs")
		cfg.Qdrant.CAFile = ca
		cfg.Qdrant.APIKeyFile = writeFile(t, key+"\n")
		return cfg
	}
	noTrust := withKey("secret")
	noTrust.Qdrant.CAFile = ""
	tenant := at("local:" + filepath.Join(t.TempDir(), "a.db"))
	tenant.Tenant = "acme"
	read := func(cfg configs.Config) (retriever.FingerprintedStore, error) {
		return OpenStore(t.Context(), cfg, noEnv)
	}
	for _, test := range []struct {
		name string
		open func() (retriever.FingerprintedStore, error)
		want error
		text string
	}{
		{"no file", func() (retriever.FingerprintedStore, error) { return read(at("local:no/such.db")) }, retriever.ErrNotFound, "local:no/such.db"},
		{"no tenant", func() (retriever.FingerprintedStore, error) { return read(tenant) }, retriever.ErrNotFound, `has no tenant "acme"`},
		{"no collection", func() (retriever.FingerprintedStore, error) { return read(at("qdrant://" + shared + "/none")) }, retriever.ErrNotFound, `no collection "none"`},
		{"nobody listens", func() (retriever.FingerprintedStore, error) { return read(at("qdrant://127.0.0.1:1/docs")) }, retriever.ErrUnreachable, "127.0.0.1:1"},
		{"wrong key", func() (retriever.FingerprintedStore, error) { return read(withKey("hunter2")) }, retriever.ErrDenied, keyed.Address},
		{"right key", func() (retriever.FingerprintedStore, error) { return read(withKey("secret")) }, retriever.ErrNotFound, `no collection "docs"`},
		{"unknown certificate", func() (retriever.FingerprintedStore, error) { return read(noTrust) }, retriever.ErrUnreachable, "certificate"},
		{"TLS server without TLS", func() (retriever.FingerprintedStore, error) { return read(at("qdrant://" + keyed.Address + "/docs")) }, retriever.ErrUnreachable, keyed.Address},
	} {
		s, err := test.open()
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: error %v, want %v and %q", test.name, err, test.want, test.text)
		} else if s != nil {
			t.Errorf("%s: a store comes with the error", test.name)
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows a key: %v", test.name, err)
		}
	}
	other := print
	other.Model = "two"
	var mismatch *retriever.MismatchError
	if _, err := CreateStore(t.Context(), at("qdrant://"+shared+"/"+collection), other, noEnv); !errors.As(err, &mismatch) || mismatch.Have != print {
		t.Errorf("another model's collection: error %v", err)
	}
}

// Documents go from a file to Qdrant and back, to another tenant and to another
// layout, and are the same everywhere.
func TestCopyEverywhere(t *testing.T) {
	dir, server := t.TempDir(), "qdrant://"+qdranttest.Shared(t)+"/"
	print := retriever.Fingerprint{Model: "one", Dim: 2}
	open := func(cfg configs.Config) retriever.FingerprintedStore {
		t.Helper()
		s, err := CreateStore(t.Context(), cfg, print, noEnv)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	// 0.6 and 0.8 are not exact in 16 bits.
	a, b := []float32{0.6, 0.8}, []float32{-0.8, 0.6}
	chunk := func(start, end int, v []float32) retriever.Chunk {
		r := chunker.Range{Start: start, End: end}
		return retriever.Chunk{Text: r, Source: chunker.Range{Start: start + 3, End: end + 3}, Lines: retriever.Lines{First: 1, Last: 4},
			Tokens: 5, Headings: []string{"One", "Größe"}, Vector: v, Norm: 1.25}
	}
	docs := []retriever.Document{
		{ID: "a/b.md", Title: "A", Hash: "h1", Text: "one two", Vector: a, Chunks: []retriever.Chunk{chunk(0, 4, a), chunk(4, 7, b)},
			Metadata: map[string]any{"lang": "go", "tags": []string{"x", "y"}, "n": int64(1) << 60, "f": 0.1, "ok": true}},
		{ID: "empty", Hash: "h2", Vector: b},
		{ID: "long", Hash: "h3", Text: strings.Repeat("日", 150), Vector: b},
	}
	for i := range 150 {
		docs[2].Chunks = append(docs[2].Chunks, chunk(3*i, 3*i+3, [][]float32{a, b}[i%2]))
	}
	first := open(at("local:" + filepath.Join(dir, "a.db")))
	if err := first.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	parts := at(server + qdranttest.Collection(t) + "?tenant=x")
	parts.Qdrant.PartLandmarks = 64
	otherTenant := parts
	otherTenant.Store = strings.Replace(parts.Store, "=x", "=y", 1)
	tenantFile := at("local:" + filepath.Join(dir, "a.db"))
	tenantFile.Tenant = "acme"
	from := first
	for _, cfg := range []configs.Config{
		at("local:" + filepath.Join(dir, "b.db")), parts, otherTenant, at(server + qdranttest.Collection(t)), tenantFile,
	} {
		to := open(cfg)
		for round, want := range []retriever.CopyReport{{Documents: 3, Copied: 3, Chunks: 152}, {Documents: 3, Unchanged: 3}} {
			got, err := retriever.Copy(t.Context(), from, to, retriever.CopyOptions{})
			if err != nil {
				t.Fatalf("to %s: %v", cfg.Store, err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(retriever.CopyReport{}, "Elapsed")); diff != "" {
				t.Errorf("to %s, round %d (-want +got):\n%s", cfg.Store, round, diff)
			}
		}
		from = to
	}
	// Both keep 16 bits of a number, so that even the vectors are the same.
	if diff := cmp.Diff(everything(t, first), everything(t, from)); diff != "" {
		t.Errorf("after five copies (-first +last):\n%s", diff)
	}
	if n := len(everything(t, from)); n != len(docs) {
		t.Errorf("%d documents, want %d", n, len(docs))
	}
}

func everything(t *testing.T, s retriever.Store) []retriever.Document {
	t.Helper()
	var out []retriever.Document
	for doc, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, doc)
	}
	return out
}

// Only a store that is not there counts as empty.
func TestPlan(t *testing.T) {
	_, err := Open(t.Context(), at("qdrant://127.0.0.1:1/docs"), Plan, noEnv, slog.New(slog.DiscardHandler))
	if !errors.Is(err, retriever.ErrUnreachable) {
		t.Errorf("error %v, want ErrUnreachable", err)
	}
}
