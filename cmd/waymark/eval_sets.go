package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/eval"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// evaluation runs systems over sets.
type evaluation struct {
	*app
	evalFlags
	cfg     configs.Config
	specs   []eval.Spec
	weights retriever.Weights
	lexical float64
}

func (a *app) newEvaluation(f evalFlags) (*evaluation, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	if f.compare != "" {
		if _, err := os.Stat(f.compare); err != nil {
			return nil, usageError{fmt.Errorf("--compare: %w: want the folder of an earlier --out", err)}
		}
	}
	e := &evaluation{app: a, evalFlags: f, cfg: cfg, weights: retriever.Weights{Landmark: cfg.Search.Landmark, Document: cfg.Search.Document}, lexical: cfg.Search.Lexical}
	names := f.systems
	if len(names) == 1 && names[0] == "all" {
		names = eval.AllSystems
	}
	seen := map[eval.Spec]bool{}
	for _, name := range names {
		spec, err := eval.ParseSpec(name)
		if err != nil {
			return nil, usageError{fmt.Errorf("--system: %w", err)}
		}
		if !seen[spec] {
			seen[spec] = true
			e.specs = append(e.specs, spec)
		}
	}
	return e, nil
}

// report measures all systems on all sets.
func (e *evaluation) report(ctx context.Context, dirs []string) (*eval.Report, error) {
	sets, err := e.read(dirs)
	if err != nil {
		return nil, err
	}
	out := &eval.Report{Against: e.against}
	if e.tune != "" {
		if out.Tuning, err = e.tuned(ctx); err != nil {
			return nil, err
		}
	}
	for _, set := range sets {
		report := eval.SetReport{Set: set}
		byPooling := map[landmark.Pooling][]eval.Spec{}
		var order []landmark.Pooling
		for _, s := range e.specs {
			if byPooling[s.Pooling] == nil {
				order = append(order, s.Pooling)
			}
			byPooling[s.Pooling] = append(byPooling[s.Pooling], s)
		}
		if byPooling[""] == nil && (out.Tuning != nil || e.answers) {
			order = append(order, "")
		}
		for _, pooling := range order {
			err := e.indexed(ctx, set, pooling, func(b *wire.Built, x *eval.Index) error {
				if report.Chunks == 0 {
					report.Chunks = x.Chunks()
				}
				if len(out.Settings) == 0 {
					out.Settings = e.settings(b)
				}
				results, err := e.ranked(ctx, set, x, byPooling[pooling])
				if err != nil {
					return err
				}
				if pooling == "" && out.Tuning != nil {
					tuned, err := eval.Evaluate(ctx, set, x.Tuned(out.Tuning.Trials[0]), nil)
					if err != nil {
						return err
					}
					results = append(results, tuned)
				}
				report.Results = append(report.Results, results...)
				if pooling != "" || !e.answers {
					return nil
				}
				answers, err := e.answered(ctx, set, b)
				out.Answers = append(out.Answers, answers)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", set.Name, err)
			}
		}
		if err := e.changes(out, report); err != nil {
			return nil, err
		}
		out.Sets = append(out.Sets, report)
		if e.out != "" { // after each set, so that a run cut short leaves what it has done
			if err := out.Write(e.out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// read reads the sets; one that is made by length becomes several.
func (e *evaluation) read(dirs []string) ([]*eval.Set, error) {
	var out []*eval.Set
	seen := map[string]string{}
	for _, dir := range dirs {
		set, err := eval.Read(dir, eval.ReadOptions{Queries: e.queries, Longest: e.longest})
		if err != nil {
			return nil, err
		}
		if other, twice := seen[set.Name]; twice {
			return nil, usageError{fmt.Errorf("%s and %s: want sets with different names", other, dir)}
		}
		seen[set.Name] = dir
		out = append(out, set.ByLength()...)
	}
	return out, nil
}

// indexed opens the index of a set, encodes what is missing in it, and closes it
// when f is done with it.
func (e *evaluation) indexed(ctx context.Context, set *eval.Set, pooling landmark.Pooling, f func(*wire.Built, *eval.Index) error) (err error) {
	cfg := e.cfg
	name := "own"
	if pooling != "" {
		cfg.Model.Pooling, name = string(pooling), string(pooling)
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(cfg.Model.Path, cfg.Model.Overlap, cfg.Model.Pooling, cfg.ChunkOptions())))
	path := filepath.Join(e.cache, set.Name, fmt.Sprintf("%s-%s%d-%x.db", name, cfg.Chunk.Mode, cfg.Chunk.MaxTokens, sum[:4]))
	cfg.Store, cfg.Tenant = "local:"+path, ""
	b, err := e.open(ctx, cfg, wire.Write)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	progress, finish := e.progress("encoding " + set.Name + ", " + name)
	defer finish()
	x, err := eval.NewIndex(ctx, set, b.Pipeline, progress)
	if err != nil {
		return err
	}
	return f(b, x)
}

// ranked runs the systems of one pooling, in their order.
func (e *evaluation) ranked(ctx context.Context, set *eval.Set, x *eval.Index, specs []eval.Spec) ([]*eval.Result, error) {
	joined := map[int]*eval.Index{1: x}
	dir, err := os.MkdirTemp("", "waymark-eval")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var out []*eval.Result
	for _, spec := range specs {
		if joined[spec.Join] == nil {
			cfg := e.cfg
			cfg.Store, cfg.Tenant = fmt.Sprintf("local:%s", filepath.Join(dir, fmt.Sprintf("x%d.db", spec.Join))), ""
			store, err := wire.CreateStore(ctx, cfg, retriever.Fingerprint{Model: "joined"}, e.getenv)
			if err != nil {
				return nil, err
			}
			defer store.Close()
			if joined[spec.Join], err = x.Coarser(ctx, spec.Join, store); err != nil {
				return nil, err
			}
		}
		progress, finish := e.progress("asking " + set.Name + ", " + spec.String())
		result, err := eval.Evaluate(ctx, set, joined[spec.Join].System(spec, e.weights, e.lexical), progress)
		finish()
		if err != nil {
			return nil, err
		}
		out = append(out, result)
	}
	return out, nil
}

func (e *evaluation) tuned(ctx context.Context) (tuning *eval.Tuning, err error) {
	set, err := eval.Read(e.tune, eval.ReadOptions{Queries: e.queries, Longest: e.longest})
	if err != nil {
		return nil, err
	}
	err = e.indexed(ctx, set, "", func(_ *wire.Built, x *eval.Index) error {
		progress, finish := e.progress("tuning on " + set.Name)
		defer finish()
		tuning, err = eval.Tune(ctx, set, x, progress)
		return err
	})
	return tuning, err
}

func (e *evaluation) answered(ctx context.Context, set *eval.Set, b *wire.Built) (*eval.AnswerResult, error) {
	var find searchFlags
	opts, err := find.options(e.cfg)
	if err != nil {
		return nil, err
	}
	opts.K = e.cfg.Answer.Passages
	progress, finish := e.progress("answering " + set.Name)
	defer finish()
	return eval.EvaluateAnswers(ctx, set, func(ctx context.Context, question string) (pipeline.Answer, error) {
		return b.Ask(ctx, question, nil, opts, nil)
	}, progress)
}

// changes compares a set's results with those of an earlier run.
func (e *evaluation) changes(out *eval.Report, report eval.SetReport) error {
	if e.compare == "" {
		return nil
	}
	for _, r := range report.Results {
		before, err := eval.ReadBefore(e.compare, report.Name, r.System)
		if errors.Is(err, fs.ErrNotExist) {
			out.Settings = append(out.Settings, eval.Setting{Name: "not in " + filepath.Base(e.compare), Value: report.Name + ", " + r.System})
			continue
		}
		if err != nil {
			return err
		}
		out.Changes = append(out.Changes, r.Since(before)...)
	}
	return nil
}

// settings are what the numbers depend on.
func (e *evaluation) settings(b *wire.Built) []eval.Setting {
	c := b.Model.Config()
	words := "off"
	if e.lexical > 0 {
		words = fmt.Sprint(e.lexical)
	}
	sample := "all"
	if e.queries > 0 {
		sample = fmt.Sprintf("a sample of %d, of each set that has more", e.queries)
	}
	return []eval.Setting{
		{Name: "model", Value: fmt.Sprintf("%s (%s), windows of %d tokens, overlap %d", b.Model.Name, b.Model.Digest[:min(len("sha256:")+12, len(b.Model.Digest))], c.MaxLength, b.Model.Overlap())},
		{Name: "chunks", Value: e.cfg.ChunkOptions().String()},
		{Name: "weights", Value: fmt.Sprintf("both is %g landmark and %g document; words count %s beside 1", e.weights.Landmark, e.weights.Document, words)},
		{Name: "questions", Value: sample},
	}
}

// progress shows how far one step is; finish ends it.
func (e *evaluation) progress(what string) (update func(done, all int), finish func()) {
	if e.quiet || e.json {
		return nil, func() {}
	}
	bar := newProgress(e.stderr, what, false)
	return func(done, all int) {
		bar.show(int64(all), int64(done), what, func(left time.Duration) string {
			return fmt.Sprintf("%s: %d of %d, about %s left", what, done, all, left)
		})
	}, bar.finish
}
