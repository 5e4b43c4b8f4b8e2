package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/retriever"
)

// check is one line of doctor's report.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the model, its library, and the index document by document",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			checks, err := a.examine(cmd.Context(), cfg)
			if err != nil {
				err = reportedError{err}
			}
			if a.json {
				return cmp.Or(a.printJSON(checks), err)
			}
			for _, c := range checks {
				mark := "ok  "
				if !c.OK {
					mark = "FAIL"
				}
				fmt.Fprintf(a.stdout, "%s %-6s %s\n", mark, c.Name, c.Detail)
				if c.Hint != "" {
					fmt.Fprintf(a.stdout, "            hint: %s\n", c.Hint)
				}
			}
			return err
		},
	}
}

// examine runs the checks and returns the first failure as its error, so that
// the exit code says what kind it was.
func (a *app) examine(ctx context.Context, cfg configs.Config) ([]check, error) {
	var checks []check
	var first error
	add := func(name, detail string, err error) {
		c := check{Name: name, OK: err == nil, Detail: detail}
		if err != nil {
			c.Detail = err.Error()
			_, c.Hint = explain(ctx, err)
			first = errors.Join(first, fmt.Errorf("%s: %w", name, err))
		}
		checks = append(checks, c)
	}

	detail, err := checkModel(ctx, cfg)
	add("model", detail, err)
	if err == nil {
		detail, err = a.checkStore(ctx, cfg)
		add("store", detail, err)
	}
	return checks, first
}

// checkModel loads the model, which checks its golden vector, and measures it.
func checkModel(ctx context.Context, cfg configs.Config) (string, error) {
	m, err := wire.OpenModel(ctx, cfg)
	if err != nil {
		return "", err
	}
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200)
	start := time.Now()
	e, err := m.EmbedLandmarks(ctx, []string{text})
	if err = errors.Join(err, m.Close()); err != nil {
		return "", err
	}
	speed := float64(e[0].Encoded) / time.Since(start).Seconds()
	detail := fmt.Sprintf("%s, %s, %.0f tokens/s", m.Name, m.Runtime, speed)
	return strings.Join(append([]string{detail}, m.Notes...), "; "), nil
}

// checkStore reads every document with all its parts.
func (a *app) checkStore(ctx context.Context, cfg configs.Config) (string, error) {
	b, err := a.open(ctx, cfg, wire.Read)
	if err != nil {
		return "", err
	}
	defer b.Close()
	stats, err := b.Store.Stats(ctx)
	if err != nil {
		return "", err
	}
	documents, chunks := 0, 0
	for doc, err := range b.Store.Scroll(ctx, retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			return "", err
		}
		if err := retriever.Verify(&doc, 1e-4); err != nil {
			return "", err
		}
		documents++
		chunks += len(doc.Chunks)
	}
	if documents != stats.Documents || chunks != stats.Chunks {
		return "", fmt.Errorf("the store counts %d documents and %d chunks, reading it gives %d and %d", stats.Documents, stats.Chunks, documents, chunks)
	}
	return fmt.Sprintf("%s: %d documents, %d chunks, %s, all consistent", cfg.Store, documents, chunks, size(stats.Bytes)), nil
}
