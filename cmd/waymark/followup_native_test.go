//go:build cgo && onnx

package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// TestFollowUps measures what the rule for follow-ups is worth: for how many of
// the questions of testdata/followups.tsv the passage that answers is the first
// found, or one of the first three, as asked and condensed. -v shows each.
func TestFollowUps(t *testing.T) {
	data, err := os.ReadFile("testdata/followups.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
	runbook, err := filepath.Abs("../../examples/handbook/operations")
	if err != nil {
		t.Fatal(err)
	}
	cfg := configs.Default()
	cfg.Store = "local:" + filepath.Join(t.TempDir(), "index.db")
	cfg.Model.Library = os.Getenv("WAYMARK_ONNXRUNTIME")
	b, err := wire.Open(t.Context(), cfg, wire.Write, os.Getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Index(t.Context(), []string{runbook}, pipeline.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	answerer, err := pipeline.NewAnswerer(&llm.Extractive{}, pipeline.AnswerOptions{Condense: pipeline.CondenseRule})
	if err != nil {
		t.Fatal(err)
	}
	var asked, condensed counts
	for _, row := range rows {
		col := strings.Split(row, "\t")
		history := []llm.Message{{Role: llm.User, Text: col[0]}, {Role: llm.Assistant, Text: col[1]}}
		query, err := answerer.Condense(t.Context(), col[2], history)
		if err != nil {
			t.Fatal(err)
		}
		rank := func(text string) int {
			hits, err := b.Search(t.Context(), text, pipeline.SearchOptions{K: cfg.Answer.Passages})
			if err != nil {
				t.Fatal(err)
			}
			return 1 + slices.IndexFunc(hits, func(h retriever.Hit) bool { return strings.Contains(h.Text, col[3]) })
		}
		plain, byRule := rank(col[2]), rank(query.Text)
		asked.add(plain)
		condensed.add(byRule)
		t.Logf("rank %d as asked, %d for %q", plain, byRule, query.Text)
	}
	t.Logf("of %d questions as asked: %+v, condensed: %+v", len(rows), asked, condensed)
	if condensed.first < 10 || condensed.three < 14 || condensed.first < asked.first+6 {
		t.Errorf("condensed %+v of %d, as asked %+v: want 10 first, 14 among three, and 6 more first", condensed, len(rows), asked)
	}
}

// counts are of ranks from 1; 0 is not found.
type counts struct{ first, three, found int }

func (c *counts) add(rank int) {
	if rank == 1 {
		c.first++
	}
	if rank >= 1 && rank <= 3 {
		c.three++
	}
	if rank >= 1 {
		c.found++
	}
}
