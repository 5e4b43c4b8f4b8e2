package local

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/retriever"
)

// openSaving opens a store that saves its vectors also when they are few.
func openSaving(t *testing.T, path string) *Store {
	t.Helper()
	s := openTest(t, path, &Options{Create: true})
	s.freshRows = 10
	return s
}

func closeTest(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantExact checks a store's answers, and whether it began with its vector file.
func wantExact(t *testing.T, what string, s *Store, docs []retriever.Document, mapped bool) {
	t.Helper()
	wantBest(t, what, s, docs)
	if got := s.unmap != nil; got != mapped {
		t.Errorf("%s: the vector file is in use: %v, want %v", what, got, mapped)
	}
}

func wantBest(t *testing.T, what string, s *Store, docs []retriever.Document) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	for _, q := range crowdQueries(rng, len(docs[0].Vector))[:16] {
		got, err := found(t.Context(), s, q)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if diff := gocmp.Diff(best(docs, q), got); diff != "" {
			t.Fatalf("%s, limit %d, %+v (-want +got):\n%s", what, q.Limit, q.Weights, diff)
		}
	}
}

func TestSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	docs := crowd(rand.New(rand.NewPCG(7, 7)), 200, 20)
	s := openSaving(t, path)
	if err := s.Upsert(t.Context(), docs[:100]); err != nil {
		t.Fatal(err)
	}
	closeTest(t, s)
	s, other := openSaving(t, path), openSaving(t, path)
	wantExact(t, "opened again", s, docs[:100], true)
	// Another writes, and saves a file of its own, while the first is mapped.
	if err := other.Upsert(t.Context(), docs[50:]); err != nil {
		t.Fatal(err)
	}
	closeTest(t, other)
	wantExact(t, "while another wrote", s, docs, true)
	other = openTest(t, path, &Options{ReadOnly: true})
	wantExact(t, "for reading only", other, docs, true)
	if _, err := s.Delete(t.Context(), []string{docs[0].ID, docs[199].ID}); err != nil {
		t.Fatal(err)
	}
	wantExact(t, "after deleting", other, docs[1:199], true)
	wantExact(t, "after deleting, in the store that did", s, docs[1:199], true)
	st, err := s.Stats(t.Context())
	if info, _ := os.Stat(path + vectorSuffix); err != nil || st.Bytes <= info.Size() {
		t.Errorf("Stats = %+v, %v, want the %d bytes of the vector file among them", st, err, info.Size())
	}
}

// TestSavedRandom opens, closes and changes a store at random.
func TestSavedRandom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	rng := rand.New(rand.NewPCG(9, 9))
	have := make(map[string]retriever.Document)
	stores := []*Store{openSaving(t, path), openSaving(t, path)}
	for range 60 {
		w := rng.IntN(2)
		switch rng.IntN(4) {
		case 0:
			closeTest(t, stores[w])
			stores[w] = openSaving(t, path)
		case 1:
			var ids []string
			for id := range have {
				if rng.IntN(3) == 0 {
					ids = append(ids, id)
				}
			}
			for _, id := range ids {
				delete(have, id)
			}
			if _, err := stores[w].Delete(t.Context(), ids); err != nil {
				t.Fatal(err)
			}
		default:
			docs := crowd(rng, 40, 8)[rng.IntN(20):]
			for _, d := range docs {
				have[d.ID] = d
			}
			if err := stores[w].Upsert(t.Context(), docs); err != nil {
				t.Fatal(err)
			}
		}
		var docs []retriever.Document
		for _, d := range have {
			docs = append(docs, d)
		}
		for _, s := range stores {
			if rng.IntN(2) == 0 && len(docs) > 0 {
				wantBest(t, "at random", s, docs)
			}
		}
	}
}

