package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

// tenants are those of the tests: the one without a name is one like others.
var tenants = []string{"", "x", "y"}

// property makes the documents a, b and c as the nth tenant has them, with n+1
// chunks each: the same IDs and keys, other content.
func property(n int) []retriever.Document {
	var docs []retriever.Document
	for i, id := range []string{"a", "b", "c"} {
		var parts []part
		for c := range n + 1 {
			parts = append(parts, part{fmt.Sprintf("shared word, owner%d, chunk%d. ", n, c), axis(n)})
		}
		docs = append(docs, with(document(id, axis(n), parts...), map[string]any{"owner": int64(n), "i": int64(i)}))
	}
	return docs
}

// checkProperty looks with every call for what is the nth tenant's, and for
// what is others'.
func checkProperty(t *testing.T, s retriever.Store, n int, docs ...retriever.Document) {
	t.Helper()
	what := fmt.Sprintf("tenant %q: ", tenants[n])
	var ids, chunks []string
	for _, d := range docs {
		ids = append(ids, d.ID)
		for c := range d.Chunks {
			chunks = append(chunks, fmt.Sprintf("%s/%d", d.ID, c))
		}
	}
	wantDiff(t, what+"Fetch", docs, fetch(t, s, all, "a", "b", "c"))
	got, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Errorf("%sScroll: %v", what, err)
	}
	wantDiff(t, what+"Scroll", ids, got)
	if d, c := stats(t, s); d != len(docs) || c != len(chunks) {
		t.Errorf("%sit holds %d documents with %d chunks, want %d with %d", what, d, c, len(docs), len(chunks))
	}
	c := candidates(t, s, retriever.Query{Vector: axis(n), Words: "shared", Limit: 100})
	wantDiff(t, what+"dense candidates", chunks, places(c.Dense))
	wantDiff(t, what+"lexical candidates", chunks, places(c.Lexical))
	for _, c := range append(c.Dense, c.Lexical...) {
		if c.Score.Landmark < 1-tolerance || c.Score.Document < 1-tolerance {
			t.Errorf("%s%s/%d scores %+v: another tenant's vectors", what, c.Document, c.Chunk, c.Score)
		}
	}
	for other := range tenants {
		if other == n || len(docs) == 0 {
			continue
		}
		if c := candidates(t, s, retriever.Query{Words: fmt.Sprint("owner", other)}); len(c.Lexical) != 0 {
			t.Errorf("%sfound %q by a word of tenant %q", what, places(c.Lexical), tenants[other])
		}
		if ids, err := scroll(t.Context(), s, where("owner", retriever.Eq, other)); err != nil || len(ids) != 0 {
			t.Errorf("%sa filter finds %q of tenant %q, %v", what, ids, tenants[other], err)
		}
	}
}

// openTenants opens a store for each tenant, filled with its property.
func openTenants(t *testing.T, at Open) []retriever.Store {
	t.Helper()
	stores := make([]retriever.Store, len(tenants))
	for n, tenant := range tenants {
		stores[n] = open(t, at, tenant, made(4))
		upsert(t, stores[n], property(n)...)
	}
	return stores
}

func testTenants(t *testing.T, at Open) {
	stores := openTenants(t, at)
	for n, s := range stores {
		checkProperty(t, s, n, property(n)...)
	}
	changed := property(1)
	changed[0] = with(document("a", axis(1), part{"shared, but changed, owner1", axis(1)}), map[string]any{"owner": int64(1)})
	upsert(t, stores[1], changed[0])
	checkProperty(t, stores[0], 0, property(0)...)
	checkProperty(t, stores[1], 1, changed...)
	checkProperty(t, stores[2], 2, property(2)...)
	for n, tenant := range tenants {
		if err := stores[n].Close(); err != nil {
			t.Fatal(err)
		}
		want := property(n)
		if n == 1 {
			want = changed
		}
		checkProperty(t, open(t, at, tenant, retriever.Fingerprint{}), n, want...)
	}
}

