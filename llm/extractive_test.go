package llm_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/llm/llmtest"
)

func ExampleExtractive() {
	model := &llm.Extractive{}
	resp, err := model.Generate(context.Background(), llm.Request{
		Question: "When did the lighthouse open?",
		Sources: []string{
			"The lighthouse stands on a rock. It is painted red and white.",
			"The old harbour closed in 1911. The lighthouse opened in March 1887.",
		},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Text)
	// Output:
	// The lighthouse opened in March 1887. [2]
}

func quote(t *testing.T, model *llm.Extractive, question string, sources ...string) string {
	t.Helper()
	resp, err := model.Generate(context.Background(), llm.Request{Question: question, Sources: sources}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Text
}

func TestExtractive(t *testing.T) {
	tests := []struct {
		name, question string
		sources        []string
		want           string
	}{
		{"best sentence", "Where do large dragons sleep?",
			[]string{"Trees are tall. Small dragons play in trees.", "Dragons eat. Large dragons sleep in caves. They wake late."},
			"Large dragons sleep in caves. [2]"},
		{"other forms of the words", "What did the inventors build?",
			[]string{"They slept. The inventor was building a flying machine. It rained."},
			"The inventor was building a flying machine. [1]"},
		{"number wanted", "How many people live in Oslo?",
			[]string{"People who live in Oslo like snow. About 700,000 people live in Oslo today."},
			"About 700,000 people live in Oslo today. [1]"},
		{"date wanted", "When was the bridge built?",
			[]string{"The bridge was built by hand. The bridge was built in 1890."},
			"The bridge was built in 1890. [1]"},
		{"reason wanted", "Why did the mill close?",
			[]string{"The mill did close at last. The mill did close because the river dried up."},
			"The mill did close because the river dried up. [1]"},
		{"heading names the subject", "What port does Postgres use?",
			[]string{"# Redis\n\nThe port is 6379.", "# Postgres\n\nThe port is 5432."},
			"The port is 5432. [2]"},
		{"list item", "What does the index command need?",
			[]string{"Commands:\n\n- The **index** command needs a folder.\n- The search command needs words."},
			"The index command needs a folder. [1]"},
		{"table row", "What is the port of the Qdrant service?",
			[]string{"| Service | Port |\n|---|---|\n| Qdrant | 6334 |\n| Ollama | 11434 |"},
			"Service: Qdrant; Port: 6334 [1]"},
		{"command", "How is Waymark installed on a Mac?",
			[]string{"Waymark is installed on a Mac with this command:\n\n```sh\nbrew install waymark\n```\n"},
			"Waymark is installed on a Mac with this command: `brew install waymark` [1]"},
		{"long code is not quoted", "How is Waymark installed on a Mac?",
			[]string{"Waymark is installed on a Mac so:\n\n```sh\nbrew tap x\nbrew install waymark\n```\n"},
			"Waymark is installed on a Mac so: [1]"},
		{"the source's own references", "Where is the Eiffel Tower?",
			[]string{"The Eiffel Tower[3] is in Paris.[1][2] It is tall."},
			"The Eiffel Tower is in Paris. [1]"},
		{"wrapped lines", "Who wrote the ballad of Mulan?",
			[]string{"Nobody knows who\nwrote the ballad\nof Mulan. It is old."},
			"Nobody knows who wrote the ballad of Mulan. [1]"},
		{"questions and answers", "Where do dragons sleep?",
			[]string{"Do dragons fly? Yes, most can. Where do dragons sleep? In caves under hills."},
			"In caves under hills. [1]"},
		{"chinese", "龙睡在哪里？", []string{"树很高。龙睡在山洞里。"}, "龙睡在山洞里。 [1]"},
		{"not in the sources", "Who painted the ceiling of the Sistine Chapel?",
			[]string{"Dragons sleep in caves. The ceiling of a cave is low.", "Trees are tall."}, llm.NotAnswered},
		{"no sources", "Who?", nil, llm.NotAnswered},
		{"no words in the question", "What is it?", []string{"Dragons sleep in caves."}, llm.NotAnswered},
		{"only headings", "Where do dragons sleep?", []string{"# Where dragons sleep"}, llm.NotAnswered},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := quote(t, &llm.Extractive{}, test.question, test.sources...); got != test.want {
				t.Errorf("got %q: want %q", got, test.want)
			}
		})
	}
}