// TestSavedDamage lets the vector file be anything but what belongs to the
// store.
func TestSavedDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	rng := rand.New(rand.NewPCG(7, 8))
	docs := crowd(rng, 120, 20)
	write := func(path string, docs []retriever.Document) []byte {
		s := openSaving(t, path)
		if err := s.Upsert(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		closeTest(t, s)
		file, err := os.ReadFile(path + vectorSuffix)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write(path, docs)
	cases := map[string][]byte{
		"empty": {}, "cut short": good[:len(good)-1], "its header": good[:headerSize], "longer": append(slices.Clone(good), 0),
		"another store's": write(filepath.Join(dir, "other.db"), crowd(rng, 120, 20)),
		"zeros":           make([]byte, len(good)), "text": bytes.Repeat([]byte("not vectors "), 100),
	}
	h, err := readHeader(good)
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.layout(uint64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]uint64{
		"magic": 0, "token": 9, "count": 60, "centre": l.centre, "listing": l.listing + 5, "scales": l.documentScales + 9,
		"a scale": l.chunkScales, "a document": l.documents, "a chunk": l.chunks + 99, "a sum": l.sums,
	} {
		wrong := slices.Clone(good)
		wrong[at] ^= 0x10
		cases["damaged at "+name] = wrong
	}
	for name, file := range cases {
		if err := os.WriteFile(path+vectorSuffix, file, 0o644); err != nil {
			t.Fatal(err)
		}
		s := openTest(t, path, nil)
		wantExact(t, name, s, docs, false)
		closeTest(t, s)
	}
	// What is damaged is written again with the next change.
	wrong := slices.Clone(good)
	wrong[l.chunks] ^= 1
	if err := os.WriteFile(path+vectorSuffix, wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	s := openSaving(t, path)
	wantExact(t, "a damaged file", s, docs, false)
	if err := s.Upsert(t.Context(), docs[:1]); err != nil {
		t.Fatal(err)
	}
	closeTest(t, s)
	s = openTest(t, path, nil)
	wantExact(t, "written again", s, docs, true)
	closeTest(t, s)
	// A file of an earlier state that is complete in itself belongs to the store
	// only as long as no other was written for it.
	older := write(path, docs[:60])
	if err := os.WriteFile(path+vectorSuffix, good, 0o644); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, path, nil)
	wantExact(t, "the file before", s, docs, false)
	closeTest(t, s)
	if err := os.WriteFile(path+vectorSuffix, older, 0o644); err != nil {
		t.Fatal(err)
	}
	wantExact(t, "the last file", openTest(t, path, nil), docs, true)
}

// TestSavedBackup puts an older copy of a store in the place of a newer one and
// takes another way from there: the same ords then mean other documents.
func TestSavedBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	rng := rand.New(rand.NewPCG(7, 9))
	docs, others := crowd(rng, 100, 12), crowd(rng, 100, 12)
	for i := range others {
		others[i].ID += "x"
	}
	upsert := func(docs []retriever.Document) {
		s := openSaving(t, path)
		if err := s.Upsert(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		closeTest(t, s)
	}
	upsert(docs[:20])
	backup, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	upsert(docs[20:])
	for _, name := range []string{path + "-wal", path + "-shm"} {
		os.Remove(name)
	}
	if err := os.WriteFile(path, backup, 0o644); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, path, nil)
	if err := s.Upsert(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	wantExact(t, "another way", s, append(docs[:20:20], others...), false)
}

// TestSaveFails lets there be no room for the vector file.
func TestSaveFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.Mkdir(path+"~", 0o755); err != nil {
		t.Fatal(err)
	}
	docs := crowd(rand.New(rand.NewPCG(7, 7)), 60, 20)
	s := openSaving(t, path)
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	closeTest(t, s)
	wantExact(t, "without a vector file", openTest(t, path, nil), docs, false)
}

// FuzzVectorFile reads what may be anything; sums that are right let it past
// the first checks.
func FuzzVectorFile(f *testing.F) {
	s := newSnapshot([]float32{1, 0}, 3)
	s.entries, s.gone, s.firsts = []entry{{ord: 3, id: "a", metadata: &metadata{decoded: map[string]any{"k": "v"}}}}, []bool{false}, []int32{0, 1}
	s.documents.add([]float32{0, 1})
	s.chunks.add([]float32{0, 1})
	s.liveEntries, s.liveChunks, s.keys["k"] = 1, 1, 1
	temp := filepath.Join(f.TempDir(), "x")
	if err := writeFile(temp, func(f *os.File) error { return writeVectors(f, s, token{1}) }); err != nil {
		f.Fatal(err)
	}
	file, err := os.ReadFile(temp)
	if err != nil {
		f.Fatal(err)
	}
	h, err := readHeader(file)
	if err != nil {
		f.Fatal(err)
	}
	got, err := readVectors(file, h)
	if err != nil || got.entries[0].id != "a" || got.entries[0].metadata.get()["k"] != "v" || got.keys["k"] != 1 || got.count(0) != 1 || got.chunks.row(0) != s.chunks.row(0) {
		f.Fatalf("read %+v, %v", got, err)
	}
	f.Add(file[headerSize:], h.Entries, h.Chunks, h.Listing, h.Dim)
	f.Fuzz(func(t *testing.T, body []byte, entries, chunks, listing uint64, dim uint32) {
		var b bytes.Buffer
		w := &pieces{to: bufio.NewWriter(&b)}
		w.part(body)
		sums := w.finish()
		h := vectorHeader{Entries: entries, Chunks: chunks, Listing: listing, Dim: dim, Sums: checksum(sums)}
		data := append(h.encode(), b.Bytes()...)
		if got, err := readHeader(data); err != nil || got != h {
			t.Fatalf("the header %+v comes back as %+v, %v", h, got, err)
		}
		if s, err := readVectors(data, h); err == nil && s.chunks.rows() > 0 {
			products := make([]int32, 2*s.chunks.rows())
			s.chunks.dots(products, newPoint(make([]float32, dim), s.chunks.centre), 0, s.chunks.rows())
		}
	})
}
