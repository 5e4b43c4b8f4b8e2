package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// mcpScheme is that of the ids of passages and documents in MCP:
// waymark://COLLECTION/DOCUMENT#START-END, the document escaped as one segment.
const mcpScheme = "waymark"

// mcpK is how many passages the tool search returns if it is not told.
const mcpK = 8

// neighbours is how many chunks on each side fetch adds to a passage.
const neighbours = 2

type mcpSearch struct {
	Query      string `json:"query" jsonschema:"what to look for, in natural language"`
	TopK       int    `json:"top_k,omitempty" jsonschema:"how many passages, 8 if left out"`
	Filters    string `json:"filters,omitempty" jsonschema:"conditions on the documents' metadata, all of which must hold, such as format=markdown year>=2020"`
	Collection string `json:"collection,omitempty" jsonschema:"where to look, the collection default if left out"`
}

type mcpResults struct {
	Results []mcpResult `json:"results" jsonschema:"passages, best first"`
}

type mcpResult struct {
	ID    string        `json:"id" jsonschema:"what to give to fetch"`
	Title string        `json:"title"`
	URL   string        `json:"url" jsonschema:"where a person sees the passage"`
	Text  string        `json:"text"`
	Score float64       `json:"score"`
	Chunk chunker.Range `json:"chunk" jsonschema:"the passage's bytes in the document's text"`
}

type mcpFetch struct {
	ID string `json:"id" jsonschema:"the id of a search result; without what follows # the whole document"`
}

type mcpDocument struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Text     string         `json:"text"`
	URL      string         `json:"url"`
	Metadata map[string]any `json:"metadata"`
}

// mcpFace answers one caller's MCP client.
type mcpFace struct {
	s      *Server
	caller Caller
	base   string // of links
}

// mcpHandler serves MCP over HTTP. It keeps no sessions, so that any of several
// servers can answer any call and shutting down waits for no one.
func (s *Server) mcpHandler() http.HandlerFunc {
	schemas := mcp.NewSchemaCache()
	h := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return s.newMCP(mcpFace{s, callerOf(r.Context()), s.base(r)}, schemas)
	}, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: s.limits.Body, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // guard protects servers without keys; those with keys may stand behind a proxy
	})
	return h.ServeHTTP
}

// ServeMCP speaks MCP over a pair of streams, such as those of a program that a
// desktop client started, until ctx or the input ends. Links lead to the public URL.
func (s *Server) ServeMCP(ctx context.Context, in io.ReadCloser, out io.WriteCloser, caller Caller) error {
	err := s.newMCP(mcpFace{s, caller, s.opts.PublicURL}, nil).Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (s *Server) newMCP(f mcpFace, schemas *mcp.SchemaCache) *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "waymark", Title: "Waymark", Version: cmp.Or(s.opts.Version, "devel")}, &mcp.ServerOptions{
		Instructions: "Search the documents for passages and fetch what surrounds them. Cite passages by their url.",
		Logger:       s.log, SchemaCache: schemas, Capabilities: &mcp.ServerCapabilities{},
	})
	closed := false
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
	mcp.AddTool(m, &mcp.Tool{Name: "search", Title: "Search documents", Description: "Find the passages of the documents that answer a question best.", Annotations: reads}, f.search)
	mcp.AddTool(m, &mcp.Tool{Name: "fetch", Title: "Fetch a document", Description: "Read a passage with what surrounds it, or a whole document.", Annotations: reads}, f.fetch)
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "document", Title: "Document", MIMEType: "text/plain", URITemplate: mcpScheme + "://{collection}/{document}{#passage}",
		Description: "A document, or a passage of it with what surrounds it.",
	}, f.read)
	return m
}

// bound is the context of a call: the caller's, for as long as a request may take.
func (f mcpFace) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(ctx, callerKey, f.caller), f.s.limits.Request)
}

// told is an error as the model that called the tool sees it.
func (f mcpFace) told(ctx context.Context, err error) error {
	e := describe(ctx, err)
	f.s.logFailure(ctx, e)
	if e.Hint != "" {
		return fmt.Errorf("%s (%s)", e.Message, e.Hint)
	}
	return errors.New(e.Message)
}

func (f mcpFace) search(ctx context.Context, _ *mcp.CallToolRequest, in mcpSearch) (*mcp.CallToolResult, mcpResults, error) {
	ctx, cancel := f.bound(ctx)
	defer cancel()
	hits, err := f.find(ctx, in)
	if err != nil {
		return nil, mcpResults{}, f.told(ctx, err)
	}
	out := mcpResults{Results: []mcpResult{}}
	content := []mcp.Content{}
	for _, h := range hits {
		id := mcpID(in.Collection, h.Document, h.Range)
		title := cmp.Or(h.Title, h.Document)
		out.Results = append(out.Results, mcpResult{id, title, passageURL(f.base, in.Collection, h.Document, h.Metadata, h.Range), h.Text, h.Score.Value, h.Range})
		content = append(content, &mcp.TextContent{Text: fmt.Sprintf("%s\n%s\n\n%s", title, id, h.Text)}, &mcp.ResourceLink{URI: id, Name: h.Document, Title: title, MIMEType: "text/plain"})
	}
	if len(hits) == 0 {
		content = append(content, &mcp.TextContent{Text: "nothing found"})
	}
	return &mcp.CallToolResult{Content: content}, out, nil
}

