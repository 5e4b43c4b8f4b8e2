package langchain_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
)

// recording notes the callbacks that it gets.
type recording struct {
	callbacks.SimpleHandler
	calls []string
}

func (r *recording) note(s string) { r.calls = append(r.calls, s) }

func (r *recording) HandleRetrieverStart(_ context.Context, query string) {
	r.note("retriever start: " + query)
}

func (r *recording) HandleRetrieverEnd(_ context.Context, query string, docs []schema.Document) {
	r.note("retriever end: " + query + ": " + docs[0].PageContent)
}

func (r *recording) HandleLLMGenerateContentStart(_ context.Context, messages []llms.MessageContent) {
	r.note(fmt.Sprintf("llm start: %d messages", len(messages)))
}

func (r *recording) HandleLLMGenerateContentEnd(_ context.Context, resp *llms.ContentResponse) {
	r.note("llm end: " + resp.Choices[0].Content)
}

func (r *recording) HandleLLMError(_ context.Context, err error) { r.note("llm error: " + err.Error()) }

func (r *recording) HandleToolStart(_ context.Context, input string) { r.note("tool start: " + input) }
func (r *recording) HandleToolEnd(_ context.Context, output string)  { r.note("tool end: " + output) }
func (r *recording) HandleToolError(_ context.Context, err error) {
	r.note("tool error: " + err.Error())
}
