package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// searchFlags are the flags of search and ask that say how passages are found.
type searchFlags struct {
	filters   []string
	minScores []string
}

var searchKeys = map[string]string{
	"level": "search.level", "mmr": "search.mmr", "neighbours": "search.neighbours", "per-document": "search.per_document",
}

func (s *searchFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	addFilters(cmd, &s.filters)
	f.StringArrayVar(&s.minScores, "min-score", nil, "drop passages below, such as landmark=0.8 (value, dense, landmark, document, lexical); may be repeated")
	f.String("level", "", "what is ranked: both, chunk or document")
	f.Float64("mmr", 0, "share of relevance, the rest going to variety; 0: off")
	f.Int("neighbours", 0, "chunks to show on each side of a hit")
	f.Int("per-document", 0, "most hits from one document; 0: no limit")
}

func addFilters(cmd *cobra.Command, filters *[]string) {
	cmd.Flags().StringArrayVar(filters, "filter", nil, "only documents whose metadata matches, such as format=markdown, path^=guide/ or year>=2020; may be repeated")
}

// parseFilters reads the values of --filter, all of which must hold.
func parseFilters(exprs []string) (retriever.Filter, error) {
	var out retriever.Filter
	for _, expr := range exprs {
		f, err := retriever.ParseFilter(expr)
		if err != nil {
			return out, usageError{fmt.Errorf("--filter: %w", err)}
		}
		out.All = append(out.All, f.All...)
	}
	return out, nil
}

// options turns settings and flags into a search.
func (s *searchFlags) options(cfg configs.Config) (pipeline.SearchOptions, error) {
	c := cfg.Search
	out := pipeline.SearchOptions{
		K:           c.K,
		Level:       retriever.Level(c.Level),
		Weights:     retriever.Weights{Landmark: c.Landmark, Document: c.Document},
		Lexical:     c.Lexical,
		MMR:         c.MMR,
		Neighbours:  c.Neighbours,
		PerDocument: c.PerDocument,
	}
	if out.Lexical == 0 {
		out.Lexical = -1 // in the options 0 asks for the default
	}
	var err error
	if out.Filter, err = parseFilters(s.filters); err != nil {
		return out, err
	}
	for _, expr := range s.minScores {
		if err := setMinScore(&out.MinScore, expr); err != nil {
			return out, usageError{fmt.Errorf("--min-score %q: %w", expr, err)}
		}
	}
	return out, nil
}

func setMinScore(m *retriever.MinScore, expr string) error {
	kinds := map[string]**float64{"value": &m.Value, "dense": &m.Dense, "landmark": &m.Landmark, "document": &m.Document, "lexical": &m.Lexical}
	kind, number, _ := strings.Cut(expr, "=")
	x, err := strconv.ParseFloat(number, 64)
	if kinds[kind] == nil || err != nil {
		return fmt.Errorf("want KIND=NUMBER with one of value, dense, landmark, document, lexical")
	}
	*kinds[kind] = &x
	return nil
}

func newSearch(a *app) *cobra.Command {
	var find searchFlags
	cmd := &cobra.Command{
		Use:     "search QUESTION",
		Short:   "Show the passages that answer a question best",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		Example: "  waymark search \"how are chunks cut?\"\n  waymark search -k 3 --filter format=markdown --json chunk limits",
	}
	find.add(cmd)
	cmd.Flags().IntP("hits", "k", 0, "how many passages (default 10)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys := map[string]string{"hits": "search.k"}
		for flag, key := range searchKeys {
			keys[flag] = key
		}
		cfg, err := a.config(changed(cmd, keys)...)
		if err != nil {
			return err
		}
		opts, err := find.options(cfg)
		if err != nil {
			return err
		}
		b, err := a.open(cmd.Context(), cfg, wire.Read)
		if err != nil {
			return err
		}
		defer b.Close()
		question := strings.Join(args, " ")
		hits, err := b.Search(cmd.Context(), question, opts)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(struct {
				Question string          `json:"question"`
				Hits     []retriever.Hit `json:"hits"`
			}{question, shown(hits)})
		}
		return printHits(a.stdout, hits)
	}
	return cmd
}

// shown are hits as programs see them.
func shown(hits []retriever.Hit) []retriever.Hit {
	out := slices.Clone(hits)
	for i := range out {
		out[i].Metadata = pipeline.Shown(out[i].Metadata)
	}
	return out
}

// printHits shows passages to a person.
func printHits(w io.Writer, hits []retriever.Hit) error {
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, "nothing found")
		return err
	}
	for i, h := range hits {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printHit(w, fmt.Sprintf("%d.", i+1), h); err != nil {
			return err
		}
	}
	return nil
}

// printHit shows a passage under the number it goes by.
func printHit(w io.Writer, number string, h retriever.Hit) error {
	fmt.Fprintf(w, "%s %s\n", number, where(h.Document, h.Lines, h.Place, h.Headings))
	if _, err := fmt.Fprintf(w, "   %s%s\n", inBytes("bytes %s, ", h.Source), h.Rule); err != nil {
		return err
	}
	for line := range strings.Lines(printable(strings.TrimSpace(h.Shown()))) {
		if _, err := fmt.Fprintf(w, "   | %s\n", strings.TrimSuffix(line, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// inBytes writes the bytes of the file that a passage is, if it is in bytes of it.
func inBytes(format string, source chunker.Range) string {
	if source.Len() == 0 {
		return ""
	}
	return fmt.Sprintf(format, source)
}

// where names a passage the way editors and compilers do, and the headings it
// stands under.
func where(document string, lines retriever.Lines, place chunker.Place, headings []string) string {
	out := oneLine(document)
	if !place.IsZero() {
		out += ", " + oneLine(place.String())
	} else if lines.First > 0 {
		out += fmt.Sprintf(":%d", lines.First)
		if lines.Last > lines.First {
			out += fmt.Sprintf("-%d", lines.Last)
		}
	}
	if len(headings) > 0 {
		out += "  " + oneLine(strings.Join(headings, " > "))
	}
	return out
}
