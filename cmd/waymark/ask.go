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
	var flags answerFlags
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
	flags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		b, opts, err := flags.open(cmd, a)
		if err != nil {
			return err
		}
		defer b.Close()
		return a.answer(cmd, b, strings.Join(args, " "), opts)
	}
	return cmd
}

// answerFlags are the flags of ask and chat.
type answerFlags struct {
	find searchFlags
	llm  string
}

func (f *answerFlags) add(cmd *cobra.Command) {
	f.find.add(cmd)
	cmd.Flags().StringVar(&f.llm, "llm", "", "who answers: extractive, or openai/MODEL, ollama/MODEL, anthropic/MODEL or google/MODEL")
	cmd.Flags().Int("passages", 0, "how many passages to answer from (default 8)")
}

// open builds the pipeline that settings and flags describe, and how it searches.
func (f *answerFlags) open(cmd *cobra.Command, a *app) (*wire.Built, pipeline.SearchOptions, error) {
	keys := map[string]string{"passages": "answer.passages"}
	for flag, key := range searchKeys {
		keys[flag] = key
	}
	cfg, err := a.config(append(changed(cmd, keys), llmSettings(f.llm)...)...)
	if err != nil {
		return nil, pipeline.SearchOptions{}, err
	}
	opts, err := f.find.options(cfg)
	if err != nil {
		return nil, opts, err
	}
	opts.K = cfg.Answer.Passages
	b, err := a.open(cmd.Context(), cfg, wire.Read)
	return b, opts, err
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

// asked is a question and its answer, for programs.
type asked struct {
	Question string `json:"question"`
	pipeline.Answer
}

func (a *app) answer(cmd *cobra.Command, b *wire.Built, question string, opts pipeline.SearchOptions) error {
	if a.json {
		answer, err := b.Ask(cmd.Context(), question, nil, opts, nil)
		if err != nil {
			return err
		}
		answer.Passages = shown(answer.Passages)
		return a.printJSON(asked{question, answer})
	}
	_, err := a.printStream(question, func(stream func(pipeline.Event) error) (pipeline.Answer, error) {
		return b.Ask(cmd.Context(), question, nil, opts, stream)
	})
	return err
}

// printStream prints an answer while ask writes it, then what it cites.
func (a *app) printStream(question string, ask func(stream func(pipeline.Event) error) (pipeline.Answer, error)) (pipeline.Answer, error) {
	started := false
	answer, err := ask(func(e pipeline.Event) error {
		if e.Query != "" && e.Query != question {
			fmt.Fprintf(a.stdout, "(searched for: %s)\n", oneLine(e.Query))
		}
		started = started || e.Text != ""
		_, err := io.WriteString(a.stdout, printable(e.Text))
		return err
	})
	if err != nil {
		if started { // keep the error off the half-written line
			err = errors.Join(err, endLine(a.stdout))
		}
		return answer, err
	}
	if err := endLine(a.stdout); err != nil {
		return answer, err
	}
	return answer, printSources(a.stdout, answer)
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
		if _, err := fmt.Fprintf(w, "[%d] %s%s\n", c.Number, where(c.Document, c.Lines, c.Place, c.Headings), inBytes("  (bytes %s)", c.Source)); err != nil {
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
	if answer.JudgeError != "" {
		fmt.Fprintf(w, "warning: the judge: %s\n", oneLine(answer.JudgeError))
	}
	d := answer.Dropped
	if d.History > 0 {
		fmt.Fprintf(w, "note: %d messages of the conversation did not fit the context\n", d.History)
	}
	if d.Passages > 0 || d.Citations > 0 {
		_, err := fmt.Fprintf(w, "note: %d passages did not fit the context, %d citations named no passage\n", d.Passages, d.Citations)
		return err
	}
	return nil
}
