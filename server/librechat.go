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
	if len(report.Skipped) > 0 && report.Added+report.Changed+report.Unchanged == 0 {
		reply.Status, reply.KnownType = false, false
		reply.Message = "The file cannot be used: " + report.Skipped[0].Reason
	}
	s.writeJSON(w, r, http.StatusOK, reply)
	return nil
}

// notAnothers refuses to replace a file of someone else.
func (s *Server) notAnothers(ctx context.Context, p *pipeline.Pipeline, id, entity string) error {
	found, err := ragDocumentsOf(ctx, p, []string{id}, retriever.Want{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(d retriever.Document) bool { return !isOwn(ctx, entity, d.Metadata) }) {
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
	var texts []string
	for doc, err := range u.documents(r.Context()) {
		if err == nil {
			texts = append(texts, doc.Text)
		} else if !errors.As(err, new(*ingest.Skip)) {
			return err
		}
	}
	s.writeJSON(w, r, http.StatusOK, struct {
		Text      string `json:"text"`
		FileID    string `json:"file_id"`
		Filename  string `json:"filename"`
		KnownType bool   `json:"known_type"`
	}{strings.Join(texts, "\n\n"), u.id, u.name, len(texts) > 0})
	return nil
}

// openRAG opens the collection; it is nil as long as nothing was uploaded.
func (s *Server) openRAG(ctx context.Context) (*pipeline.Pipeline, error) {
	p, err := s.open(ctx, libreChat, false)
	if known := (*apiError)(nil); errors.As(err, &known) && known.Code == "collection_not_found" {
		return nil, nil
	}
	return p, err
}
