package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// transport carries the calls of a langchaingo client. It adds the API key, so
// that the client never has it, and turns every failure into a providerError,
// which the clients would reduce to less. It follows no redirect: the key is for
// the server that was named.
type transport struct {
	key       string
	keyHeader string // empty means Authorization, as a bearer token
	base      http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	if t.keyHeader != "" {
		req.Header.Del(t.keyHeader)
	}
	switch {
	case t.key == "":
	case t.keyHeader != "":
		req.Header.Set(t.keyHeader, t.key)
	default:
		req.Header.Set("Authorization", "Bearer "+t.key)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, req.Context().Err()
		}
		return nil, t.failure(ErrUnavailable, 0, "cannot reach %s: %v", req.URL.Host, err)
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		return resp, nil
	}
	defer resp.Body.Close()
	text := fmt.Sprintf("%s answered %s", req.URL.Host, resp.Status)
	if to, err := resp.Location(); err == nil && resp.StatusCode < http.StatusBadRequest {
		return nil, t.failure(nil, 0, "%s: redirects are not followed: set the base url to one on %s that answers itself", text, to.Host)
	}
	message := errorMessage(resp.Body)
	if message != "" {
		text += ": " + message
	}
	return nil, t.failure(kindOfAnswer(resp.StatusCode, message), retryAfter(resp.Header), "%s", text)
}

func (t *transport) failure(kind error, wait time.Duration, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if t.key != "" {
		text = strings.ReplaceAll(text, t.key, "[api key]")
	}
	return &providerError{text: text, kind: kind, wait: wait}
}

// retryAfter is how long a server wants to be left alone, 0 if it does not say.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(max(0, min(seconds, 1<<20))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// kindOfAnswer classifies an answer by its status; that a prompt is too long has
// none of its own, and is known by the provider's words.
func kindOfAnswer(status int, message string) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrDenied
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return ErrUnavailable
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		if tooLong.MatchString(message) {
			return ErrTooLong
		}
	}
	if status >= http.StatusInternalServerError {
		return ErrUnavailable
	}
	return nil
}

// tooLong is how OpenAI and vLLM ("maximum context length is"), llama.cpp ("exceeds
// the available context size"), Anthropic ("prompt is too long") and Google ("exceeds
// the maximum number of tokens allowed") say it.
var tooLong = regexp.MustCompile(`(?i)context (length|size|window)|prompt is too long|exceeds the maximum number of tokens`)

// maxMessage bounds in bytes what is shown of an error's body.
const maxMessage = 1000

// errorMessage reads the message out of an error's body: {"error":{"message":
// "..."}} as OpenAI and Anthropic write it, the same in a list as Google does,
// {"error":"..."} as Ollama does, or the text.
func errorMessage(body io.Reader) string {
	data, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return ""
	}
	var shape struct {
		Error json.RawMessage `json:"error"`
	}
	text := string(data)
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	if json.Unmarshal(data, &shape) == nil && len(shape.Error) > 0 {
		var object struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(shape.Error, &text) == nil:
		case json.Unmarshal(shape.Error, &object) == nil:
			text = object.Message
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "..."
	}
	return text
}

// doer returns the transport's own errors: langchaingo's OpenAI client replaces
// the *url.Error that http.Client wraps them in by an empty phrase.
type doer struct{ client *http.Client }

// Do is what langchaingo calls.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	resp, err := d.client.Do(req)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return nil, wrapped.Err
	}
	return resp, err
}
