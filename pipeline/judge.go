package pipeline

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-rag/waymark/llm"
)

// Judge says who decides whether the passages that a sentence cites bear it out.
// The rules of numbers, dates, names, quotations and shared words always do.
type Judge string

const (
	// JudgeOff leaves it to the rules.
	JudgeOff Judge = "off"
	// JudgeLLM asks the model as well. A sentence that it finds not borne out
	// is not supported; one that it finds borne out is, though it shares few
	// words with its passages, but never against a number, name or quotation
	// that is in none of them.
	JudgeLLM Judge = "llm"
)

// verdictTokens is what the model may take for each verdict.
const verdictTokens = 16

// statement is a sentence to be judged.
type statement struct {
	sentence int // index in Answer.Sentences
	prompt   promptStatement
}

// judgeAnswer has the model judge the sentences of an answer that cite
// something, as many at a time as fit its context. Trouble with the model leaves
// the answer as it is and is told in JudgeError; only the end of ctx is an error.
func (a *Answerer) judgeAnswer(ctx context.Context, answer *Answer) error {
	var all []statement
	for i, s := range answer.Sentences {
		if len(s.Citations) == 0 {
			continue
		}
		text := strings.Join(strings.Fields(withoutMarkers(s.Range.Of(answer.Text))), " ")
		all = append(all, statement{i, promptStatement{len(all) + 1, text, s.Citations}})
	}
	unjudged := 0
	for len(all) > 0 {
		batch, msg, err := a.judgeBatch(all, answer)
		if err != nil {
			return err
		}
		if len(batch) == 0 { // too long for the context by itself
			unjudged++
			all = all[1:]
			continue
		}
		all = all[len(batch):]
		resp, err := a.model.Generate(ctx, llm.Request{
			Messages:    []llm.Message{msg},
			MaxTokens:   judgeTokens(len(batch)),
			Temperature: a.temperature,
		}, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			answer.JudgeError = err.Error()
			return nil
		}
		verdicts := parseVerdicts(resp.Text, batch)
		for i, s := range batch {
			v := verdicts[i]
			if v == "" {
				unjudged++
				continue
			}
			answer.Sentences[s.sentence].settle(v)
		}
	}
	if unjudged > 0 {
		answer.JudgeError = fmt.Sprintf("%d sentences got no verdict that can be read, or did not fit the context", unjudged)
	}
	return nil
}

func judgeTokens(statements int) int { return verdictTokens * (statements + 1) }

// judgeBatch returns the first of the statements that fit the context together,
// and the prompt for them.
func (a *Answerer) judgeBatch(all []statement, answer *Answer) ([]statement, llm.Message, error) {
	var prompt llm.Message
	for n := 1; n <= len(all); n++ {
		statements := make([]promptStatement, n)
		var cited []int
		for i, s := range all[:n] {
			statements[i] = s.prompt
			cited = append(cited, s.prompt.Passages...)
		}
		slices.Sort(cited)
		var passages []numbered
		for _, number := range slices.Compact(cited) {
			passages = append(passages, numbered{number, answer.Passages[answer.Citations[number-1].Passage]})
		}
		msg, err := a.prompts.renderJudge(statements, passages)
		if err != nil {
			return nil, msg, err
		}
		if a.budget.cost(msg)+judgeTokens(n) > a.budget.context {
			return all[:n-1], prompt, nil
		}
		prompt = msg
	}
	return all, prompt, nil
}

var (
	verdictLine = regexp.MustCompile(`(?im)^\W*(?:statement\s*)?(\d{1,3})\W+(yes|no|not supported|unsupported|supported|true|false)\b`)
	verdictOnly = regexp.MustCompile(`(?i)^\W*(yes|no|not supported|unsupported|supported|true|false)\b`)
)

// parseVerdicts reads the judge's reply; a verdict that is not there is empty.
func parseVerdicts(reply string, batch []statement) []Verdict {
	reply = withoutThoughts(reply)
	out := make([]Verdict, len(batch))
	for _, m := range verdictLine.FindAllStringSubmatch(reply, -1) {
		number, _ := strconv.Atoi(m[1]) // up to three digits
		if i := slices.IndexFunc(batch, func(s statement) bool { return s.prompt.Number == number }); i >= 0 {
			out[i] = verdictOf(m[2])
		}
	}
	if m := verdictOnly.FindStringSubmatch(reply); m != nil && len(batch) == 1 {
		out[0] = verdictOf(m[1])
	}
	return out
}

func verdictOf(word string) Verdict {
	switch strings.ToLower(word) {
	case "yes", "supported", "true":
		return Supported
	}
	return Unsupported
}

// settle brings together what the rules and the judge say of a sentence.
func (s *Sentence) settle(v Verdict) {
	s.Verdict = v
	if v == Unsupported {
		s.Reasons = append(s.Reasons, "the judge finds it not borne out by the passages cited")
	} else {
		s.Reasons = slices.DeleteFunc(s.Reasons, func(r string) bool { return strings.HasPrefix(r, fewWords) })
	}
	if s.Supported = len(s.Reasons) == 0; s.Supported {
		s.Reasons = nil
	}
}
