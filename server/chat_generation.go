package server

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/waymark-rag/waymark/pipeline"
)

// stopTexts is a text or a list of texts.
type stopTexts []string

const (
	maxStops    = 4
	maxStopText = 256 // bytes
)

// UnmarshalJSON implements json.Unmarshaler.
func (s *stopTexts) UnmarshalJSON(data []byte) error {
	var one string
	if string(data) != "null" && json.Unmarshal(data, &one) == nil {
		*s = stopTexts{one}
	} else if json.Unmarshal(data, (*[]string)(s)) != nil { // null is an empty list
		return invalid("stop", "stop: want a text or a list of up to %d texts", maxStops)
	}
	if len(*s) > maxStops {
		return invalid("stop", "stop: %d texts, want %d or fewer", len(*s), maxStops)
	}
	for _, text := range *s {
		if text == "" || len(text) > maxStopText {
			return invalid("stop", "stop %s: want texts of 1 to %d bytes", quoted(text), maxStopText)
		}
	}
	return nil
}

// generation is how the request wants its answer written.
func (req chatRequest) generation() (pipeline.Generation, error) {
	g := pipeline.Generation{Temperature: req.Temperature, TopP: req.TopP, Seed: req.Seed, Stop: req.Stop}
	for name, n := range map[string]*int{"max_tokens": req.MaxTokens, "max_completion_tokens": req.MaxCompletionTokens} {
		if n != nil && *n < 1 {
			return g, invalid(name, "%s %d: want 1 or more", name, *n)
		}
	}
	if n := cmp.Or(req.MaxCompletionTokens, req.MaxTokens); n != nil {
		g.MaxTokens = *n
	}
	if t := g.Temperature; t != nil && (*t < 0 || *t > 2) {
		return g, invalid("temperature", "temperature %v: want 0 to 2", *t)
	}
	if p := g.TopP; p != nil && (*p <= 0 || *p > 1) {
		return g, invalid("top_p", "top_p %v: want more than 0 and 1 at most", *p)
	}
	return g, nil
}

var (
	// ofWriting are the fields that are for models that write.
	ofWriting = []string{"max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "stop"}
	// ofNoUse are fields that have no effect on any model.
	ofNoUse = []string{"presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "tools", "tool_choice",
		"functions", "function_call", "reasoning_effort"}
)

// withoutEffect returns the fields of a request that change nothing.
func withoutEffect(data []byte, writes bool) (names []string, err error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(data, &given); err != nil {
		return nil, invalidJSON("want an object")
	}
	for name, v := range given {
		if string(v) != "null" && (slices.Contains(ofNoUse, name) || !writes && slices.Contains(ofWriting, name)) {
			names = append(names, name)
		}
	}
	return names, nil
}
