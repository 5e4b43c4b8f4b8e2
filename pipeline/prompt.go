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

// promptData is what the templates are rendered with.
type promptData struct {
	Question string
	Passages []promptPassage
	// Fence is a line that occurs in no passage; the built-in prompt puts one
	// above and one below each.
	Fence string
	// NotAnswered is the reply when the passages do not answer.
	NotAnswered string
}

// promptPassage is a passage as the templates see it.
type promptPassage struct {
	Number int
	Label  string // title, headings, document and lines
	Text   string
}

// prompts are the parsed templates.
type prompts struct {
	system, question *template.Template
}

func newPrompts(o AnswerOptions) (prompts, error) {
	var p prompts
	var err error
	if p.system, err = parsePrompt("system", cmp.Or(o.SystemPrompt, systemPrompt)); err != nil {
		return p, err
	}
	if p.question, err = parsePrompt("question", cmp.Or(o.QuestionPrompt, questionPrompt)); err != nil {
		return p, err
	}
	// A field that does not exist shows only when a passage is rendered.
	if _, err = p.renderSystem(); err != nil {
		return p, err
	}
	msg, err := p.renderQuestion("sample question", []retriever.Hit{{Text: "sample passage"}})
	if err != nil {
		return p, err
	}
	for _, part := range []string{"sample question", "sample passage"} {
		if !strings.Contains(msg.Text, part) {
			return p, fmt.Errorf("question prompt: it leaves out the %s: use {{.Question}}, and {{.Number}} and {{.Text}} of each of {{.Passages}}", part)
		}
	}
	return p, nil
}

func parsePrompt(name, text string) (*template.Template, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s prompt: %w", name, err)
	}
	return t, nil
}

func (p prompts) renderSystem() (llm.Message, error) {
	return render(p.system, llm.System, promptData{})
}

func (p prompts) renderQuestion(question string, hits []retriever.Hit) (llm.Message, error) {
	data := promptData{Question: question, Fence: fence(hits)}
	for i, h := range hits {
		data.Passages = append(data.Passages, promptPassage{i + 1, label(h), h.Text})
	}
	return render(p.question, llm.User, data)
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
			taken = taken || strings.Contains(h.Text, f)
		}
		if !taken {
			return f
		}
		f = plain + strconv.Itoa(n)
	}
}

// maxLabel bounds in bytes each part of a label.
const maxLabel = 200

// label names a passage in one line: title, headings, document and lines.
func label(h retriever.Hit) string {
	var place []string
	for _, part := range append([]string{h.Title}, h.Headings...) {
		if part = oneLine(part); part != "" && (len(place) == 0 || place[len(place)-1] != part) {
			place = append(place, part)
		}
	}
	text := strings.Join(place, " > ")
	if doc := oneLine(h.Document); doc != "" && doc != text {
		text += " (" + doc + lines(h.Lines) + ")"
	}
	return strings.TrimSpace(text)
}

func lines(l retriever.Lines) string {
	switch {
	case l.First == 0:
		return ""
	case l.First == l.Last:
		return fmt.Sprintf(", line %d", l.First)
	}
	return fmt.Sprintf(", lines %d-%d", l.First, l.Last)
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxLabel {
		s = strings.ToValidUTF8(s[:maxLabel], "") + "..."
	}
	return s
}
