package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func testDelete(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	n, err := s.Delete(t.Context(), []string{"b", "nosuch", "d", "b"})
	if n != 2 || err != nil {
		t.Errorf("Delete = %d, %v, want 2", n, err)
	}
	check := func(s retriever.Store) {
		t.Helper()
		ids, err := scroll(t.Context(), s, retriever.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		wantDiff(t, "left", []string{"a", "c", "e", "f"}, ids)
		if docs, chunks := stats(t, s); docs != 4 || chunks != 4 {
			t.Errorf("the store holds %d documents with %d chunks, want 4 with 4", docs, chunks)
		}
		c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "letter"})
		if len(c.Dense) != 4 || len(c.Lexical) != 4 {
			t.Errorf("found %q and %q, want 4 each", places(c.Dense), places(c.Lexical))
		}
	}
	check(s)
	check(reopen(t, at, s))
}

func testDeleteWhere(t *testing.T, at Open) {
	s := create(t, at, 4)
	letters(t, s)
	if _, err := s.DeleteWhere(t.Context(), retriever.Filter{}); err == nil {
		t.Error("deleting by an empty filter was not refused")
	}
	var unknown *retriever.UnknownKeyError
	if _, err := s.DeleteWhere(t.Context(), where("nosuch", retriever.Ne, "x")); !errors.As(err, &unknown) {
		t.Errorf("deleting by an unknown key: %v, want an *UnknownKeyError", err)
	}
	if _, err := s.DeleteWhere(t.Context(), where("n", "about", 1)); err == nil {
		t.Error("deleting by an unknown operation was not refused")
	}
	if docs, _ := stats(t, s); docs != 6 {
		t.Fatalf("refused deletes left %d documents of 6", docs)
	}
	if n, err := s.DeleteWhere(t.Context(), where("even", retriever.Eq, true)); n != 3 || err != nil {
		t.Errorf("DeleteWhere = %d, %v, want 3", n, err)
	}
	ids, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "left", []string{"b", "d", "f"}, ids)
	if n, err := s.DeleteWhere(t.Context(), where("even", retriever.Eq, true)); n != 0 || err != nil {
		t.Errorf("the second time DeleteWhere = %d, %v, want 0", n, err)
	}
}

// testDeleteEverything empties a store, twice, and fills it again.
func testDeleteEverything(t *testing.T, at Open) {
	s := create(t, at, 4)
	everything := map[string]func() (int, error){
		"DeleteWhere": func() (int, error) { return s.DeleteWhere(t.Context(), where("n", retriever.Exists, true)) },
		"Delete":      func() (int, error) { return s.Delete(t.Context(), []string{"a", "b", "c", "d", "e", "f"}) },
	}
	for name, remove := range everything {
		letters(t, s)
		for i, want := range []int{6, 0} {
			if n, err := remove(); n != want || err != nil {
				t.Errorf("%s, time %d: %d, %v, want %d", name, i+1, n, err, want)
			}
			c := candidates(t, s, retriever.Query{Vector: axis(0), Words: "letter", Filter: where("n", retriever.Eq, 1)})
			if len(c.Dense)+len(c.Lexical) != 0 {
				t.Errorf("after %s there are found %v", name, c)
			}
			if docs := fetch(t, s, all, "a", "f"); len(docs) != 0 {
				t.Errorf("after %s there are %v", name, docs)
			}
			if ids, err := scroll(t.Context(), s, retriever.Filter{}); len(ids) != 0 || err != nil {
				t.Errorf("after %s there are %q, %v", name, ids, err)
			}
			if docs, chunks := stats(t, s); docs != 0 || chunks != 0 {
				t.Errorf("after %s the store holds %d documents with %d chunks", name, docs, chunks)
			}
		}
	}
	letters(t, s)
	s = reopen(t, at, s)
	if docs, chunks := stats(t, s); docs != 6 || chunks != 6 {
		t.Errorf("filled again, the store holds %d documents with %d chunks, want 6 with 6", docs, chunks)
	}
}

// testDeleteMany names more documents than any store deletes at once, of which
// every other is there.
func testDeleteMany(t *testing.T, at Open) {
	s := create(t, at, 4)
	const n = 1200
	var docs []retriever.Document
	var gone, left []string
	for i := range n {
		id := fmt.Sprintf("%04d", i)
		if i%2 == 0 {
			docs = append(docs, document(id, axis(0), part{"even ", axis(0)}, part{"word", axis(1)}))
		}
		switch {
		case i%6 != 0:
			gone = append(gone, id)
		default:
			left = append(left, id)
		}
	}
	upsert(t, s, docs...)
	if deleted, err := s.Delete(t.Context(), append(gone, gone[:100]...)); deleted != 400 || err != nil {
		t.Errorf("Delete = %d, %v, want 400", deleted, err)
	}
	ids, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "left", left, ids)
	if docs, chunks := stats(t, s); docs != len(left) || chunks != 2*len(left) {
		t.Errorf("the store holds %d documents with %d chunks, want %d with %d", docs, chunks, len(left), 2*len(left))
	}
	for _, none := range [][]string{nil, {"nosuch"}, {""}} {
		if deleted, err := s.Delete(t.Context(), none); deleted != 0 || err != nil {
			t.Errorf("Delete(%q) = %d, %v, want 0", none, deleted, err)
		}
	}
}

// testDeleteWhereExact deletes what Filter.Match matches and nothing beside it.
func testDeleteWhereExact(t *testing.T, at Open) {
	s := create(t, at, 4)
	docs := tagged(
		map[string]any{"v": exact}, map[string]any{"v": exact + 1}, map[string]any{"v": float64(exact)}, map[string]any{"v": "text"},
		map[string]any{"v": "Text"}, map[string]any{"v": "a text of more words"}, map[string]any{"v": []string{"text", "x"}},
		map[string]any{"v": []string{"texts"}}, map[string]any{"v": true}, map[string]any{"v": "true"}, map[string]any{"v": 2.5},
		map[string]any{"v": int64(2)}, map[string]any{"w": "x"}, nil,
	)
	upsert(t, s, docs...)
	for _, f := range []retriever.Filter{
		where("v", retriever.Eq, exact+1),
		where("v", retriever.Eq, exact),
		where("v", retriever.Eq, true),
		where("v", retriever.Contains, "of more"),
		where("v", retriever.Prefix, "texts"),
		where("v", retriever.In, []any{2, "text"}),
		{All: []retriever.Condition{{Key: "v", Op: retriever.Exists, Value: false}, {Key: "w", Op: retriever.Exists, Value: true}}},
		where("v", retriever.Ne, "Text"),
	} {
		var left []retriever.Document
		for _, d := range docs {
			if !f.Match(d.Metadata) {
				left = append(left, d)
			}
		}
		if n, err := s.DeleteWhere(t.Context(), f); n != len(docs)-len(left) || err != nil {
			t.Errorf("DeleteWhere(%v) = %d, %v, want %d", f, n, err, len(docs)-len(left))
		}
		docs = left
		checkFilter(t, s, docs)
	}
}
