package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// One of these is set, to a path, in processes that are this test binary started
// to be killed.
const (
	crashStore = "WAYMARK_TEST_CRASH_STORE" // writes to a store
	lockHeld   = "WAYMARK_TEST_LOCK_HELD"   // holds a lock
)

func TestMain(m *testing.M) {
	var err error
	if path := os.Getenv(crashStore); path != "" {
		err = writeForever(path)
	} else if path := os.Getenv(lockHeld); path != "" {
		err = holdForever(path)
	} else {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func holdForever(path string) error {
	if _, err := newWriteLock(path, 0).acquire(context.Background()); err != nil {
		return err
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// crashDocument is version n of document i; n is in every part of it.
func crashDocument(i, n int) retriever.Document {
	angle := float64(n%1000) / 1000
	v := []float32{float32(math.Cos(angle)), float32(math.Sin(angle)), 0, 0}
	d := retriever.Document{ID: fmt.Sprint("doc", i), Title: fmt.Sprint("version ", n), Vector: v, Metadata: map[string]any{"n": n}}
	for c := range 1 + n%7 {
		start := len(d.Text)
		d.Text += fmt.Sprintf("doc%d version%d chunk%d. ", i, n, c)
		d.Chunks = append(d.Chunks, retriever.Chunk{Text: chunker.Range{Start: start, End: len(d.Text)}, Tokens: n, Vector: v})
	}
	return d
}

// writeForever stores one version after the other of a few documents and
// reports each on standard output once it is stored.
func writeForever(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, &Options{Create: true})
	if err != nil {
		return err
	}
	start := 0
	for d, err := range s.Scroll(ctx, retriever.Filter{}, retriever.Want{}) {
		if err != nil {
			return err
		}
		start = max(start, int(d.Metadata["n"].(int64)))
	}
	for n := start + 1; ; n++ {
		var docs []retriever.Document
		for i := range 4 {
			docs = append(docs, crashDocument(i, n))
		}
		if err := s.Upsert(ctx, docs); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// TestKilled kills a writing process at random moments; what it leaves must be
// whole, and hold whatever was reported stored.
func TestKilled(t *testing.T) {
	const kills = 20
	path := filepath.Join(t.TempDir(), "store.db")
	rng := rand.New(rand.NewPCG(8, 9))
	for kill := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashStore+"="+path)
		var messages strings.Builder
		cmd.Stderr = &messages
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		stored := 0
		for range 1 + rng.IntN(6) { // so many are known to be stored, then somewhere in the next
			if lines.Scan() {
				stored, _ = strconv.Atoi(lines.Text())
			}
		}
		timer := time.AfterFunc(time.Duration(rng.IntN(int(8*time.Millisecond))), func() { cmd.Process.Kill() })
		for lines.Scan() {
			stored, _ = strconv.Atoi(lines.Text())
		}
		if err := cmd.Wait(); err == nil || messages.Len() > 0 {
			t.Fatalf("the writer ended by itself: %v, %s", err, &messages)
		}
		timer.Stop()
		checkSurvivor(t, path, stored, kill%2 == 0)
		if t.Failed() {
			t.Fatalf("after kill %d", kill)
		}
	}
}

func checkSurvivor(t *testing.T, path string, stored int, readOnly bool) {
	t.Helper()
	s, err := Open(t.Context(), path, &Options{ReadOnly: readOnly})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for d, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			t.Fatal(err)
		}
		n = int(d.Metadata["n"].(int64))
		want := crashDocument(int(d.ID[3]-'0'), n)
		same := d.Title == want.Title && d.Text == want.Text && len(d.Chunks) == len(want.Chunks) && cosine(d.Vector, want.Vector) > 0.999
		for i := range d.Chunks {
			same = same && d.Chunks[i].Tokens == n && d.Chunks[i].Text == want.Chunks[i].Text && cosine(d.Chunks[i].Vector, want.Vector) > 0.999
		}
		if !same {
			t.Errorf("%s is a mixture with version %d: %+v", d.ID, n, d)
		}
	}
	if n < stored {
		t.Errorf("version %d is there, but %d was reported stored", n, stored)
	}
	q := retriever.Query{Vector: []float32{1, 0, 0, 0}, Words: fmt.Sprint("version", n), Limit: 100, Weights: retriever.Weights{Landmark: 1}}
	c, err := s.Candidates(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 * (1 + n%7); len(c.Dense) != want || len(c.Lexical) != want {
		t.Errorf("version %d is found in %d chunks by vector and %d by words, want %d", n, len(c.Dense), len(c.Lexical), want)
	}
	var words int
	if err := s.db.QueryRow(`SELECT count(*) FROM words WHERE words MATCH 'chunk0'`).Scan(&words); err != nil || words != 4 {
		t.Errorf("the words of %d first chunks are there, %v, want 4: old versions stay", words, err)
	}
	var report string
	if err := s.db.QueryRow(`PRAGMA integrity_check`).Scan(&report); err != nil || report != "ok" {
		t.Errorf("integrity check: %s, %v", report, err)
	}
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestLockOfAnotherProcess meets a lock that another process holds, is told its
// process id, and gets the lock once that process is killed.
func TestLockOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openTest(t, path, &Options{Create: true, WaitWriter: -1})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockHeld+"="+path+".lock")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // kept open: the other reads it until it is killed
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	docs := []retriever.Document{testDocument("x", 1, 1, 0, 0, 0)}
	want := fmt.Sprintf("process %d ", cmd.Process.Pid)
	if err := s.Upsert(t.Context(), docs); !errors.Is(err, retriever.ErrBusy) || !strings.Contains(err.Error(), want) {
		t.Errorf("Upsert: %v, want ErrBusy with %q", err, want)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if err := s.Upsert(t.Context(), docs); err != nil {
		t.Errorf("after the holder was killed: %v", err)
	}
}
