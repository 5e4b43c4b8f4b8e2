package server

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// How many documents a page of the list has.
const (
	defaultPage = 100
	maxPage     = 1000
)

// listed is a document in a list.
type listed struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Format   string         `json:"format"`
	Chunks   int            `json:"chunks"`
	Bytes    int            `json:"bytes,omitempty"` // of the file
	Metadata map[string]any `json:"metadata"`
}

func newListed(d retriever.Document) listed {
	format, _ := d.Metadata[ingest.MetaFormat].(string)
	l := listed{ID: d.ID, Title: d.Title, Format: format, Chunks: len(d.Chunks), Metadata: pipeline.Shown(d.Metadata)}
	if n := len(d.Chunks); n > 0 {
		l.Bytes = d.Chunks[n-1].Source.End
	}
	return l
}

// listDocuments is GET /v1/documents.
func (s *Server) listDocuments(w http.ResponseWriter, r *http.Request) error {
	ctx, query := r.Context(), r.URL.Query()
	limit := defaultPage
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return invalid("limit", "limit %s: want 1 to %d", quoted(text), maxPage)
		}
		limit = n
	}
	p, err := s.open(ctx, query.Get("collection"), false)
	if err != nil {
		return err
	}
	var ids []string
	more := false
	for d, err := range p.Store.Scroll(ctx, retriever.Filter{}, retriever.Want{}) {
		if err != nil {
			return err
		}
		if d.ID <= query.Get("cursor") {
			continue
		}
		if more = len(ids) == limit; more {
			break
		}
		ids = append(ids, d.ID)
	}
	found, err := p.Store.Fetch(ctx, ids, retriever.Want{Chunks: true})
	if err != nil {
		return err
	}
	out := struct {
		Documents []listed `json:"documents"`
		Next      string   `json:"next"`
	}{Documents: []listed{}}
	for _, d := range found {
		out.Documents = append(out.Documents, newListed(d))
	}
	if more {
		out.Next = ids[len(ids)-1]
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

// viewed is a document with its text.
type viewed struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Format   string         `json:"format"`
	Text     string         `json:"text"`
	Metadata map[string]any `json:"metadata"`
	Chunks   []viewedChunk  `json:"chunks"`
}

// viewedChunk is a chunk as a range of the text: in bytes and in UTF-16 units.
type viewedChunk struct {
	Index int `json:"index"`
	Start int `json:"start"`
	End   int `json:"end"`
	span16
	Lines    [2]int        `json:"lines"`
	Place    chunker.Place `json:"place,omitzero"`
	Headings []string      `json:"headings"`
}

func newViewed(d retriever.Document) viewed {
	l := newListed(d)
	v := viewed{l.ID, l.Title, l.Format, d.Text, l.Metadata, make([]viewedChunk, len(d.Chunks))}
	at := 0 // in UTF-16 units; chunks tile the text
	for i, c := range d.Chunks {
		end := at + units16(c.Text.Of(d.Text))
		headings := c.Headings
		if headings == nil {
			headings = []string{}
		}
		v.Chunks[i] = viewedChunk{i, c.Text.Start, c.Text.End, span16{at, end}, [2]int{c.Lines.First, c.Lines.Last}, c.Place, headings}
		at = end
	}
	return v
}

func noDocument(id string) error {
	return &apiError{Status: http.StatusNotFound, Code: "document_not_found", Message: "there is no document " + quoted(id)}
}

// documentOf is the document that a path names, and the pipeline of its collection.
func (s *Server) documentOf(r *http.Request) (id string, p *pipeline.Pipeline, err error) {
	if id, err = pathParam(r, "id"); err != nil {
		return "", nil, err
	}
	p, err = s.open(r.Context(), r.URL.Query().Get("collection"), false)
	return id, p, err
}

// getDocument is GET /v1/documents/ID.
func (s *Server) getDocument(w http.ResponseWriter, r *http.Request) error {
	id, p, err := s.documentOf(r)
	if err != nil {
		return err
	}
	found, err := p.Store.Fetch(r.Context(), []string{id}, retriever.Want{Text: true, Chunks: true})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return noDocument(id)
	}
	s.writeJSON(w, r, http.StatusOK, newViewed(found[0]))
	return nil
}

// postDocuments is POST /v1/documents.
func (s *Server) postDocuments(w http.ResponseWriter, r *http.Request) error {
	uploads, err := s.readUploads(w, r)
	if err != nil {
		return err
	}
	collection := cmp.Or(r.URL.Query().Get("collection"), Default)
	p, err := s.open(r.Context(), collection, true)
	if err != nil {
		return err
	}
	id, err := s.jobs.start(r.Context(), collection, p, uploads)
	if err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusAccepted, map[string]string{"job": id})
	return nil
}

// deleteDocument is DELETE /v1/documents/ID.
func (s *Server) deleteDocument(w http.ResponseWriter, r *http.Request) error {
	id, p, err := s.documentOf(r)
	if err != nil {
		return err
	}
	n, err := p.Remove(r.Context(), id)
	if err != nil {
		return err
	}
	if n == 0 {
		return noDocument(id)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
