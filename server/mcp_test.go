package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// keyed is an HTTP client that sends an API key.
func keyed(key string) *http.Client { return &http.Client{Transport: withKey(key)} }

type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	if k != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(k))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// checkTools lists and calls both tools, as any client does.
func checkTools(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	ctx := t.Context()
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if a := tool.Annotations; !a.ReadOnlyHint || !a.IdempotentHint || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"fetch", "search"}) {
		t.Fatalf("tools %q", names)
	}

	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "charged quickly", "top_k": 1}})
	if err != nil {
		t.Fatal(err)
	}
	var found mcpResults
	decodeStructured(t, res, &found)
	if len(found.Results) != 1 || found.Results[0].ID != "waymark://default/guide%2Fbattery.md#84-150" || found.Results[0].Title != "Battery" {
		t.Fatalf("results %+v", found.Results)
	}
	if link, ok := res.Content[1].(*mcp.ResourceLink); !ok || link.URI != found.Results[0].ID {
		t.Errorf("content %+v, want a link behind the text", res.Content)
	}

	var passage, whole mcpDocument
	fetch := func(id string, v *mcpDocument) {
		t.Helper()
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "fetch", Arguments: map[string]any{"id": id}})
		if err != nil {
			t.Fatal(err)
		}
		decodeStructured(t, res, v)
	}
	fetch(found.Results[0].ID, &passage)
	fetch("screen.md", &whole)
	if passage.Text != battery || whole.Text != screen || whole.Metadata["format"] != "markdown" {
		t.Errorf("passage %q, whole %q", passage.Text, whole.Text)
	}

	read, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: found.Results[0].ID})
	if err != nil || read.Contents[0].Text != battery {
		t.Errorf("resource %+v, error %v", read, err)
	}
	if _, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "waymark://default/none.md"}); err == nil {
		t.Error("a resource that is not there was read")
	}
	for args, want := range map[string]string{
		`{"query":" "}`: "the question is empty", `{"query":"x","filters":"author=me"}`: "no document has that metadata key",
		`{"query":"x","collection":"none"}`: `no collection "none"`, `{"query":"x","top_k":5000}`: "want 1 to 1000",
	} {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.Contains(text, want) {
			t.Errorf("%s: %q, want an error with %q", args, text, want)
		}
	}
	for _, id := range []string{"none.md", "waymark://default/none.md#0-3", "waymark://default/screen.md#0-9999", "waymark://default/screen.md#9", "waymark://x", "waymark://../screen.md"} {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "fetch", Arguments: map[string]any{"id": id}})
		if err != nil {
			t.Fatal(err)
		}
		if !res.IsError {
			t.Errorf("fetch %q worked: %+v", id, res.StructuredContent)
		}
	}
}

func TestMCPOverHTTP(t *testing.T) {
	f := start(t, extractive(), nil)
	checkTools(t, connectMCP(t, f, ""))
}

func TestMCPOverStreams(t *testing.T) {
	f := start(t, extractive(), nil)
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- f.ServeMCP(context.Background(), serverIn, serverOut, everyone) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkTools(t, session)
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
