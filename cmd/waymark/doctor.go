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
				fmt.Fprintf(a.stdout, "%s %-11s %s\n", mark, c.Name, c.Detail)
				if c.Hint != "" {
					fmt.Fprintf(a.stdout, "                 hint: %s\n", c.Hint)
				}
			}
			return err
		},
	}
}

// examine runs the checks and returns the failures as its error, so that the exit
// code says what kind they are.
func (a *app) examine(ctx context.Context, cfg configs.Config) ([]check, error) {
	e := &examination{ctx: ctx}
	detail, want, err := checkModel(ctx, cfg)
	e.add("model", detail, err)
	store, err := wire.OpenStore(ctx, cfg, a.getenv)
	if err != nil {
		e.add("store", "", err)
		return e.checks, e.failed
	}
	detail, err = countStore(ctx, cfg, store)
	e.add("store", detail, err)
	if !want.IsZero() {
		err = nil
		if have := store.Fingerprint(); have != want {
			err = &retriever.MismatchError{Have: have, Want: want}
		}
		e.add("fingerprint", "the store was made by this model with these settings", err)
	}
	e.inspect(store)
	switch read, bad, err := readDocuments(ctx, store); {
	case err != nil:
		e.add("documents", "", err)
	case bad != nil:
		e.fail("documents", "the file or collection is damaged: index again into another place, with --store", bad)
	default:
		e.add("documents", fmt.Sprintf("%d read, all consistent", read), nil)
	}
	if err := store.Close(); err != nil {
		e.add("store", "", err)
	}
	return e.checks, e.failed
}

// examination collects checks.
type examination struct {
	ctx    context.Context
	checks []check
	failed error
}

// add notes how a check went.
func (e *examination) add(name, detail string, err error) {
	if err == nil {
		e.checks = append(e.checks, check{Name: name, OK: true, Detail: detail})
		return
	}
	_, hint := explain(e.ctx, err)
	e.fail(name, hint, err)
}

func (e *examination) fail(name, hint string, err error) {
	e.checks = append(e.checks, check{Name: name, Detail: err.Error(), Hint: hint})
	e.failed = errors.Join(e.failed, fmt.Errorf("%s: %w", name, err))
}

// inspect adds what a store has to say of itself.
func (e *examination) inspect(store retriever.Store) {
	inspector, ok := store.(retriever.Inspector)
	if !ok {
		return
	}
	findings, err := inspector.Inspect(e.ctx)
	if err != nil {
		e.add("inspection", "", err)
	}
	for _, f := range findings {
		if f.Hint != "" {
			e.fail(f.Subject, f.Hint, errors.New(f.Detail))
		} else {
			e.add(f.Subject, f.Detail, nil)
		}
	}
}

// checkModel loads the model, which checks its golden vector, and measures it. It
// returns the fingerprint of a store made by it too.
func checkModel(ctx context.Context, cfg configs.Config) (string, retriever.Fingerprint, error) {
	m, err := wire.OpenModel(ctx, cfg)
	if err != nil {
		return "", retriever.Fingerprint{}, err
	}
	made := wire.Fingerprint(cfg, m)
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200)
	start := time.Now()
	e, err := m.EmbedLandmarks(ctx, []string{text})
	if err = errors.Join(err, m.Close()); err != nil {
		return "", made, err
	}
	speed := float64(e[0].Encoded) / time.Since(start).Seconds()
	detail := fmt.Sprintf("%s, %s, %.0f tokens/s", m.Name, m.Runtime, speed)
	return strings.Join(append([]string{detail}, m.Notes...), "; "), made, nil
}

// countStore says what a store holds.
func countStore(ctx context.Context, cfg configs.Config, store retriever.Store) (string, error) {
	stats, err := store.Stats(ctx)
	if err != nil {
		return "", err
	}
	place, err := cfg.Place()
	if err != nil {
		return "", err
	}
	detail := fmt.Sprintf("%s: %d documents, %d chunks", place, stats.Documents, stats.Chunks)
	if stats.Bytes > 0 {
		detail += ", " + size(stats.Bytes)
	}
	return detail, nil
}

// readDocuments reads every document with all its parts. It returns how many there
// are, and what is wrong with them.
func readDocuments(ctx context.Context, store retriever.Store) (read int, bad, err error) {
	before, err := store.Stats(ctx)
	if err != nil {
		return 0, nil, err
	}
	chunks, broken := 0, 0
	for doc, err := range store.Scroll(ctx, retriever.Filter{}, retriever.Want{Text: true, Chunks: true, Vectors: true}) {
		if err != nil {
			return read, nil, err
		}
		read++
		chunks += len(doc.Chunks)
		if err := retriever.Verify(&doc, 1e-4); err != nil {
			broken++
			bad = cmp.Or(bad, err)
		}
	}
	if bad != nil {
		return read, fmt.Errorf("%d of %d are not consistent, the first: %w", broken, read, bad), nil
	}
	after, err := store.Stats(ctx)
	still := before.Documents == after.Documents && before.Chunks == after.Chunks
	if err == nil && still && (read != after.Documents || chunks != after.Chunks) {
		bad = fmt.Errorf("the store counts %d documents and %d chunks, reading it gives %d and %d", after.Documents, after.Chunks, read, chunks)
	}
	return read, bad, err
}
