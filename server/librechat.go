package server

import (
	"cmp"
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// What follows takes the place of LibreChat's rag_api: files that people attach to
// their chats, each in a collection of their own and seen by its owner.

// libreChat is the collection of LibreChat's files.
const libreChat = "librechat"

// Metadata keys of LibreChat's files. The id of a document is its file_id.
const (
	metaFile   = "file_id"
	metaUser   = "user_id"     // a user, an agent (entity_id), or nobody
	metaBy     = "uploaded_by" // the user who did it, whomever the file is for
	metaSource = "source"      // the file's name
	nobody     = "public"
)

func (s *Server) libreChatRoutes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(s.need(Read))
		r.Get("/ids", s.handle(s.ragIDs))
		r.Get("/documents", s.handle(s.ragDocuments))
		r.Get("/documents/{id}/context", s.handle(s.ragContext))
		r.Post("/text", s.handle(s.ragText))
	})
	r.With(s.need(Write)).Delete("/documents", s.handle(s.ragDelete))
	r.Group(func(r chi.Router) {
		r.Use(s.need(Read), s.queued(s.work), s.within(s.limits.Request))
		r.Post("/query", s.handle(s.ragQuery))
		r.Post("/query_multiple", s.handle(s.ragQuery))
	})
}

// asLibreChat accepts the tokens that LibreChat signs for its users, where the secret
// is set up, beside API keys.
func (s *Server) asLibreChat(next http.Handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		if s.opts.LibreChatSecret != "" {
			user, err := verifyToken(bearer(r), s.opts.LibreChatSecret)
			switch {
			case err == nil:
				r = withCaller(r, Caller{Name: libreChat, Scopes: []Scope{Read, Write}, User: user})
			case s.opts.Authenticate == nil || !errors.Is(err, errNoToken):
				return &apiError{Status: http.StatusUnauthorized, Code: "invalid_key", Message: "the token is not one of LibreChat's", cause: err}
			}
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// owner is whose files a request is about.
func owner(ctx context.Context, entity string) string {
	return cmp.Or(entity, callerOf(ctx).User, nobody)
}

// ownFilter lets the files through that a request may see: of its entity, of its user
// and of nobody.
func ownFilter(ctx context.Context, entity string) retriever.Filter {
	owners := []string{nobody}
	for _, o := range []string{entity, callerOf(ctx).User} {
		if o != "" {
			owners = append(owners, o)
		}
	}
	return retriever.Filter{All: []retriever.Condition{{Key: metaUser, Op: retriever.In, Value: owners}}}
}

// isOwn reports whether a request may see and delete a file: one that it would find,
// or that its user uploaded for an agent.
func isOwn(ctx context.Context, entity string, metadata map[string]any) bool {
	user := callerOf(ctx).User
	return ownFilter(ctx, entity).Match(metadata) || user != "" && metadata[metaBy] == user
}

// ragForm reads the form of an upload.
func (s *Server) ragForm(w http.ResponseWriter, r *http.Request) (u upload, entity string, err error) {
	s.setReadDeadline(w, s.limits.Answer)
	u.metadata = map[string]any{}
	err = s.readForm(w, r, func(part *multipart.Part, data []byte) error {
		switch part.FormName() {
		case "file":
			u.name, u.data = part.FileName(), data // the base name alone
		case "file_id":
			u.id = string(data)
		case "entity_id":
			entity = string(data)
		}
		return nil
	})
	if err != nil {
		return u, "", err
	}
	if err := checkName("file_id", u.id); err != nil {
		return u, "", err
	}
	if entity != "" {
		if err := checkName("entity_id", entity); err != nil {
			return u, "", err
		}
	}
	return u, entity, checkName("file", u.name)
}

// ragReply is what rag_api answers an upload with. known_type false says that the
// file's format cannot be read.
type ragReply struct {
	Status    bool   `json:"status"`
	Message   string `json:"message"`
	FileID    string `json:"file_id"`
	Filename  string `json:"filename"`
	KnownType bool   `json:"known_type"`
}

// ragEmbed is POST /embed with a form. It returns when the file can be found.
func (s *Server) ragEmbed(w http.ResponseWriter, r *http.Request) error {
	u, entity, err := s.ragForm(w, r)
	if err != nil {
		return err
	}
	p, err := s.open(r.Context(), libreChat, true)
	if err != nil {
		return err
	}
	if err := s.notAnothers(r.Context(), p, u.id, entity); err != nil {
		return err
	}
	u.metadata = map[string]any{metaFile: u.id, metaUser: owner(r.Context(), entity), metaBy: owner(r.Context(), ""), metaSource: u.name}
	report, err := u.add(r.Context(), p)
	if err != nil {
		return err
	}
	reply := ragReply{Status: true, Message: "File processed successfully.", FileID: u.id, Filename: u.name, KnownType: true}
	if len(report.Skipped) > 0 {
		reply.Status, reply.KnownType = false, false
		reply.Message = "The file cannot be used: " + report.Skipped[0].Reason
	}
	s.writeJSON(w, r, http.StatusOK, reply)
	return nil
}

// notAnothers refuses to replace a file of someone else.
func (s *Server) notAnothers(ctx context.Context, p *pipeline.Pipeline, id, entity string) error {
	found, err := p.Store.Fetch(ctx, []string{id}, retriever.Want{})
	if err != nil {
		return err
	}
	if len(found) > 0 && !isOwn(ctx, entity, found[0].Metadata) {
		return &apiError{Status: http.StatusForbidden, Code: "missing_scope", Param: metaFile, Message: "the file_id is taken"}
	}
	return nil
}

// ragText is POST /text: the text of a file, which is not kept.
func (s *Server) ragText(w http.ResponseWriter, r *http.Request) error {
	u, _, err := s.ragForm(w, r)
	if err != nil {
		return err
	}
	doc, err := u.document()
	var skip *ingest.Skip
	if err != nil && !errors.As(err, &skip) {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, struct {
		Text      string `json:"text"`
		FileID    string `json:"file_id"`
		Filename  string `json:"filename"`
		KnownType bool   `json:"known_type"`
	}{doc.Text, u.id, u.name, err == nil})
	return nil
}

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
			out = append(out, [2]any{newRAGFound(h.Text, h.Metadata, h.Lines), 1 - h.Score.Dense})
		}
	}
	s.writeJSON(w, r, http.StatusOK, out)
	return nil
}

