package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// ragFound is a passage as LangChain writes a document.
type ragFound struct {
	PageContent string         `json:"page_content"`
	Metadata    map[string]any `json:"metadata"`
	Type        string         `json:"type"`
}

// ragQuery is POST /query and /query_multiple: pairs of a passage and its distance,
// nearest first.
func (s *Server) ragQuery(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Query  string   `json:"query"`
		File   string   `json:"file_id"`
		Files  []string `json:"file_ids"`
		K      int      `json:"k"`
		Entity string   `json:"entity_id"`
	}
	if err := s.readJSON(w, r, &req, false); err != nil {
		return err
	}
	if req.File != "" {
		req.Files = append(req.Files, req.File)
	}
	if len(req.Files) == 0 {
		return invalid(metaFile, "there is no file_id: want one, or several in file_ids")
	}
	find := findRequest{K: cmp.Or(req.K, 4)}
	find.Filter.All = append(ownFilter(r.Context(), req.Entity).All, retriever.Condition{Key: metaFile, Op: retriever.In, Value: req.Files})
	opts, err := find.options(req.Query, s.opts.Search, find.K)
	if err != nil {
		return err
	}
	out := [][2]any{}
	p, err := s.openRAG(r.Context())
	if err != nil {
		return err
	}
	if p != nil {
		hits, err := p.Search(r.Context(), req.Query, opts)
		if unknown := (*retriever.UnknownKeyError)(nil); err != nil && !errors.As(err, &unknown) {
			return err
		}
		slices.SortStableFunc(hits, func(a, b retriever.Hit) int { return cmp.Compare(b.Score.Dense, a.Score.Dense) })
		for _, h := range hits {
			out = append(out, [2]any{newRAGFound(h.Shown(), h.Metadata, h.Lines, h.Place), 1 - h.Score.Dense})
		}
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

func newRAGFound(text string, metadata map[string]any, lines retriever.Lines, place chunker.Place) ragFound {
	m := map[string]any{metaFile: metadata[metaFile], metaUser: metadata[metaUser], metaSource: metadata[metaSource]}
	if lines.First > 0 {
		m["lines"] = [2]int{lines.First, lines.Last}
	}
	if !place.IsZero() {
		m["place"] = place.String()
	}
	return ragFound{text, m, "Document"}
}

// ragIDs is GET /ids.
func (s *Server) ragIDs(w http.ResponseWriter, r *http.Request) error {
	ids := []string{}
	p, err := s.openRAG(r.Context())
	if err != nil {
		return err
	}
	if p != nil {
		for d, err := range p.Store.Scroll(r.Context(), retriever.Filter{}, retriever.Want{}) {
			if err != nil {
				return err
			}
			if isOwn(r.Context(), "", d.Metadata) {
				ids = append(ids, d.ID)
			}
		}
	}
	s.writeJSON(w, r, http.StatusOK, ids)
	return nil
}

// ragFiles reads files, all of which must be there for the caller to see.
func (s *Server) ragFiles(ctx context.Context, ids []string) (*pipeline.Pipeline, []retriever.Document, error) {
	missing := &apiError{Status: http.StatusNotFound, Code: "document_not_found", Message: "one or more of the files are not there"}
	p, err := s.openRAG(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(ids) == 0 || len(ids) > maxFiles {
		return nil, nil, invalid("ids", "%d ids: want 1 to %d", len(ids), maxFiles)
	}
	if p == nil {
		return nil, nil, missing
	}
	found, err := ragDocumentsOf(ctx, p, ids, retriever.Want{Text: true, Chunks: true})
	if err != nil {
		return nil, nil, err
	}
	found = slices.DeleteFunc(found, func(d retriever.Document) bool { return !isOwn(ctx, "", d.Metadata) })
	there := map[any]bool{}
	for _, d := range found {
		there[d.Metadata[metaFile]] = true
	}
	if slices.ContainsFunc(ids, func(id string) bool { return !there[id] }) {
		return nil, nil, missing
	}
	return p, found, nil
}

// ragDocumentsOf reads the documents of files: one each, but several of an archive.
func ragDocumentsOf(ctx context.Context, p *pipeline.Pipeline, ids []string, want retriever.Want) ([]retriever.Document, error) {
	var found []retriever.Document
	of := retriever.Filter{All: []retriever.Condition{{Key: metaFile, Op: retriever.In, Value: ids}}}
	for d, err := range p.Store.Scroll(ctx, of, want) {
		if errors.As(err, new(*retriever.UnknownKeyError)) {
			break // nothing was uploaded this way
		}
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, nil
}

// ragDocuments is GET /documents?ids=: the chunks of files.
func (s *Server) ragDocuments(w http.ResponseWriter, r *http.Request) error {
	_, found, err := s.ragFiles(r.Context(), r.URL.Query()["ids"])
	if err != nil {
		return err
	}
	out := []ragFound{}
	for _, d := range found {
		for _, c := range d.Chunks {
			out = append(out, newRAGFound(c.Text.Of(d.Text), d.Metadata, c.Lines, c.Place))
		}
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

// ragContext is GET /documents/ID/context: a file's text as a part of a prompt.
func (s *Server) ragContext(w http.ResponseWriter, r *http.Request) error {
	id, err := pathParam(r, "id")
	if err != nil {
		return err
	}
	_, found, err := s.ragFiles(r.Context(), []string{id})
	if err != nil {
		return err
	}
	source, _ := found[0].Metadata[metaSource].(string)
	texts := make([]string, len(found))
	for i, d := range found {
		texts[i] = strings.TrimSpace(d.Text)
	}
	s.writeJSON(w, r, http.StatusOK, "The following is the content of the file "+source+":\n\n"+strings.Join(texts, "\n\n")+"\n")
	return nil
}

// ragDelete is DELETE /documents with a list of ids.
func (s *Server) ragDelete(w http.ResponseWriter, r *http.Request) error {
	var ids []string
	if err := s.readJSON(w, r, &ids, true); err != nil {
		return err
	}
	p, found, err := s.ragFiles(r.Context(), ids)
	if err != nil {
		return err
	}
	documents := make([]string, len(found))
	for i, d := range found {
		documents[i] = d.ID
	}
	if _, err := p.Store.Delete(r.Context(), documents); err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, map[string]string{"message": "The files were deleted."})
	return nil
}
