package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waymark-rag/waymark/retriever"
)

// Which share a document falls into must never change: processes of two versions
// may work on one set, and what is missing is removed by the share.
func TestShardIsStable(t *testing.T) {
	for id, want := range map[string]int{"": 5, "a.md": 6, "docs/guide/chunking.md": 3, "日本.txt": 7} {
		var in []int
		for n := 1; n <= 8; n++ {
			if (Shard{n, 8}).Has(id) {
				in = append(in, n)
			}
		}
		if !slices.Equal(in, []int{want}) {
			t.Errorf("%q is in the shares %v of 8, want %d alone", id, in, want)
		}
		if !(Shard{}).Has(id) || !(Shard{1, 1}).Has(id) {
			t.Errorf("%q is not in the whole", id)
		}
	}
}

func TestShardsAreAlike(t *testing.T) {
	const ids, shards = 8000, 8
	counts := make([]int, shards)
	for i := range ids {
		for n := range shards {
			if (Shard{n + 1, shards}).Has(fmt.Sprintf("page-%04d.md", 2*i)) {
				counts[n]++
			}
		}
	}
	for n, got := range counts {
		if got < 900 || got > 1100 {
			t.Errorf("share %d of %d has %d of %d documents", n+1, shards, got, ids)
		}
	}
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"1/1": {1, 1}, "2/8": {2, 8}, "8/8": {8, 8}} {
		got, err := ParseShard(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: %+v, written %q, error %v", text, got, got, err)
		}
	}
	for _, text := range []string{"", "2", "/", "0/8", "9/8", "-1/8", "1/0", "a/b", "1/8/2", "1.5/8"} {
		if got, err := ParseShard(text); err == nil || !strings.Contains(err.Error(), "1/8") {
			t.Errorf("%q: %+v, error %v, want one with an example", text, got, err)
		}
	}
	b := newBench(t)
	if _, err := b.Index(t.Context(), []string{b.dir}, IndexOptions{Shard: Shard{3, 2}}); err == nil || !strings.Contains(err.Error(), "shard 3 of 2") {
		t.Errorf("shard 3 of 2: error %v", err)
	}
}

// Three shares that are indexed at once give what one run gives, also when files
// change and go.
func TestShardsTogetherAreOneRun(t *testing.T) {
	whole, shared := newBench(t), newBench(t)
	shared.dir = whole.dir
	for i := range 40 {
		whole.write(fmt.Sprintf("d%d/%02d.txt", i%3, i), fmt.Sprintf("document number %d about word%d", i, i))
	}
	whole.write("empty.txt", "")
	whole.write("zero/blank.txt", "  \n")

	index := func() (want, got Report) {
		t.Helper()
		want, err := whole.Index(t.Context(), []string{whole.dir}, IndexOptions{})
		if err != nil {
			t.Fatal(err)
		}
		reports := make([]Report, 3)
		errs := make([]error, 3)
		var all sync.WaitGroup
		for n := range 3 {
			all.Go(func() {
				reports[n], errs[n] = shared.Index(t.Context(), []string{whole.dir}, IndexOptions{Shard: Shard{n + 1, 3}})
			})
		}
		all.Wait()
		for n, r := range reports {
			if errs[n] != nil {
				t.Fatal(errs[n])
			}
			got = got.Plus(r)
		}
		return want, got
	}
	check := func(step string, added, changed, unchanged, removed int) {
		t.Helper()
		want, got := index()
		if want.Added != added || want.Changed != changed || want.Unchanged != unchanged || want.Removed != removed {
			t.Fatalf("%s: %+v", step, want)
		}
		times := cmpopts.IgnoreFields(Report{}, "Elapsed", "Encoding")
		byPath := cmpopts.SortSlices(func(a, b Skipped) bool { return a.Path < b.Path })
		if diff := cmp.Diff(want, got, times, byPath); diff != "" {
			t.Errorf("%s: reports (-one run +shares):\n%s", step, diff)
		}
		if diff := cmp.Diff(contents(t, whole.Store), contents(t, shared.Store)); diff != "" {
			t.Errorf("%s: stores (-one run +shares):\n%s", step, diff)
		}
	}

	check("new", 40, 0, 0, 0)
	check("unchanged", 0, 0, 40, 0)
	for i := range 12 {
		if err := os.Remove(filepath.Join(whole.dir, fmt.Sprintf("d%d/%02d.txt", i%3, i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := 12; i < 20; i++ {
		whole.write(fmt.Sprintf("d%d/%02d.txt", i%3, i), fmt.Sprintf("another text %d", i))
	}
	check("changed and gone", 0, 8, 20, 12)
}

// A run on one share leaves the documents of the others, whose files are gone, to
// the runs on those.
func TestShardRemovesItsOwn(t *testing.T) {
	b := newBench(t)
	for i := range 20 {
		b.write(fmt.Sprintf("%02d.txt", i), fmt.Sprintf("document number %d", i))
	}
	b.index(IndexOptions{}, "20 added, 0 changed, 0 unchanged, 0 removed, 0 skipped")
	for i := range 20 {
		if err := os.Remove(filepath.Join(b.dir, fmt.Sprintf("%02d.txt", i))); err != nil {
			t.Fatal(err)
		}
	}
	var left int
	for i := range 20 {
		if !(Shard{2, 4}).Has(fmt.Sprintf("%02d.txt", i)) {
			left++
		}
	}
	b.index(IndexOptions{Shard: Shard{2, 4}, DryRun: true}, fmt.Sprintf("0 added, 0 changed, 0 unchanged, %d removed, 0 skipped", 20-left))
	b.index(IndexOptions{Shard: Shard{2, 4}}, fmt.Sprintf("0 added, 0 changed, 0 unchanged, %d removed, 0 skipped", 20-left))
	if stats, err := b.Store.Stats(t.Context()); err != nil || stats.Documents != left || left == 20 || left == 0 {
		t.Errorf("%d documents are left, error %v; want %d of 20", stats.Documents, err, left)
	}
}

// contents is all that a store holds.
func contents(t *testing.T, store retriever.Store) map[string]retriever.Document {
	t.Helper()
	out := map[string]retriever.Document{}
	for doc, err := range store.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out[doc.ID] = doc
	}
	return out
}
