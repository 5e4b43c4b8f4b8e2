package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/pipeline"
)

// chatRequest is what is read of a request for a chat completion. What has no effect
// here is told in the answer's waymark.ignored.
type chatRequest struct {
	Model         string        `json:"model"`
	Messages      []chatMessage `json:"messages"`
	Stream        bool          `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	N                   *int      `json:"n"`
	MaxTokens           *int      `json:"max_tokens"`
	MaxCompletionTokens *int      `json:"max_completion_tokens"`
	Temperature         *float64  `json:"temperature"`
	TopP                *float64  `json:"top_p"`
	Seed                *int      `json:"seed"`
	Stop                stopTexts `json:"stop"`
	ResponseFormat      *struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Waymark chatExtension `json:"waymark"`
}

// chatExtension is the field that is ours: how passages are found, and whether the
// sources are printed below the answer.
type chatExtension struct {
	findRequest
	PrintSources bool `json:"print_sources"`
}

// UnmarshalJSON implements json.Unmarshaler. Here, unlike around it, a field that
// does not exist is refused.
func (x *chatExtension) UnmarshalJSON(data []byte) error {
	type plain chatExtension
	return decode(data, (*plain)(x), true)
}

type chatMessage struct {
	Role    string      `json:"role"`
	Content chatContent `json:"content"`
}

// chatContent is text, or a list of parts of which all are text.
type chatContent string

// UnmarshalJSON implements json.Unmarshaler.
func (c *chatContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil { // null too
		*c = chatContent(text)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return invalid("messages", "the content of a message: want text or a list of parts")
	}
	var texts []string
	for _, p := range parts {
		if p.Type != "text" {
			return invalid("messages", "a part of the type %s: want text alone", quoted(p.Type))
		}
		texts = append(texts, p.Text)
	}
	*c = chatContent(strings.Join(texts, "\n"))
	return nil
}

// conversation is what a chat asks: the last message, and what was said before.
func (req chatRequest) conversation() (question string, history []llm.Message, ignored []string, err error) {
	for i, m := range req.Messages {
		text := string(m.Content)
		switch m.Role {
		case "user", "assistant":
			if strings.TrimSpace(text) != "" { // an assistant's that calls tools is empty
				history = append(history, llm.Message{Role: llm.Role(m.Role), Text: text})
			}
		case "system", "developer", "tool", "function":
			ignored = append(ignored, m.Role+" messages")
		default:
			return "", nil, nil, invalid("messages", "messages[%d].role %s: want system, developer, user, assistant or tool", i, quoted(m.Role))
		}
	}
	if len(history) == 0 || history[len(history)-1].Role != llm.User {
		return "", nil, nil, invalid("messages", "the last message: want one of the role user, with text")
	}
	last := len(history) - 1
	return history[last].Text, history[:last], ignored, nil
}

// chatting is a chat completion on its way.
type chatting struct {
	*asking
	id, model string
	created   int64
	sources   bool // are printed
	usage     bool // is streamed
	ignored   []string
}

// chat is POST /v1/chat/completions.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) error {
	data, err := s.readBody(w, r, s.limits.Body)
	if err != nil {
		return err
	}
	var req chatRequest
	if err := decode(data, &req, false); err != nil {
		return err
	}
	c, err := s.newChatting(r, req, data)
	if err != nil {
		return err
	}
	if req.Stream {
		return s.streamChat(w, r, c)
	}
	out, err := c.run(r.Context(), nil)
	if err != nil {
		return err
	}
	text := out.Text
	if c.sources {
		text += printedSources(out)
	}
	s.writeJSON(w, r, http.StatusOK, c.withSources(chatCompletion{
		chatHead: c.head("chat.completion"),
		Choices: []chatChoice{{
			Message:      &chatReply{Role: "assistant", Content: &text, Annotations: annotations(out)},
			FinishReason: &out.Stopped,
		}},
		Usage: usage(out),
	}, out))
	return nil
}

func (s *Server) newChatting(r *http.Request, req chatRequest, data []byte) (*chatting, error) {
	find := req.Waymark.findRequest
	collection, sources, err := chatModel(req.Model)
	if err != nil {
		return nil, err
	}
	if find.Collection != "" && find.Collection != collection {
		return nil, invalid("waymark.collection", "collection %s: the model %s names another; leave one out", quoted(find.Collection), quoted(req.Model))
	}
	find.Collection = collection
	if req.N != nil && *req.N != 1 {
		return nil, invalid("n", "n %d: there is one answer, want 1", *req.N)
	}
	if f := req.ResponseFormat; f != nil && f.Type != "" && f.Type != "text" {
		return nil, invalid("response_format", "response format %s: want text", quoted(f.Type))
	}
	generation, err := req.generation()
	if err != nil {
		return nil, err
	}
	question, history, ignored, err := req.conversation()
	if err != nil {
		return nil, err
	}
	a, err := s.newAsking(r, question, history, find)
	if err != nil {
		return nil, err
	}
	writes := llm.Writes(a.pipeline.Model)
	a.pipeline = a.pipeline.WithGeneration(generation)
	fields, err := withoutEffect(data, writes)
	if err != nil {
		return nil, err
	}
	ignored = append(ignored, fields...)
	slices.Sort(ignored)
	return &chatting{
		asking: a, id: "chatcmpl-" + newID(), model: req.Model, created: time.Now().Unix(),
		sources: sources || req.Waymark.PrintSources,
		usage:   req.StreamOptions != nil && req.StreamOptions.IncludeUsage,
		ignored: slices.Compact(ignored),
	}, nil
}

// streamChat answers in pieces. The annotations, the citations and what became of the
// check come before the last piece, since they are known when the text is.
func (s *Server) streamChat(w http.ResponseWriter, r *http.Request, c *chatting) error {
	e := s.newEvents(w)
	defer e.close()
	empty := ""
	begun := false
	out, err := c.run(r.Context(), func(ev pipeline.Event) error {
		if ev.Text == "" {
			return nil
		}
		if !begun {
			begun = true
			if err := e.send("", c.chunk(chatReply{Role: "assistant", Content: &empty}, nil)); err != nil {
				return err
			}
		}
		return e.send("", c.chunk(chatReply{Content: &ev.Text}, nil))
	})
	if err == nil {
		err = c.finish(e, out)
	}
	if err != nil {
		return e.fail(r, err, func(described *apiError) error { return e.send("", waymarkErrors(described)) })
	}
	return nil
}

// chunk is a piece of the reply.
func (c *chatting) chunk(reply chatReply, finish *string) chatCompletion {
	return chatCompletion{chatHead: c.head("chat.completion.chunk"), Choices: []chatChoice{{Delta: &reply, FinishReason: finish}}}
}

// finish sends what comes behind the text.
func (c *chatting) finish(e *events, out answer) error {
	var rest []chatCompletion
	if printed := printedSources(out); c.sources && printed != "" {
		rest = append(rest, c.chunk(chatReply{Content: &printed}, nil))
	}
	if notes := annotations(out); len(notes) > 0 {
		rest = append(rest, c.chunk(chatReply{Annotations: notes}, nil))
	}
	rest = append(rest, c.withSources(c.chunk(chatReply{}, &out.Stopped), out))
	if c.usage {
		rest = append(rest, chatCompletion{chatHead: c.head("chat.completion.chunk"), Choices: []chatChoice{}, Usage: usage(out)})
	}
	for _, chunk := range rest {
		if err := e.send("", chunk); err != nil {
			return err
		}
	}
	return e.write("data: [DONE]\n\n")
}
