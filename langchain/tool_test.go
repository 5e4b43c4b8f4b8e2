package langchain_test

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/schema"

	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/retriever"
)

func TestSearchTool(t *testing.T) {
	log := &recording{}
	f := guideFixture(t)
	tool, err := langchain.NewSearchTool(f.retriever(t, &langchain.RetrieverOptions{Request: retriever.Request{K: 2}}), &langchain.SearchToolOptions{Callbacks: log})
	if err != nil {
		t.Fatal(err)
	}
	if tool.Name() != "search" || !strings.Contains(tool.Description(), "Cite the passages") {
		t.Errorf("%s: %s", tool.Name(), tool.Description())
	}
	got, err := tool.Call(t.Context(), "Where does the key of the boat house hang?")
	if err != nil {
		t.Fatal(err)
	}
	const want = "Passage [1] Guide > Boat (guide.md, lines 9-11)\n## Boat\n\nThe key of the boat house hangs behind the kitchen door. "
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "\n\nPassage [2] ") {
		t.Errorf("got %q", got)
	}
	wantDiff(t, "calls", []string{"tool start: Where does the key of the boat house hang?", "tool end: " + got}, log.calls)

	for input, want := range map[string]string{"": "The input is empty", " \n": "The input is empty"} {
		if got, err := tool.Call(t.Context(), input); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("input %q: %q, %v", input, got, err)
		}
	}
	f.store.Close()
	if _, err := tool.Call(t.Context(), "boat"); err == nil {
		t.Error("a closed store: no error")
	}
	if last := log.calls[len(log.calls)-1]; !strings.HasPrefix(last, "tool error: ") {
		t.Errorf("last call %q", last)
	}
}

func TestSearchToolOptions(t *testing.T) {
	f := newFixture(t, nil)
	tool, err := langchain.NewSearchTool(f.retriever(t, nil), &langchain.SearchToolOptions{Name: "handbook", Description: "Knows the station."})
	if err != nil {
		t.Fatal(err)
	}
	if tool.Name() != "handbook" || tool.Description() != "Knows the station." {
		t.Errorf("%s: %s", tool.Name(), tool.Description())
	}
	if got, err := tool.Call(t.Context(), "boat"); err != nil || got != "Nothing was found." {
		t.Errorf("an empty store: %q, %v", got, err)
	}
	_, err = langchain.NewSearchTool(nil, nil)
	wantError(t, err, "needs a retriever")
}

// The retriever that a tool is made of keeps its own options.
func TestSearchToolLeavesItsRetrieverAlone(t *testing.T) {
	f := newFixture(t, nil)
	add(t, f, schema.Document{PageContent: "Amber is resin."})
	r := f.retriever(t, nil)
	if _, err := langchain.NewSearchTool(r, nil); err != nil {
		t.Fatal(err)
	}
	if got := relevant(t, r, "amber"); got[0].PageContent != "Amber is resin." {
		t.Errorf("the retriever returns %q", got[0].PageContent)
	}
}
