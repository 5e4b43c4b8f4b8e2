package qdrant

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"

	"github.com/waymark-rag/waymark/internal/qdranttest"
	"github.com/waymark-rag/waymark/retriever"
)

// TestWriterDies ends a writer before each of its calls in turn. Readers see the
// old version or the new one, whole. What else is left behind goes with the sweep,
// once it is clear that the writer is dead, or with the next version.
func TestWriterDies(t *testing.T) {
	for _, parts := range []int{7, 1} {
		for after, done := 0, false; !done; after++ {
			when := fmt.Sprintf("a writer of %d parts that dies after %d calls: ", parts, after)
			done = writerDies(t, when, after, map[string]int{"old": 9, "new": parts, "last": 3})
		}
	}
}

func writerDies(t *testing.T, when string, after int, chunks map[string]int) (done bool) {
	for _, swept := range []bool{true, false} {
		name := qdranttest.Collection(t)
		var d dying
		d.left.Store(math.MaxInt64)
		writer, reader := openTest(t, name, Options{Dial: d.dial()}), openTest(t, name, Options{})
		sweep := func() {
			t.Helper()
			reader.now = func() time.Time { return time.Now().Add(2 * stale) }
			if err := reader.sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			reader.now = time.Now
		}
		upsert(t, writer, lines("d", "old", chunks["old"]))
		d.left.Store(int64(after))
		done = writer.Upsert(t.Context(), []retriever.Document{lines("d", "new", chunks["new"])}) == nil

		got := whole(t, reader, when, chunks)
		if done {
			if got != "new" {
				t.Errorf("%sit is done, yet version %q is there", when, got)
			}
			wantPoints(t, reader, when+"it is done, and", chunks["new"])
		}
		if swept {
			sweep()
			wantPoints(t, reader, when+"swept", chunks[got])
			if now := whole(t, reader, when, chunks); now != got {
				t.Errorf("%sthe sweep makes %q of %q", when, now, got)
			}
		}
		upsert(t, reader, lines("d", "last", chunks["last"]))
		if got := whole(t, reader, when, chunks); got != "last" {
			t.Errorf("%sthe next writer's version is not there, but %q", when, got)
		}
		sweep()
		wantPoints(t, reader, when+"with the next version", chunks["last"])
		if n := marked(t, reader); n > 0 {
			t.Errorf("%s%d points are still marked", when, n)
		}
	}
	return done
}

// whole returns which version is there and checks that all of it is, in every
// way to read it.
func whole(t *testing.T, s *Store, when string, chunks map[string]int) string {
	t.Helper()
	docs, err := s.Fetch(t.Context(), []string{"d"}, retriever.Want{Text: true, Chunks: true})
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s%d documents, %v", when, len(docs), err)
	}
	name := docs[0].Hash
	want := lines("d", name, chunks[name])
	if docs[0].Text != want.Text || len(docs[0].Chunks) != len(want.Chunks) {
		t.Errorf("%sthe document is a mixture:\n%s", when, cmp.Diff(want.Text, docs[0].Text))
	}
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Documents != 1 || stats.Chunks != chunks[name] {
		t.Errorf("%sStats = %+v, %v, want one document of %d chunks", when, stats, err, chunks[name])
	}
	c, err := s.Candidates(t.Context(), retriever.Query{Vector: direction(1), Words: "old new last mine other", Limit: 50, Weights: retriever.Weights{Landmark: 1}})
	if err != nil || len(c.Dense) != chunks[name] || len(c.Lexical) != chunks[name] {
		t.Errorf("%sfound %d chunks by vector and %d by words, %v, want %d", when, len(c.Dense), len(c.Lexical), err, chunks[name])
	}
	return name
}

// marked is how many points are pending.
func marked(t *testing.T, s *Store) int {
	t.Helper()
	n, err := s.count(t.Context(), s.mine(not(pb.NewIsEmpty(keyPending))))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestServerKilled kills the server while documents are written and starts it
// again. The writer waits for it or says that it gave up; every document is
// there whole, in the version before or after.
func TestServerKilled(t *testing.T) {
	server := qdranttest.Start(t)
	open := func(retry time.Duration) *Store {
		s, err := Open(t.Context(), server.Address, "killed", &Options{Create: true, Fingerprint: fingerprint, RetryFor: retry})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open(time.Minute)
	const documents, chunks = 40, 8
	batch := func(version string) []retriever.Document {
		var docs []retriever.Document
		for i := range documents {
			docs = append(docs, lines(fmt.Sprint("d", i), version, chunks))
		}
		return docs
	}
	upsert(t, s, batch("old")...)
	var wg sync.WaitGroup
	var err error
	wg.Go(func() {
		for n := 0; n < 6 && err == nil; n++ {
			err = s.Upsert(t.Context(), batch(fmt.Sprint("new", n)))
		}
	})
	for range 3 {
		time.Sleep(100 * time.Millisecond)
		server.Kill()
		server.Restart()
	}
	wg.Wait()
	if err != nil {
		t.Errorf("the writer did not wait for the server: %v", err)
	}
	wantPoints(t, s, "after three kills", documents*chunks)
	for d, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true, Chunks: true}) {
		if want := lines(d.ID, "new5", chunks); err != nil || d.Text != want.Text {
			t.Fatalf("document %q, %v: %q, want %q", d.ID, err, d.Text, want.Text)
		}
	}

	// A server that stays away is reported, and what was there is there again.
	impatient := open(200 * time.Millisecond)
	server.Kill()
	err = impatient.Upsert(t.Context(), batch("lost"))
	wantError(t, "a server that is gone", err, retriever.ErrUnreachable, "qdrant at "+server.Address, "storing points: gave up after")
	server.Restart()
	for d, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true}) {
		if old, lost := lines(d.ID, "new5", chunks).Text, lines(d.ID, "lost", chunks).Text; err != nil || d.Text != old && d.Text != lost {
			t.Errorf("document %q, %v: half of it is there: %q", d.ID, err, d.Text)
		}
	}
}

// TestBatches writes more chunks in one call than are made into points at once.
func TestBatches(t *testing.T) {
	var d dying
	d.left.Store(math.MaxInt64)
	s := openTest(t, qdranttest.Collection(t), Options{Layout: Layout{PartLandmarks: 64}, Dial: d.dial()})
	calls := func(docs ...retriever.Document) int64 {
		before := d.calls.Load()
		upsert(t, s, docs...)
		return d.calls.Load() - before
	}
	calls(lines("first", "x", 100)) // which creates the indexes of the metadata
	one := calls(lines("a", "x", 100))
	for what, c := range map[string]struct {
		docs  []retriever.Document
		calls int64
	}{
		"two":                         {[]retriever.Document{lines("b", "x", 100), lines("c", "x", 100)}, one},
		"two with too many for one":   {[]retriever.Document{lines("d", "x", 6000), lines("e", "x", 6000)}, 2 * one},
		"one with too many by itself": {[]retriever.Document{lines("f", "x", writeChunks+1), lines("g", "x", 100)}, 2 * one},
	} {
		if n := calls(c.docs...); n != c.calls {
			t.Errorf("%s documents: %d calls, want %d", what, n, c.calls)
		}
	}
	stats, err := s.Stats(t.Context())
	if want := 500 + 12000 + writeChunks + 1; err != nil || stats.Documents != 8 || stats.Chunks != want {
		t.Errorf("Stats = %+v, %v, want 8 documents with %d chunks", stats, err, want)
	}
}
