//go:build cgo && onnx

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-rag/waymark/retriever"
	"github.com/waymark-rag/waymark/retriever/local"
)

func TestNativeScripts(t *testing.T) { runScripts(t, "testdata/native", nil) }

// TestKilledWhileIndexing kills `waymark index` twenty times at random moments.
// Each time the store must open, every document be wholly the old or the new
// version, and the next run complete what was begun.
func TestKilledWhileIndexing(t *testing.T) {
	const files, kills = 60, 20
	dir := t.TempDir()
	docs, store := filepath.Join(dir, "docs"), filepath.Join(dir, "index.db")
	if err := os.Mkdir(docs, 0o777); err != nil {
		t.Fatal(err)
	}
	// hashes[i] are of the versions that file i had, the newest last.
	hashes := make([][]string, files)
	write := func(version int) {
		for i := range files {
			text := fmt.Sprintf("# File %d\n\n%s", i, strings.Repeat(fmt.Sprintf("This is version %d of file %d. ", version, i), 25))
			if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%d.md", i)), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(text))
			hashes[i] = append(hashes[i], hex.EncodeToString(sum[:]))
		}
	}
	// index runs the program and kills it after the time given, 0 for never.
	index := func(after time.Duration) (killed bool) {
		cmd := exec.Command(os.Args[0], "index", "--quiet", "--store", "local:"+store, docs)
		cmd.Env = append(os.Environ(), "WAYMARK_TEST_MAIN=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if after > 0 {
			timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
			defer timer.Stop()
		}
		err := cmd.Wait()
		if after == 0 && err != nil {
			t.Fatalf("index: %v", err)
		}
		return err != nil
	}
	// check reads the whole store and counts the documents of the newest version.
	check := func() (documents, newest int) {
		s, err := local.Open(t.Context(), store, &local.Options{ReadOnly: true})
		if err != nil {
			t.Fatalf("opening the store: %v", err)
		}
		defer s.Close()
		for doc, err := range s.Scroll(t.Context(), retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if err := retriever.Verify(&doc, 1e-4); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(doc.Text))
			if doc.Hash != hex.EncodeToString(sum[:]) {
				t.Fatalf("document %s: the text is not that of its hash", doc.ID)
			}
			var i int
			if _, err := fmt.Sscanf(doc.ID, "%d.md", &i); err != nil {
				t.Fatal(err)
			}
			versions := hashes[i]
			switch documents++; {
			case doc.Hash == versions[len(versions)-1]:
				newest++
			case len(versions) < 2 || doc.Hash != versions[len(versions)-2]:
				t.Fatalf("document %s is neither the old nor the new version", doc.ID)
			}
		}
		return documents, newest
	}

	write(0)
	start := time.Now()
	index(0)
	whole := time.Since(start)
	killed, partial := 0, 0
	for version := 1; version <= kills; version++ {
		write(version)
		start := time.Now()
		if index(time.Duration(rand.Float64() * float64(whole))) {
			killed++
		} else { // the machine has become faster
			whole = min(whole, time.Since(start))
		}
		documents, newest := check()
		if documents != files {
			t.Fatalf("%d documents after a kill, want %d", documents, files)
		}
		if newest > 0 && newest < files {
			partial++
		}
		index(0)
		if documents, newest := check(); documents != files || newest != files {
			t.Fatalf("after a run that completes: %d documents, %d of them new, want %d", documents, newest, files)
		}
	}
	t.Logf("a whole run took %v; %d of %d runs were killed, %d of them with some documents stored", whole, killed, kills, partial)
	if killed < kills/2 {
		t.Errorf("only %d of %d runs were killed before they ended", killed, kills)
	}
}