func newRAGFound(text string, metadata map[string]any, lines retriever.Lines) ragFound {
	m := map[string]any{metaFile: metadata[metaFile], metaUser: metadata[metaUser], metaSource: metadata[metaSource]}
	if lines.First > 0 {
		m["lines"] = [2]int{lines.First, lines.Last}
	}
	return ragFound{text, m, "Document"}
}

// openRAG opens the collection; it is nil as long as nothing was uploaded.
func (s *Server) openRAG(ctx context.Context) (*pipeline.Pipeline, error) {
	p, err := s.open(ctx, libreChat, false)
	if known := (*apiError)(nil); errors.As(err, &known) && known.Code == "collection_not_found" {
		return nil, nil
	}
	return p, err
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
	found, err := p.Store.Fetch(ctx, ids, retriever.Want{Text: true, Chunks: true})
	if err != nil {
		return nil, nil, err
	}
	found = slices.DeleteFunc(found, func(d retriever.Document) bool { return !isOwn(ctx, "", d.Metadata) })
	if len(found) < len(ids) {
		return nil, nil, missing
	}
	return p, found, nil
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
			out = append(out, newRAGFound(c.Text.Of(d.Text), d.Metadata, c.Lines))
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
	s.writeJSON(w, r, http.StatusOK, "The following is the content of the file "+source+":\n\n"+strings.TrimSpace(found[0].Text)+"\n")
	return nil
}

// ragDelete is DELETE /documents with a list of ids.
func (s *Server) ragDelete(w http.ResponseWriter, r *http.Request) error {
	var ids []string
	if err := s.readJSON(w, r, &ids, true); err != nil {
		return err
	}
	p, _, err := s.ragFiles(r.Context(), ids)
	if err != nil {
		return err
	}
	if _, err := p.Store.Delete(r.Context(), ids); err != nil {
		return err
	}
	s.writeJSON(w, r, http.StatusOK, map[string]string{"message": "The files were deleted."})
	return nil
}