func TestExtractiveQuotesMoreOnlyIfItAdds(t *testing.T) {
	sources := []string{
		"Dragons sleep in caves.",
		"Dragons sleep in caves.",           // says the same
		"Dragons sleep in volcanoes.",       // adds something
		"Dragons like gold and old stories", // does not answer
	}
	want := "Dragons sleep in caves. [1]\n\nDragons sleep in volcanoes. [3]"
	if got := quote(t, &llm.Extractive{}, "Where do dragons sleep?", sources...); got != want {
		t.Errorf("got %q: want %q", got, want)
	}
	if got := quote(t, &llm.Extractive{MaxSentences: 1}, "Where do dragons sleep?", sources...); got != "Dragons sleep in caves. [1]" {
		t.Errorf("got %q with one sentence at most", got)
	}
}

func TestExtractiveSimilarity(t *testing.T) {
	source := "The beast rests underground. Trees are tall."
	similar := func(values ...float64) *llm.Extractive {
		return &llm.Extractive{Similarity: func(_ context.Context, _ string, sentences []string) ([]float64, error) {
			if len(sentences) != 2 {
				t.Errorf("asked about %q", sentences)
			}
			return values, nil
		}}
	}
	if got := quote(t, similar(0.9, 0.1), "Where do dragons sleep?", source); got != "The beast rests underground. [1]" {
		t.Errorf("got %q although the meaning is close", got)
	}
	if got := quote(t, similar(0.3, 0.1), "Where do dragons sleep?", source); got != llm.NotAnswered {
		t.Errorf("got %q although neither words nor meaning are close", got)
	}
	// Words and meaning count together.
	if got := quote(t, similar(0.3, 0.1), "Who rests?", source); got != "The beast rests underground. [1]" {
		t.Errorf("got %q although words and meaning are both near", got)
	}
}

func TestExtractiveFails(t *testing.T) {
	broken := errors.New("no encoder")
	sims := func(values []float64, err error) *llm.Extractive {
		return &llm.Extractive{Similarity: func(context.Context, string, []string) ([]float64, error) { return values, err }}
	}
	tests := []struct {
		name, question, want string
		model                *llm.Extractive
	}{
		{"similarity fails", "Who?", "comparing 1 sentences with the question: no encoder", sims(nil, broken)},
		{"similarity is short", "Who?", "got 0 similarities", sims(nil, nil)},
		{"no question", " ", "set Request.Question", &llm.Extractive{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.model.Generate(context.Background(), llm.Request{Question: test.question, Sources: []string{"Dragons sleep."}}, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v: want %q", err, test.want)
			}
		})
	}
}

func TestModels(t *testing.T) {
	t.Run("extractive", func(t *testing.T) { llmtest.TestModel(t, &llm.Extractive{}) })
	t.Run("echo", func(t *testing.T) { llmtest.TestModel(t, llmtest.Echo{}) })
	t.Run("scripted", func(t *testing.T) {
		llmtest.TestModel(t, &llmtest.Scripted{Pieces: []string{"In ", "caves [1]"}, Stopped: "length"})
	})
}

func FuzzExtractive(f *testing.F) {
	f.Add("Where do dragons sleep in 1,200 caves?", "# Dragons\n\nDragons sleep [2] in **caves**.\n- x\n| a | b |\n|---|---|\n| 1. C | d |\n```\ny\n```")
	f.Fuzz(func(t *testing.T, question, source string) {
		req := llm.Request{Question: question, Sources: []string{source, "Dragons sleep.", source}}
		var pieces strings.Builder
		resp, err := (&llm.Extractive{}).Generate(context.Background(), req, func(p string) error {
			pieces.WriteString(p)
			return nil
		})
		if err != nil {
			if strings.TrimSpace(question) != "" {
				t.Fatal(err)
			}
			return
		}
		if resp.Text != pieces.String() || resp.Text == "" {
			t.Fatalf("streamed %q: want %q", pieces.String(), resp.Text)
		}
	})
}
