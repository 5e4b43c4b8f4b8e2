package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/internal/wire"
	"github.com/waymark-rag/waymark/pipeline"
)

func newAsk(a *app) *cobra.Command {
	var find searchFlags
	var llm string
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Answer a question from the index, with citations",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		Long: `Ask finds the passages that answer a question best and has a language model
answer from them; [n] in the answer is passage n in the list below it. Without a
language model the built-in answerer quotes the best sentences. Sentences that
their passages do not bear out are pointed out.`,
		Example: "  waymark ask \"how are chunks cut?\"\n" +
			"  waymark ask --llm ollama/llama3.2 \"how are chunks cut?\"\n" +
			"  waymark ask --llm openai/qwen3 --set llm.base_url=http://localhost:8080/v1 \"how are chunks cut?\"",
	}
	find.add(cmd)
	cmd.Flags().StringVar(&llm, "llm", "", "who answers: extractive, openai/MODEL or ollama/MODEL")
	cmd.Flags().Int("passages", 0, "how many passages to answer from (default 8)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys := map[string]string{"passages": "answer.passages"}
		for flag, key := range searchKeys {
			keys[flag] = key
		}
		cfg, err := a.config(append(changed(cmd, keys), llmSettings(llm)...)...)
		if err != nil {
			return err
		}
		opts, err := find.options(cfg)
		if err != nil {
			return err
		}
		opts.K = cfg.Answer.Passages
		b, err := a.open(cmd.Context(), cfg, wire.Read)
		if err != nil {
			return err
		}
		defer b.Close()
		return a.answer(cmd, b, strings.Join(args, " "), opts)
	}
	return cmd
}

// llmSettings are what --llm PROVIDER/MODEL stands for.
func llmSettings(llm string) []configs.Setting {
	if llm == "" {
		return nil
	}
	provider, model, _ := strings.Cut(llm, "/")
	return []configs.Setting{
		{Key: "llm.provider", Value: provider, From: "--llm"},
		{Key: "llm.model", Value: model, From: "--llm"},
	}
}

// answer prints the answer while it is written, then what it cites.
func (a *app) answer(cmd *cobra.Command, b *wire.Built, question string, opts pipeline.SearchOptions) error {
	if a.json {
		answer, err := b.Ask(cmd.Context(), question, nil, opts, nil)
		if err != nil {
			return err
		}
		return a.printJSON(struct {
			Question string `json:"question"`
			pipeline.Answer
		}{question, answer})
	}
	started := false
	answer, err := b.Ask(cmd.Context(), question, nil, opts, func(e pipeline.Event) error {
		started = started || e.Text != ""
		_, err := io.WriteString(a.stdout, printable(e.Text))
		return err
	})
	if err != nil {
		if started { // keep the error off the half-written line
			err = errors.Join(err, endLine(a.stdout))
		}
		return err
	}
	if err := endLine(a.stdout); err != nil {
		return err
	}
	return printSources(a.stdout, answer)
}

func endLine(w io.Writer) error {
	_, err := io.WriteString(w, "\n")
	return err
}

// printSources lists what an answer cites and what is to be said against it.
func printSources(w io.Writer, answer pipeline.Answer) error {
	if len(answer.Citations) > 0 {
		fmt.Fprintln(w)
	}
	for _, c := range answer.Citations {
		if _, err := fmt.Fprintf(w, "[%d] %s  (bytes %s)\n", c.Number, where(c.Document, c.Lines, c.Headings), c.Source); err != nil {
			return err
		}
	}
	for _, s := range answer.Sentences {
		if !s.Supported {
			fmt.Fprintf(w, "warning: not borne out by its passages: %q (%s)\n", printable(strings.TrimSpace(s.Range.Of(answer.Text))), strings.Join(s.Reasons, "; "))
		}
	}
	if answer.Stopped == "length" {
		fmt.Fprintln(w, "warning: the answer was cut off; allow more with --set answer.answer_tokens=N")
	}
	if d := answer.Dropped; d.Passages > 0 || d.Citations > 0 {
		_, err := fmt.Fprintf(w, "note: %d passages did not fit the context, %d citations named no passage\n", d.Passages, d.Citations)
		return err
	}
	return nil
}