func testTenantsDelete(t *testing.T, at Open) {
	stores := openTenants(t, at)
	upsert(t, stores[0], document("only", axis(0), part{"words of the first", axis(0)}))
	if n, err := stores[1].Delete(t.Context(), []string{"a", "only", "b"}); n != 2 || err != nil {
		t.Errorf("Delete = %d, %v, want the tenant's 2", n, err)
	}
	checkProperty(t, stores[1], 1, property(1)[2])
	checkProperty(t, stores[2], 2, property(2)...)
	if n, err := stores[2].DeleteWhere(t.Context(), where("i", retriever.Gte, 1)); n != 2 || err != nil {
		t.Errorf("DeleteWhere = %d, %v, want the tenant's 2", n, err)
	}
	if n, err := stores[2].DeleteWhere(t.Context(), where("owner", retriever.Ne, 2)); n != 0 || err != nil {
		t.Errorf("DeleteWhere of others' documents = %d, %v, want 0", n, err)
	}
	checkProperty(t, stores[2], 2, property(2)[0])
	checkProperty(t, stores[1], 1, property(1)[2])
	if n, err := stores[0].Delete(t.Context(), []string{"only"}); n != 1 || err != nil {
		t.Errorf("Delete = %d, %v, want 1: no other tenant deleted it", n, err)
	}
	checkProperty(t, stores[0], 0, property(0)...)
}

// testTenantsKeys holds that a key is known only to tenants that have it.
func testTenantsKeys(t *testing.T, at Open) {
	stores := openTenants(t, at)
	upsert(t, stores[2], with(document("d", axis(0), part{"text", axis(0)}), map[string]any{"secret": "x"}))
	filter := where("secret", retriever.Eq, "x")
	if ids, err := scroll(t.Context(), stores[2], filter); err != nil || len(ids) != 1 {
		t.Errorf("by a key of the tenant: %q, %v", ids, err)
	}
	q := retriever.Query{Vector: axis(0), Words: "shared", Limit: 5, Weights: retriever.Weights{Landmark: 1}, Filter: filter}
	_, errCandidates := stores[1].Candidates(t.Context(), q)
	_, errScroll := scroll(t.Context(), stores[1], filter)
	_, errDelete := stores[1].DeleteWhere(t.Context(), filter)
	for call, err := range map[string]error{"Candidates": errCandidates, "Scroll": errScroll, "DeleteWhere": errDelete} {
		var unknown *retriever.UnknownKeyError
		if !errors.As(err, &unknown) {
			t.Errorf("%s by another tenant's key: %v, want an *UnknownKeyError", call, err)
			continue
		}
		wantDiff(t, call, &retriever.UnknownKeyError{Key: "secret", Known: []string{"i", "owner"}}, unknown)
	}
	empty := open(t, at, "empty", made(4))
	if c, err := empty.Candidates(t.Context(), q); err != nil || len(c.Dense)+len(c.Lexical) != 0 {
		t.Errorf("a tenant without documents found %v, %v", c, err)
	}
}

// testTenantNames tries names that a store may use in paths, keys or queries.
func testTenantNames(t *testing.T, at Open) {
	names := []string{
		"acme", "ACME", "Acme", "acme ", " acme", "acme.", ".", "..", "../acme", "acme/sub", `acme\sub`, "acme-wal", "acme.lock", "acme.db",
		"%61cme", "%", "@", "a@b", "*", "?", "con", "NUL.txt", "'; DROP TABLE documents; --", `"`, "\n", "ключ", "日本", "é", "e\u0301", "🙂",
		strings.Repeat("long", 15),
	}
	for i, name := range names {
		s := open(t, at, name, made(4))
		upsert(t, s, document("same", axis(0), part{fmt.Sprint("text", i), axis(0)}))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range names {
		s := open(t, at, name, retriever.Fingerprint{})
		docs := fetch(t, s, retriever.Want{Text: true}, "same")
		if len(docs) != 1 || docs[0].Text != fmt.Sprint("text", i) {
			t.Errorf("tenant %q has %+v, want the document with text%d", name, docs, i)
		}
		if docs, _ := stats(t, s); docs != 1 {
			t.Errorf("tenant %q has %d documents, want 1", name, docs)
		}
	}
	for _, name := range []string{"\xff", "a\x00b"} {
		if s, err := at(name, made(4)); err == nil {
			s.Close()
			t.Errorf("tenant %q was not refused", name)
		}
	}
}
