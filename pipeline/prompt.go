package pipeline

import (
	"cmp"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

//go:embed prompts/system.tmpl
var systemPrompt string

//go:embed prompts/question.tmpl
var questionPrompt string

//go:embed prompts/condense.tmpl
var condensePrompt string

//go:embed prompts/judge.tmpl
var judgePrompt string

// promptData is what the templates are rendered with.
type promptData struct {
	Question string
	// Query is what was searched for; it differs from the question where that
	// follows on others.
	Query    string
	Passages []promptPassage
	// Fence is a line that occurs in no passage; the built-in prompts put one
	// above and one below each.
	Fence string
	// NotAnswered is the reply when the passages do not answer.
	NotAnswered string
	// History is for the condense prompt, oldest first.
	History []llm.Message
	// Statements are for the judge prompt.
	Statements []promptStatement
}

// promptPassage is a passage as the templates see it.
type promptPassage struct {
	Number int
	Label  string // title, headings, document and where in it
	Text   string
}

// promptStatement is a sentence of an answer as the judge sees it.
type promptStatement struct {
	Number   int
	Text     string // without markers
	Passages []int  // numbers of those it cites
}

// prompts are the parsed templates.
type prompts struct {
	system, question, condense, judge *template.Template
}

func newPrompts(o AnswerOptions) (prompts, error) {
	var p prompts
	for _, t := range []struct {
		name, own, builtIn string
		into               **template.Template
	}{
		{"system", o.SystemPrompt, systemPrompt, &p.system},
		{"question", o.QuestionPrompt, questionPrompt, &p.question},
		{"condense", o.CondensePrompt, condensePrompt, &p.condense},
		{"judge", o.JudgePrompt, judgePrompt, &p.judge},
	} {
		var err error
		*t.into, err = template.New(t.name).Option("missingkey=error").Parse(cmp.Or(t.own, t.builtIn))
		if err != nil {
			return p, fmt.Errorf("%s prompt: %w", t.name, err)
		}
	}
	return p, p.check()
}

// check renders each template with samples: a field that does not exist, or one
// that is left out, shows only then.
func (p prompts) check() error {
	if _, err := p.renderSystem(); err != nil {
		return err
	}
	passage := []retriever.Hit{{Text: "sample passage"}}
	samples := []struct {
		name   string
		render func() (llm.Message, error)
		parts  [][2]string // what must be there, and how to put it there
	}{
		{"question", func() (llm.Message, error) {
			return p.renderQuestion("sample question", "sample query", passage)
		}, [][2]string{{"sample question", "{{.Question}}"}, {"sample passage", "{{.Number}} and {{.Text}} of each of {{.Passages}}"}}},
		{"condense", func() (llm.Message, error) {
			return p.renderCondense("sample question", []llm.Message{{Role: llm.User, Text: "sample message"}})
		}, [][2]string{{"sample question", "{{.Question}}"}, {"sample message", "{{.Role}} and {{.Text}} of each of {{.History}}"}}},
		{"judge", func() (llm.Message, error) {
			return p.renderJudge([]promptStatement{{1, "sample statement", []int{1}}}, []numbered{{1, passage[0]}})
		}, [][2]string{{"sample statement", "{{.Number}} and {{.Text}} of each of {{.Statements}}"}, {"sample passage", "{{.Number}} and {{.Text}} of each of {{.Passages}}"}}},
	}
	for _, s := range samples {
		msg, err := s.render()
		if err != nil {
			return err
		}
		for _, part := range s.parts {
			if !strings.Contains(msg.Text, part[0]) {
				return fmt.Errorf("%s prompt: it leaves out the %s: use %s", s.name, part[0], part[1])
			}
		}
	}
	return nil
}

func (p prompts) renderSystem() (llm.Message, error) {
	return render(p.system, llm.System, promptData{})
}

func (p prompts) renderQuestion(question, query string, hits []retriever.Hit) (llm.Message, error) {
	data := promptData{Question: question, Query: query, Fence: fence(hits)}
	for i, h := range hits {
		data.Passages = append(data.Passages, promptPassage{i + 1, label(h), h.Shown()})
	}
	return render(p.question, llm.User, data)
}

func (p prompts) renderCondense(question string, history []llm.Message) (llm.Message, error) {
	return render(p.condense, llm.User, promptData{Question: question, Query: question, History: history})
}

// numbered is a passage with its number in a prompt.
type numbered struct {
	number int
	hit    retriever.Hit
}

func (p prompts) renderJudge(statements []promptStatement, passages []numbered) (llm.Message, error) {
	data := promptData{Statements: statements}
	hits := make([]retriever.Hit, len(passages))
	for i, n := range passages {
		hits[i] = n.hit
		data.Passages = append(data.Passages, promptPassage{n.number, label(n.hit), n.hit.Shown()})
	}
	data.Fence = fence(hits)
	return render(p.judge, llm.User, data)
}

func render(t *template.Template, role llm.Role, data promptData) (llm.Message, error) {
	data.NotAnswered = llm.NotAnswered
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return llm.Message{}, fmt.Errorf("%s prompt: %w", t.Name(), err)
	}
	return llm.Message{Role: role, Text: strings.TrimSpace(b.String())}, nil
}

// fence returns a line that no passage holds, so that none can end early and go
// on as if it were the prompt.
func fence(hits []retriever.Hit) string {
	const plain = "-----"
	f := plain
	for n := 1; ; n++ {
		taken := false
		for _, h := range hits {
			taken = taken || strings.Contains(h.Shown(), f)
		}
		if !taken {
			return f
		}
		f = plain + strconv.Itoa(n)
	}
}

// maxLabel bounds in bytes each part of a label.
const maxLabel = 200

// label names a passage in one line: title, headings, document and where in it.
func label(h retriever.Hit) string {
	text, document, where := Place(h)
	if document != "" && document != text {
		text += " (" + document + where + ")"
	}
	return strings.TrimSpace(text)
}

// Place says where a passage stands, each part in one line: the path of its title
// and headings, its document, and where in it as ", lines 3-5" or ", page 12", empty if
// unknown.
func Place(h retriever.Hit) (path, document, where string) {
	var parts []string
	for _, part := range append([]string{h.Title}, h.Headings...) {
		if part = oneLine(part); part != "" && (len(parts) == 0 || parts[len(parts)-1] != part) {
			parts = append(parts, part)
		}
	}
	if where = oneLine(retriever.Where(h.Lines, h.Place)); where != "" {
		where = ", " + where
	}
	return strings.Join(parts, " > "), oneLine(h.Document), where
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxLabel {
		s = strings.ToValidUTF8(s[:maxLabel], "") + "..."
	}
	return s
}
