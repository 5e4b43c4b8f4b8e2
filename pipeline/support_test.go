package pipeline

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

func TestSupport(t *testing.T) {
	passage := "The Panthers, led by Coach Ron Rivera, gave up just 308 points in the 2015-09-13 season. " +
		"\"We never looked back, not once,\" he told Japanese reporters. They sold 1,200,000 tickets."
	tests := []struct {
		name, answer string
		reasons      []string
	}{
		{"own words", "The Panthers gave up 308 points [1].", nil},
		{"paraphrase", "Just 308 points were given away by Rivera's Panthers. [1]", nil},
		{"number in another form", "They sold 1200000 tickets. [1]", nil},
		{"date in another form", "The season began in September 2015. [1]", nil},
		{"related name", "He spoke to reporters from Japan. [1]", nil},
		{"number in words", "Ron Rivera told two reporters. [1]", nil},
		{"wrong number", "The Panthers gave up 380 points. [1]", []string{`the number "380" is in no passage cited`}},
		{"wrong name", "The Panthers, led by Coach Bob Rivera, gave up 308 points. [1]", []string{`the name "Bob" is in no passage cited`}},
		{"quotation", "He told reporters \"we never looked back\". [1]", nil},
		{"wrong quotation", "He told reporters “we always looked back”. [1]", []string{`the quotation "we always looked back" is in no passage cited`}},
		{"something else", "Whales sing across oceans during migration. [1]", []string{"only 0 of its 5 words are in the passages cited"}},
		{"no content", "Yes [1]", []string{"only 0 of its 1 words are in the passages cited"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, p := parse(1, test.answer)
			got := checkSupport(text, p.marks, []string{passage})
			if len(got) != 1 {
				t.Fatalf("got %d sentences: want 1", len(got))
			}
			if diff := cmp.Diff(test.reasons, got[0].Reasons); diff != "" || got[0].Supported != (test.reasons == nil) {
				t.Errorf("supported %v, reasons (-want +got):\n%s", got[0].Supported, diff)
			}
		})
	}
}

func TestCitedSentences(t *testing.T) {
	type sentence struct {
		Text      string
		Citations []int
	}
	tests := []struct {
		name, answer string
		want         []sentence
	}{
		{"marker before the stop", "Dragons sleep [1]. They snore [2].", []sentence{{"Dragons sleep [1].", []int{1}}, {"They snore [2].", []int{2}}}},
		{"marker behind the stop", "Dragons sleep. [1] They snore.[2]", []sentence{{"Dragons sleep. [1]", []int{1}}, {"They snore.[2]", []int{2}}}},
		{"several", "Dragons [1] sleep. [2][3]", []sentence{{"Dragons [1] sleep. [2][3]", []int{1, 2, 3}}}},
		{"none", "Dragons sleep. They snore. [1]", []sentence{{"Dragons sleep.", nil}, {"They snore. [1]", []int{1}}}},
		{"marker begins a line", "Dragons sleep.\n\n[1] says they snore.", []sentence{{"Dragons sleep.", nil}, {"[1] says they snore.", []int{1}}}},
		{"marker on its own line", "Dragons sleep.\n[1]\n\nThey snore.", []sentence{{"Dragons sleep.\n[1]", []int{1}}, {"They snore.", nil}}},
		{"list", "They:\n- sleep [1]\n- snore [2]", []sentence{{"They:", nil}, {"sleep [1]", []int{1}}, {"snore [2]", []int{2}}}},
		{"code and heading", "# Dragons\n\n```\nsleep\n```\n\nThey snore. [1]", []sentence{{"They snore. [1]", []int{1}}}},
		{"only a marker", "[1]", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, p := parse(3, test.answer)
			var got []sentence
			for _, s := range citedSentences(text, p.marks) {
				got = append(got, sentence{s.Range.Of(text), s.Citations})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the passages hold, what the extractive model quotes is cited to the
// passage it stands in, and supported by it.
func TestExtractiveIsSupported(t *testing.T) {
	parts := []string{"Dragons sleep", "in 1,200 caves", "since May 2015", "[3]", "[^1]", "(see [2])", "**loudly**", "“all day long”", "\"never mind\"",
		"Dr. Smith", "e.g. Smaug", "x[0]", "`a[1]`", "\n", "\n\n", "- ", "## Sleep\n", "> ", "| Name | Age |\n|---|---|\n| Smaug | 171. Old |\n",
		"```\nsleep 1\n```\n", ".", ".", "!", "?", ",", ":", "龙睡在山洞里。", "１２", "【2】", "they snore", "a__b", "2**3", "1[2]3", "[link](http://x.test/)", "\\[1\\]"}
	answered := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var hits []retriever.Hit
		for range 3 {
			var b strings.Builder
			for range 5 + r.IntN(20) {
				b.WriteString(parts[r.IntN(len(parts))])
				if r.IntN(4) > 0 {
					b.WriteByte(' ')
				}
			}
			hits = append(hits, retriever.Hit{Document: "d", Text: b.String()})
		}
		if extractiveIsSupported(t, "How long do dragons sleep in caves?", hits) {
			answered++
		}
	}
	if answered < 300 {
		t.Errorf("only %d of 1000 were answered: the test says too little", answered)
	}
}

func FuzzExtractiveIsSupported(f *testing.F) {
	f.Add("Where do dragons sleep in caves?", "Dragons sleep [2] in **caves**. \"x\n> y\" They", "| a | b. C |\n|---|---|\n| dragons | sleep. D |")
	f.Fuzz(func(t *testing.T, question, first, second string) {
		if strings.TrimSpace(question) != "" && len(question)+len(first)+len(second) < 2000 {
			extractiveIsSupported(t, question, []retriever.Hit{{Text: first}, {Text: second}})
		}
	})
}

// extractiveIsSupported checks an extractive answer, and returns false if there
// is none.
func extractiveIsSupported(t *testing.T, question string, hits []retriever.Hit) bool {
	t.Helper()
	answerer, err := NewAnswerer(&llm.Extractive{}, AnswerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := answerer.Answer(context.Background(), AnswerRequest{Question: question, Hits: hits}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.NotAnswered {
		return false
	}
	if len(answer.Sentences) == 0 || answer.Dropped.Citations > 0 {
		t.Fatalf("%d sentences, %d citations dropped in %q\nof %q", len(answer.Sentences), answer.Dropped.Citations, answer.Text, sources(hits))
	}
	for _, s := range answer.Sentences {
		if !s.Supported || len(s.Citations) != 1 {
			t.Fatalf("%q cites %v, not supported: %q\nanswer %q\nof %q", s.Range.Of(answer.Text), s.Citations, s.Reasons, answer.Text, sources(hits))
		}
	}
	return true
}

func FuzzSupport(f *testing.F) {
	f.Add("Dragons sleep [1]. \"They\n snore\" 3.5 [2]", "Dragons sleep\n\n| a | b |")
	f.Fuzz(func(t *testing.T, answer, passage string) {
		text, p := parse(2, answer)
		passages := make([]string, len(p.used))
		for i := range passages {
			passages[i] = passage
		}
		at := 0
		for _, s := range checkSupport(text, p.marks, passages) {
			if s.Range.Start < at || s.Range.End < s.Range.Start || s.Range.End > len(text) {
				t.Fatalf("sentence %v after %d of %q", s.Range, at, text)
			}
			if s.Supported != (len(s.Reasons) == 0) || s.Supported && len(s.Citations) == 0 {
				t.Fatalf("inconsistent: %+v", s)
			}
			at = s.Range.End
		}
	})
}
