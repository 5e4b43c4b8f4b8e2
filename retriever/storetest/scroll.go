package storetest

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func testScroll(t *testing.T, at Open) {
	s := create(t, at, 4)
	const n = 300
	var docs []retriever.Document
	var ids []string
	for i := range n {
		id := fmt.Sprintf("doc %d", i*7919%n)
		ids = append(ids, id)
		docs = append(docs, with(document(id, axis(0), part{id, axis(0)}), map[string]any{"i": i}))
	}
	upsert(t, s, docs...)
	slices.Sort(ids)
	got, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "all", ids, got)
	if got, err = scroll(t.Context(), s, where("i", retriever.Lt, 150)); err != nil || len(got) != 150 || !slices.IsSorted(got) {
		t.Errorf("by filter: %d documents, %v, want 150 in order", len(got), err)
	}
	for d, err := range s.Scroll(t.Context(), where("i", retriever.Eq, 17), all) {
		if err != nil {
			t.Fatal(err)
		}
		wantDiff(t, "a document with all parts", docs[17].Chunks, d.Chunks)
	}
	var unknown *retriever.UnknownKeyError
	if _, err := scroll(t.Context(), s, where("nosuch", retriever.Eq, "x")); !errors.As(err, &unknown) {
		t.Errorf("scrolling by an unknown key: %v, want an *UnknownKeyError", err)
	}
	if _, err := scroll(t.Context(), s, where("i", "about", 1)); err == nil {
		t.Error("scrolling by an unknown operation was not refused")
	}
	for range s.Scroll(t.Context(), retriever.Filter{}, all) {
		break // must not hang or leak
	}
}

func testScrollWhileWriting(t *testing.T, at Open) {
	s := create(t, at, 4)
	const n = 200
	var docs []retriever.Document
	for i := range n {
		docs = append(docs, document(fmt.Sprintf("%03d", i), axis(0), part{"x", axis(0)}))
	}
	upsert(t, s, docs...)
	seen := make(map[string]int)
	for d, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[d.ID]++; seen[d.ID] > 1 {
			t.Errorf("saw %q again", d.ID)
		}
		switch d.ID {
		case "010":
			if _, err := s.Delete(t.Context(), []string{"000", "199"}); err != nil {
				t.Fatal(err)
			}
		case "020":
			upsert(t, s, document("0", axis(0), part{"new", axis(0)}))
		}
	}
	for i := 1; i < n-1; i++ {
		if id := fmt.Sprintf("%03d", i); seen[id] == 0 {
			t.Errorf("did not see %q, which was there all the time", id)
		}
	}
}

// testScrollPages goes through more documents than any store returns at once.
func testScrollPages(t *testing.T, at Open) {
	s := create(t, at, 4)
	const n = 1500
	var docs []retriever.Document
	for i := range n {
		d := document(fmt.Sprintf("%04d", i*7919%n), axis(0), part{"first ", axis(0)}, part{"second", axis(1)})
		docs = append(docs, with(d, map[string]any{"i": int64(i), "third": i%3 == 0}))
	}
	upsert(t, s, docs...)
	slices.SortFunc(docs, func(a, b retriever.Document) int { return strings.Compare(a.ID, b.ID) })
	for _, test := range []struct {
		filter retriever.Filter
		want   retriever.Want
	}{
		{retriever.Filter{}, retriever.Want{}},
		{retriever.Filter{}, all},
		{where("third", retriever.Eq, true), retriever.Want{Text: true}},
		{where("i", retriever.Ne, 700), retriever.Want{}},
		{where("i", retriever.Gte, 1490), all},
		{where("i", retriever.Lt, 0), all},
	} {
		var got []retriever.Document
		for d, err := range s.Scroll(t.Context(), test.filter, test.want) {
			if err != nil {
				t.Fatalf("%+v with %+v: %v", test.filter, test.want, err)
			}
			got = append(got, d)
		}
		var want []retriever.Document
		for _, d := range docs {
			if !test.filter.Match(d.Metadata) {
				continue
			}
			if !test.want.Vectors {
				d.Vector, d.Chunks = nil, nil
			}
			if !test.want.Text {
				d.Text = ""
			}
			want = append(want, d)
		}
		wantDiff(t, fmt.Sprintf("%+v with %+v", test.filter, test.want), want, got)
	}

	// Two at once, and one that begins again.
	nextA, stopA := iter.Pull2(s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{}))
	defer stopA()
	nextB, stopB := iter.Pull2(s.Scroll(t.Context(), where("third", retriever.Eq, true), retriever.Want{}))
	defer stopB()
	var third []string
	for _, d := range docs {
		if d.Metadata["third"] == true {
			third = append(third, d.ID)
		}
	}
	for i := range docs {
		if d, err, ok := nextA(); !ok || err != nil || d.ID != docs[i].ID {
			t.Fatalf("of two at once, document %d of one is %q, %v, want %q", i, d.ID, err, docs[i].ID)
		}
		if i < len(third) {
			if d, err, ok := nextB(); !ok || err != nil || d.ID != third[i] {
				t.Fatalf("of two at once, document %d of the other is %q, %v, want %q", i, d.ID, err, third[i])
			}
		}
	}
	if _, _, ok := nextA(); ok {
		t.Error("there is more than all documents")
	}
	seq := s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{})
	for range 2 {
		var ids []string
		for d, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			if ids = append(ids, d.ID); len(ids) == 3 {
				break
			}
		}
		wantDiff(t, "the first three", []string{"0000", "0001", "0002"}, ids)
	}
}

// testScrollOrder has IDs whose order in bytes is no other order.
func testScrollOrder(t *testing.T, at Open) {
	s := create(t, at, 4)
	ids := []string{
		"!", "0", "1", "10", "2", "Z", "a", "a ", "a!", "a/b", "aa", "b", "z", "~", "É", "é", "ß", "ж", "א", "中",
		"\uff5e", "\U0001f600", // the other way round in UTF-16
	}
	docs := make([]retriever.Document, len(ids))
	for i, id := range ids {
		docs[len(ids)-1-i] = document(id, axis(0), part{"same", axis(0)})
	}
	upsert(t, s, docs...)
	slices.Sort(ids)
	got, err := scroll(t.Context(), s, retriever.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, "Scroll", ids, got)
	c := candidates(t, s, retriever.Query{Vector: axis(0), Limit: 100})
	got = nil
	for _, c := range c.Dense {
		got = append(got, c.Document)
	}
	wantDiff(t, "equal candidates", ids, got)
}
