package server

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// OpenAI's own client for Go works unchanged: models, chat, stream, embeddings, errors.
func TestOpenAIClient(t *testing.T) {
	f := start(t, extractive(), withKeys)
	f.library.add(t, "alice", Default, "guide/battery.md", battery)
	client := openai.NewClient(option.WithBaseURL(f.url+"/v1"), option.WithAPIKey(aliceReads), option.WithMaxRetries(0))
	ctx := t.Context()

	page, err := client.Models.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range page.Data {
		ids = append(ids, m.ID)
	}
	if !slices.Equal(ids, []string{"waymark", "fake-model"}) {
		t.Errorf("models %q", ids)
	}
	if m, err := client.Models.Get(ctx, "waymark"); err != nil || m.ID != "waymark" {
		t.Errorf("model %+v, error %v", m, err)
	}

	params := openai.ChatCompletionNewParams{
		Model:         "waymark",
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage("How long does the battery last?")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	const want = "The battery lasts up to twelve hours. [1]"
	done, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: params.Model, Messages: params.Messages})
	if err != nil {
		t.Fatal(err)
	}
	message := done.Choices[0].Message
	if message.Content != want || done.Choices[0].FinishReason != "stop" || done.Usage.TotalTokens == 0 {
		t.Errorf("completion %+v", done)
	}
	if a := message.Annotations; len(a) != 1 || a[0].URLCitation.Title != "Battery" || a[0].URLCitation.StartIndex != 38 || a[0].URLCitation.EndIndex != 41 {
		t.Errorf("annotations %+v", message.Annotations)
	}

	stream := client.Chat.Completions.NewStreaming(ctx, params)
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Error("a chunk does not fit those before")
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if acc.Choices[0].Message.Content != want || acc.Choices[0].FinishReason != "stop" || acc.Usage.TotalTokens != done.Usage.TotalTokens {
		t.Errorf("streamed %+v", acc.ChatCompletion)
	}

	for _, format := range []openai.EmbeddingNewParamsEncodingFormat{"", openai.EmbeddingNewParamsEncodingFormatFloat} {
		out, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{
			Model: "fake-model", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a small cat", "dogs"}}, EncodingFormat: format,
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range []string{"a small cat", "dogs"} {
			var got []float32
			for _, x := range out.Data[i].Embedding {
				got = append(got, float32(x))
			}
			if !slices.Equal(got, vectorOf(t, text, false)) {
				t.Errorf("format %q: vector %d is not the model's", format, i)
			}
		}
	}

	params.Model = "gpt-4o"
	_, err = client.Chat.Completions.New(ctx, params)
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 404 || refused.Code != "model_not_found" || refused.Param != "model" || !strings.Contains(refused.Message, "gpt-4o") {
		t.Errorf("error %v", err)
	}
}
