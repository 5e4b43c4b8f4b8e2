package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/eval"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	systems             []string
	queries, longest    int
	out, cache, compare string
	tune, against       string
	answers, quiet      bool
	run, qrels          string
}

func newEval(a *app) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval SET...",
		Short: "Measure retrieval and answers on sets of questions with known answers",
		Long: `Eval indexes each SET, a BEIR folder (corpus.jsonl, queries.jsonl, qrels/test.tsv
and, where passages are known, qrels/spans.tsv), runs its questions through each
system, and prints tables: nDCG, recall, MRR and MAP of documents, hits and overlap
of passages, with 95% intervals, by answer position and document length.

A system is named by how it encodes and ranks:
  bm25                          by words alone
  chunk, document, both         by landmarks, by document vectors, by both
  both+bm25                     that, fused with words, as search does it
  late-chunk, naive-both+bm25   read by another pooling: cls, mean, late, multicls, naive
  chunk-x4                      with the landmarks of 4 neighbouring chunks averaged
all stands for every baseline. Model, chunks and weights come from the settings.

With --run and --qrels it scores a run in TREC's format that another program made.`,
		Example: "  waymark eval ../sets/scifact ../sets/squad_articles\n" +
			"  waymark eval --system chunk,late-chunk,naive-chunk --queries 500 --out results ../sets/squad_articles\n" +
			"  waymark eval --out new --compare results ../sets/squad_articles\n" +
			"  waymark eval --run other.trec --qrels ../sets/scifact/qrels/test.tsv",
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.systems, "system", eval.DefaultSystems, "systems to run, or all; may be repeated")
	flags.IntVar(&f.queries, "queries", 0, "a random sample of so many questions, always the same one; 0: all")
	flags.IntVar(&f.longest, "longest", 0, "in sets made by length, leave out documents of more tokens; 0: none")
	flags.StringVar(&f.out, "out", "", "folder for report.html, report.md and, for each set and system, the values of each question and the run")
	flags.StringVar(&f.cache, "cache", filepath.Join(".waymark", "eval"), "folder that keeps the indexes, so that nothing is encoded twice")
	flags.StringVar(&f.compare, "compare", "", "folder of an earlier --out: show which questions changed")
	flags.StringVar(&f.against, "against", "both+bm25", "system that the others are compared with")
	flags.StringVar(&f.tune, "tune", "", "set to tune the weights of landmark, document and words on; the system tuned has them")
	flags.BoolVar(&f.answers, "answers", false, "answer the questions too and measure citations and texts")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	flags.StringVar(&f.run, "run", "", "run to score, lines of: query Q0 document rank score tag")
	flags.StringVar(&f.qrels, "qrels", "", "judgements for --run, TREC's or BEIR's")
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		report, err := a.evalReport(cmd.Context(), f, dirs)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(report.Summary())
		}
		return report.Markdown(a.stdout)
	}
	return cmd
}

func (a *app) evalReport(ctx context.Context, f evalFlags, dirs []string) (*eval.Report, error) {
	if f.run != "" || f.qrels != "" {
		if f.run == "" || f.qrels == "" || len(dirs) > 0 {
			return nil, usageError{errors.New("a foreign run needs --run FILE and --qrels FILE, and no set")}
		}
		report, err := scoreRun(f.run, f.qrels)
		if err == nil && f.out != "" {
			err = report.Write(f.out)
		}
		return report, err
	}
	if len(dirs) == 0 {
		return nil, usageError{errors.New("no set to measure on: want the path of a BEIR folder, with corpus.jsonl in it")}
	}
	e, err := a.newEvaluation(f)
	if err != nil {
		return nil, err
	}
	return e.report(ctx, dirs)
}

// scoreRun scores a run that another program made.
func scoreRun(run, qrels string) (*eval.Report, error) {
	r, err := os.Open(run)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ranked, err := eval.ReadRun(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", run, err)
	}
	q, err := os.Open(qrels)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	judged, err := eval.ReadQrels(q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", qrels, err)
	}
	found := 0
	for id := range judged {
		if len(ranked[id]) > 0 {
			found++
		}
	}
	if found == 0 {
		return nil, fmt.Errorf("%s ranks none of the %d queries judged in %s: are they of the same set?", run, len(judged), qrels)
	}
	result := eval.EvaluateRun(filepath.Base(run), judged, ranked)
	return &eval.Report{
		Settings: []eval.Setting{{Name: "ranked", Value: fmt.Sprintf("%d of %d queries judged; the others count with nothing found", found, len(judged))}},
		Sets:     []eval.SetReport{{Set: result.Set, Results: []*eval.Result{result}}},
	}, nil
}
