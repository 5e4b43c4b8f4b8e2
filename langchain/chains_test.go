package langchain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/langchain"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/retriever"
)

const boatAnswer = "The key of the boat house hangs behind the kitchen door."

func TestRetrievalQA(t *testing.T) {
	f := guideFixture(t)
	chain := chains.NewRetrievalQAFromLLM(langchain.NewExtractive(nil), f.retriever(t, &langchain.RetrieverOptions{Labels: true}))
	got, err := chains.Run(t.Context(), chain, "Where does the key of the boat house hang?")
	if err != nil || got != boatAnswer+" [1]" {
		t.Errorf("answer %q, %v", got, err)
	}
	got, err = chains.Run(t.Context(), chain, "Who won the football cup?")
	if err != nil || got != llm.NotAnswered {
		t.Errorf("answer %q, %v", got, err)
	}

	// The number of a citation is that of a source document.
	chain.ReturnSourceDocuments = true
	out, err := chains.Call(t.Context(), chain, map[string]any{"query": "When is bread baked in the village?"})
	if err != nil {
		t.Fatal(err)
	}
	sources := out["source_documents"].([]schema.Document)
	if out["text"] != "Bread is baked on Tuesdays in the village. [1]" || sources[0].Metadata[langchain.MetaDocument] != "bread.txt" {
		t.Errorf("answer %q from %v", out["text"], sources[0].Metadata)
	}
}

func TestRetrievalQAOverToRetriever(t *testing.T) {
	f := guideFixture(t)
	filters := vectorstores.WithFilters(map[string]any{"format": "markdown"})
	chain := chains.NewRetrievalQAFromLLM(langchain.NewExtractive(nil), vectorstores.ToRetriever(f, 3, filters))
	got, err := chains.Run(t.Context(), chain, "Where does the key of the boat house hang?")
	if err != nil || got != boatAnswer {
		t.Errorf("answer %q, %v", got, err)
	}
	got, err = chains.Run(t.Context(), chain, "When is bread baked in the village?")
	if err != nil || got != llm.NotAnswered {
		t.Errorf("answer %q, %v: the document with it is filtered out", got, err)
	}
}

func TestRetrievalQAWithAForeignEmbedder(t *testing.T) {
	s, err := langchain.NewVectorStore(langchain.Parts{Embedder: axes{words: []string{"boat", "bread"}}, Open: langchain.SingleTenant(openLocal(t))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, schema.Document{PageContent: boatAnswer}, schema.Document{PageContent: "Bread is baked on Tuesdays."})
	chain := chains.NewRetrievalQAFromLLM(langchain.NewExtractive(nil), vectorstores.ToRetriever(s, 1))
	got, err := chains.Run(t.Context(), chain, "Where does the key of the boat house hang?")
	if err != nil || got != boatAnswer {
		t.Errorf("answer %q, %v", got, err)
	}
}

func TestConversationalRetrievalQA(t *testing.T) {
	f := guideFixture(t)
	buffer := memory.NewConversationBuffer(memory.WithInputKey("question"), memory.WithOutputKey("text"))
	chain := chains.NewConversationalRetrievalQAFromLLM(langchain.NewExtractive(nil), f.retriever(t, &langchain.RetrieverOptions{Labels: true}), buffer)
	chain.ReturnGeneratedQuestion = true
	for _, turn := range []struct{ question, standalone, answer string }{
		{"Where does the key of the boat house hang?", "Where does the key of the boat house hang?", boatAnswer + " [1]"},
		{"What does the lamp burn?", "What does the lamp burn?", "The lamp burns colza oil. [1]"},
		// Both parts of the question that was made of two are answered.
		{"When is it trimmed?", "What does the lamp burn? When is it trimmed?",
			"It is trimmed at dusk and at midnight by the second keeper. [1]\n\nThe lamp burns colza oil. [1]"},
	} {
		out, err := chains.Call(t.Context(), chain, map[string]any{"question": turn.question})
		if err != nil {
			t.Fatal(err)
		}
		if out["generated_question"] != turn.standalone || out["text"] != turn.answer {
			t.Errorf("%s: searched for %q, answered %q", turn.question, out["generated_question"], out["text"])
		}
	}
	history, err := buffer.ChatHistory.Messages(t.Context())
	if err != nil || len(history) != 6 {
		t.Errorf("the memory holds %d messages, %v", len(history), err)
	}
}

// users.md 30: the standalone question is no part of what streams.
func TestOnlyTheAnswerStreams(t *testing.T) {
	f := guideFixture(t)
	chain := chains.NewConversationalRetrievalQAFromLLM(langchain.NewExtractive(nil), f.retriever(t, nil), memory.NewConversationBuffer())
	var streamed strings.Builder
	stream := chains.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
		streamed.Write(chunk)
		return nil
	})
	for _, question := range []string{"What does the lamp burn?", "When is it trimmed?"} {
		streamed.Reset()
		got, err := chains.Run(t.Context(), chain, question, stream)
		if err != nil || got != streamed.String() || strings.Contains(got, "?") {
			t.Errorf("%s: %q streamed, %q returned, %v", question, streamed.String(), got, err)
		}
	}
}

func TestOneShotAgentWithTheSearchTool(t *testing.T) {
	f := guideFixture(t)
	tool, err := langchain.NewSearchTool(f.retriever(t, &langchain.RetrieverOptions{Request: retriever.Request{K: 3}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	agent := agents.NewOneShotAgent(langchain.NewExtractive(nil), []tools.Tool{tool, tools.Calculator{}})
	executor := agents.NewExecutor(agent, agents.WithReturnIntermediateSteps())
	out, err := chains.Call(t.Context(), executor, map[string]any{"input": "Where does the key of the boat house hang?"})
	if err != nil {
		t.Fatal(err)
	}
	steps := out["intermediateSteps"].([]schema.AgentStep)
	if out["output"] != boatAnswer+" [1]" || len(steps) != 1 || steps[0].Action.Tool != "search" || !strings.HasPrefix(steps[0].Observation, "Passage [1] Guide > Boat (guide.md") {
		t.Errorf("output %q after %+v", out["output"], steps)
	}

	empty := newFixture(t, nil)
	tool, err = langchain.NewSearchTool(empty.retriever(t, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := chains.Run(t.Context(), agents.NewExecutor(agents.NewOneShotAgent(langchain.NewExtractive(nil), []tools.Tool{tool})), "Who won the cup?")
	if err != nil || got != llm.NotAnswered {
		t.Errorf("over an empty store: %q, %v", got, err)
	}
}

// A handler that is given to the executor gets what a chain streams.
func TestAgentWithCallbacks(t *testing.T) {
	f := guideFixture(t)
	tool, err := langchain.NewSearchTool(f.retriever(t, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	agent := agents.NewOneShotAgent(langchain.NewExtractive(nil), []tools.Tool{tool}, agents.WithCallbacksHandler(callbacks.SimpleHandler{}))
	got, err := chains.Run(t.Context(), agents.NewExecutor(agent), "What does the lamp burn?")
	if err != nil || !strings.HasPrefix(got, "The lamp burns colza oil. [") {
		t.Errorf("%q, %v", got, err)
	}
}