func (f mcpFace) find(ctx context.Context, in mcpSearch) ([]retriever.Hit, error) {
	find := findRequest{Collection: in.Collection, K: in.TopK}
	var err error
	if find.Filter.Filter, err = retriever.ParseFilter(in.Filters); err != nil {
		return nil, invalid("filters", "%v", err)
	}
	opts, err := find.options(in.Query, f.s.opts.Search, mcpK)
	if err != nil {
		return nil, err
	}
	p, err := f.s.open(ctx, in.Collection, false)
	if err != nil {
		return nil, err
	}
	return p.Search(ctx, in.Query, opts)
}

func (f mcpFace) fetch(ctx context.Context, _ *mcp.CallToolRequest, in mcpFetch) (*mcp.CallToolResult, mcpDocument, error) {
	ctx, cancel := f.bound(ctx)
	defer cancel()
	doc, err := f.document(ctx, in.ID)
	if err != nil {
		return nil, mcpDocument{}, f.told(ctx, err)
	}
	return nil, doc, nil
}

// read is a document as a resource.
func (f mcpFace) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	ctx, cancel := f.bound(ctx)
	defer cancel()
	doc, err := f.document(ctx, req.Params.URI)
	if err != nil {
		if describe(ctx, err).Status == http.StatusNotFound {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		return nil, f.told(ctx, err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: doc.Text}}}, nil
}

// document reads what an id names.
func (f mcpFace) document(ctx context.Context, id string) (mcpDocument, error) {
	collection, document, at, err := parseMCPID(id)
	if err != nil {
		return mcpDocument{}, err
	}
	p, err := f.s.open(ctx, collection, false)
	if err != nil {
		return mcpDocument{}, err
	}
	found, err := p.Store.Fetch(ctx, []string{document}, retriever.Want{Text: true, Chunks: true})
	if err != nil {
		return mcpDocument{}, err
	}
	if len(found) == 0 {
		return mcpDocument{}, noDocument(document)
	}
	d := found[0]
	r := chunker.Range{Start: 0, End: len(d.Text)}
	if at != nil {
		if at.End > len(d.Text) {
			return mcpDocument{}, noDocument(id)
		}
		r = around(d.Chunks, *at)
	}
	metadata := pipeline.Shown(d.Metadata)
	maps.Copy(metadata, map[string]any{"document": d.ID, "collection": collection, "start": r.Start, "end": r.End})
	return mcpDocument{id, cmp.Or(d.Title, d.ID), r.Of(d.Text), passageURL(f.base, collection, d.ID, d.Metadata, r), metadata}, nil
}

// around is the range of the chunks that a passage touches and of their neighbours.
func around(chunks []retriever.Chunk, at chunker.Range) chunker.Range {
	first, last := len(chunks), -1
	for i, c := range chunks {
		if c.Text.Overlaps(at) {
			first, last = min(first, i), i
		}
	}
	if last < 0 {
		return at
	}
	return chunker.Range{Start: chunks[max(first-neighbours, 0)].Text.Start, End: chunks[min(last+neighbours, len(chunks)-1)].Text.End}
}

func mcpID(collection, document string, at chunker.Range) string {
	return fmt.Sprintf("%s://%s/%s#%s", mcpScheme, cmp.Or(collection, Default), url.PathEscape(document), at)
}

// parseMCPID reads what mcpID wrote, with or without the passage; what is no such id
// is a document of the default collection.
func parseMCPID(id string) (collection, document string, at *chunker.Range, err error) {
	rest, ok := strings.CutPrefix(id, mcpScheme+"://")
	if !ok {
		return Default, id, nil, nil
	}
	wrong := invalid("id", "id %s: want that of a search result, %s://COLLECTION/DOCUMENT#START-END", quoted(id), mcpScheme)
	rest, passage, hasPassage := strings.Cut(rest, "#")
	collection, escaped, ok := strings.Cut(rest, "/")
	document, unescapeErr := url.PathUnescape(escaped)
	if !ok || unescapeErr != nil || document == "" {
		return "", "", nil, wrong
	}
	if hasPassage {
		start, end, _ := strings.Cut(passage, "-")
		from, err1 := strconv.Atoi(start)
		to, err2 := strconv.Atoi(end)
		if err1 != nil || err2 != nil || from < 0 || to < from {
			return "", "", nil, wrong
		}
		at = &chunker.Range{Start: from, End: to}
	}
	return collection, document, at, nil
}
