package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/pipeline"
)

// What an upload may hold at most.
const (
	maxFiles = 1000
	maxName  = 1024 // bytes
)

// upload is a document that was sent, before it is read.
type upload struct {
	name     string // says the format by its extension
	id       string // empty: the name
	title    string // empty: as the text has it
	data     []byte
	metadata map[string]any
}

// documents yields what an upload holds; a part of it that gives no text is an
// *[ingest.Skip].
func (u upload) documents(ctx context.Context) iter.Seq2[chunker.Document, error] {
	return func(yield func(chunker.Document, error) bool) {
		raw := ingest.NewRaw(u.name, u.data)
		if u.id != "" {
			raw.ID = u.id
		}
		for loaded, err := range raw.Documents(ctx, nil) {
			var doc chunker.Document
			if err == nil {
				doc = loaded.Document
				if u.title != "" && doc.ID == raw.ID {
					doc.Title = u.title
				}
				maps.Copy(doc.Metadata, u.metadata)
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

// reserved are the metadata keys that reading and indexing set.
var reserved = []string{ingest.MetaPath, ingest.MetaFormat, ingest.MetaLanguage, ingest.MetaEncoding, ingest.MetaContainer, pipeline.MetaRoot}

// checkName refuses names that no client needs and some mean harm by: nothing is ever
// stored under a name in the file system, but what is copied out of here may be.
func checkName(param, name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return invalid(param, "the name of a document has %d bytes: want 1 to %d", len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return invalid(param, "name %s: want UTF-8 without control characters", quoted(name))
	case strings.HasPrefix(name, "/") || strings.Contains(name, `\`) || len(name) > 1 && name[1] == ':':
		return invalid(param, "name %s: want a relative one, with / between folders", quoted(name))
	case slices.Contains(strings.Split(name, "/"), ".."):
		return invalid(param, "name %s: want one without ..", quoted(name))
	}
	return nil
}

// readUploads reads the documents of a request.
func (s *Server) readUploads(w http.ResponseWriter, r *http.Request) ([]upload, error) {
	s.setReadDeadline(w, s.limits.Answer)
	if mediaType(r) != "multipart/form-data" {
		return s.readDocuments(w, r)
	}
	var files []upload
	err := s.readForm(w, r, func(part *multipart.Part, data []byte) error {
		if part.FormName() != "file" {
			return invalid(clipped(part.FormName()), "form field %s: want file", quoted(part.FormName()))
		}
		name := fileName(part)
		if err := checkName("file", name); err != nil {
			return err
		}
		if len(files) == maxFiles {
			return invalid("file", "more than %d files: send fewer at once", maxFiles)
		}
		files = append(files, upload{name: name, data: data})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = invalid("file", "the form has no file: want at least one part of the name file")
	}
	return files, err
}

// fileName is the name of a part as it was sent, folders included; what comes with
// the standard library cuts them off.
func fileName(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}

// readForm reads a form part by part.
func (s *Server) readForm(w http.ResponseWriter, r *http.Request, each func(*multipart.Part, []byte) error) error {
	if r.ContentLength > s.limits.Upload {
		return &http.MaxBytesError{Limit: s.limits.Upload}
	}
	body := &keptError{ReadCloser: http.MaxBytesReader(w, r.Body, s.limits.Upload)}
	r.Body = body
	invalidForm := func(err error) error {
		if body.err != nil {
			return readError(body.err)
		}
		e := invalid("", "the form cannot be read: want multipart/form-data that comes in whole")
		e.cause = err
		return e
	}
	form, err := r.MultipartReader()
	if err != nil {
		return invalidForm(err)
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return invalidForm(err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return invalidForm(err)
		}
		if err := each(part, data); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, r.Body) // what stands behind the form, so that the connection can be used again
	s.setReadDeadline(w, 0)
	return readError(err)
}

// keptError remembers why a body could not be read, which the reading of forms puts
// into words of its own.
type keptError struct {
	io.ReadCloser
	err error
}

func (k *keptError) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		k.err = err
	}
	return n, err
}

// readDocuments reads documents sent as JSON.
func (s *Server) readDocuments(w http.ResponseWriter, r *http.Request) ([]upload, error) {
	data, err := s.readBody(w, r, s.limits.Upload)
	if err != nil {
		return nil, err
	}
	var req struct {
		Documents []struct {
			ID       string                     `json:"id"`
			Title    string                     `json:"title"`
			Text     string                     `json:"text"`
			Metadata map[string]json.RawMessage `json:"metadata"`
		} `json:"documents"`
	}
	if err := decode(data, &req, true); err != nil {
		return nil, err
	}
	if len(req.Documents) == 0 || len(req.Documents) > maxFiles {
		return nil, invalid("documents", "%d documents: want 1 to %d", len(req.Documents), maxFiles)
	}
	uploads := make([]upload, len(req.Documents))
	for i, d := range req.Documents {
		u := upload{name: d.ID, title: d.Title, data: []byte(d.Text)}
		if u.name == "" {
			sum := sha256.Sum256([]byte(d.Title + "\x00" + d.Text))
			u.name = hex.EncodeToString(sum[:8]) + ".md"
		}
		if err := checkName("id", u.name); err != nil {
			return nil, err
		}
		if strings.ContainsFunc(d.Title, unicode.IsControl) || len(d.Title) > maxName {
			return nil, invalid("title", "title %s: want one line of up to %d bytes", quoted(d.Title), maxName)
		}
		if u.metadata, err = metadata(d.Metadata); err != nil {
			return nil, err
		}
		uploads[i] = u
	}
	return uploads, nil
}

// metadata reads values of the types that a store keeps; null is left out.
func metadata(given map[string]json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	for key, raw := range given {
		if key == "" || slices.Contains(reserved, key) {
			return nil, invalid("metadata", "metadata %s: want another key; %q are set by what reads the text", quoted(key), reserved)
		}
		var text string
		var list []string
		var whole int64
		var number float64
		var yes bool
		switch {
		case string(raw) == "null":
		case json.Unmarshal(raw, &text) == nil:
			out[key] = withoutNUL(text)
		case json.Unmarshal(raw, &list) == nil:
			for i := range list {
				list[i] = withoutNUL(list[i])
			}
			out[key] = list
		case json.Unmarshal(raw, &whole) == nil:
			out[key] = whole
		case json.Unmarshal(raw, &number) == nil:
			out[key] = number
		case json.Unmarshal(raw, &yes) == nil:
			out[key] = yes
		default:
			return nil, invalid("metadata", "metadata %s: want a text, a number, true or false, or a list of texts", quoted(key))
		}
	}
	return out, nil
}

// withoutNUL does to a value what reading does to text.
func withoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }
