//go:build cgo && onnx

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/internal/qdranttest"
)

func TestNativeQdrantScripts(t *testing.T) { runQdrantScripts(t, "testdata/native/qdrant") }

// Three processes that index their shares into one new collection at the same time
// leave there what one process leaves in another, also when they are run again after
// files have changed and gone.
func TestShardsAtOnce(t *testing.T) {
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	if err := os.Mkdir(docs, 0o777); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return filepath.Join(docs, fmt.Sprintf("%02d.md", i)) }
	write := func(i int, about string) {
		text := fmt.Sprintf("# Keeper %d\n\n%s", i, strings.Repeat(fmt.Sprintf("The keeper of light number %d writes about %s. ", i, about), 8))
		if err := os.WriteFile(name(i), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	topics := []string{"oil", "fog", "gulls", "the lens", "wages", "a wreck"}
	for i := range 30 {
		write(i, topics[i%len(topics)])
	}
	server := "qdrant://" + qdranttest.Shared(t) + "/"
	whole, shared := server+qdranttest.Collection(t), server+qdranttest.Collection(t)

	waymark := func(store string, args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], append(args, "--store", store, "--set", "model.threads=1")...)
		cmd.Env = append(os.Environ(), "WAYMARK_TEST_MAIN=1")
		return cmd
	}
	output := func(store string, args ...string) string {
		t.Helper()
		out, err := waymark(store, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	index := func() {
		t.Helper()
		output(whole, "index", "--quiet", docs)
		var running []*exec.Cmd
		var outs []*strings.Builder
		for n := 1; n <= 3; n++ {
			cmd, out := waymark(shared, "index", "--quiet", "--shard", fmt.Sprintf("%d/3", n), docs), new(strings.Builder)
			cmd.Stdout, cmd.Stderr = out, out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running, outs = append(running, cmd), append(outs, out)
		}
		for n, cmd := range running {
			if err := cmd.Wait(); err != nil {
				t.Errorf("share %d of 3: %v: %s", n+1, err, outs[n])
			}
		}
	}
	compare := func(documents int) {
		t.Helper()
		for _, query := range []string{"which keeper writes about fog?", "gulls and a wreck", "keeper 17"} {
			args := []string{"search", "--json", "-k", "5", "--set", "qdrant.exact=true", query}
			if diff := cmp.Diff(output(whole, args...), output(shared, args...)); diff != "" {
				t.Errorf("%s (-one run +shares):\n%s", query, diff)
			}
		}
		for _, store := range []string{whole, shared} {
			if out := output(store, "doctor"); !strings.Contains(out, fmt.Sprintf("%d read, all consistent", documents)) {
				t.Errorf("want %d documents: %s", documents, out)
			}
		}
		if out := output(shared, "index", "--quiet", docs); !strings.HasPrefix(out, fmt.Sprintf("0 added, 0 changed, %d unchanged, 0 removed, 0 skipped", documents)) {
			t.Errorf("a run on all after those on the shares: %s", out)
		}
	}
	index()
	compare(30)
	for i := range 6 {
		if err := os.Remove(name(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := 6; i < 12; i++ {
		write(i, "the inspector")
	}
	index()
	compare(24)
}
