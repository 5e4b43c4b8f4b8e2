package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/configs"
	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/llm"
	"github.com/waymark-rag/waymark/models"
	"github.com/waymark-rag/waymark/pipeline"
	"github.com/waymark-rag/waymark/retriever"
)

// Access says what will be done with the store.
type Access int

const (
	// Read opens a store that is there.
	Read Access = iota
	// Write opens a store for changes and makes it if it is not there.
	Write
	// Plan is Read, but a store that is not there counts as empty.
	Plan
)

// Built is a pipeline with the parts that only the program knows.
type Built struct {
	*pipeline.Pipeline
	Model *onnx.Model

	closers []func() error
}

// Close closes all parts, the last opened first.
func (b *Built) Close() error {
	var errs []error
	for _, c := range slices.Backward(b.closers) {
		errs = append(errs, c())
	}
	b.closers = nil
	return errors.Join(errs...)
}

// Open builds the pipeline that cfg describes. Secrets are read with getenv.
//
// What is quick to check comes first: files that the settings name, then a store
// that must be there already, and last the model, which takes a second to load.
func Open(ctx context.Context, cfg configs.Config, access Access, getenv func(string) string, log *slog.Logger) (_ *Built, err error) {
	b := &Built{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if _, err := ModelDir(cfg.Model.Path); err != nil {
		return nil, err
	}
	key, err := apiKey("llm.api_key_file", cfg.LLM.APIKeyFile, cfg.LLM.APIKeyEnv, getenv)
	if err != nil {
		return nil, err
	}
	answer, err := answerOptions(cfg)
	if err != nil {
		return nil, err
	}
	where, err := locate(cfg, getenv)
	if err != nil {
		return nil, err
	}
	var store retriever.FingerprintedStore // stays nil if it is yet to be made
	if access != Write {
		store, err = where.open(ctx, opening{readOnly: true})
		if err != nil && !(access == Plan && errors.Is(err, retriever.ErrNotFound)) {
			return nil, err
		}
	}
	if store != nil {
		b.closers = append(b.closers, store.Close)
	}
	if b.Model, err = OpenModel(ctx, cfg); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.Model.Close)
	split, err := chunker.New(b.Model, cfg.ChunkOptions())
	if err != nil {
		return nil, err
	}
	print := Fingerprint(cfg, b.Model)
	switch {
	case store == nil:
		if store, err = b.newStore(ctx, where, access, print); err != nil {
			return nil, err
		}
	case store.Fingerprint() != print:
		return nil, &retriever.MismatchError{Have: store.Fingerprint(), Want: print}
	}
	writer, err := openLLM(cfg, key, b.Model)
	if err != nil {
		return nil, err
	}
	b.Pipeline, err = pipeline.New(pipeline.Parts{Chunker: split, Embedder: b.Model, Store: store, Model: writer, Log: log}, answer)
	return b, err
}

// OpenModel opens the embedding model alone.
func OpenModel(ctx context.Context, cfg configs.Config) (*onnx.Model, error) {
	dir, err := ModelDir(cfg.Model.Path)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Open(ctx, dir, &onnx.Options{
		Runtime: onnx.Runtime(cfg.Model.Runtime),
		Library: cfg.Model.Library,
		Threads: cfg.Model.Threads,
		Pooling: landmark.Pooling(cfg.Model.Pooling),
		// Short calls cost no more, and a question does not wait long behind a document.
		Encode: landmark.Options{Overlap: cfg.Model.Overlap, BatchTokens: 512},
	})
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", cfg.Model.Path, err)
	}
	return m, nil
}

// ModelDir finds a model that ships with Waymark by its name, any other by its
// path.
func ModelDir(path string) (fs.FS, error) {
	if slices.Contains(models.Names(), path) {
		return models.Open(path)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("model %q: no such folder and no model that ships with waymark: want a model directory or one of %s", path, strings.Join(models.Names(), ", "))
	}
	return os.DirFS(path), nil
}

// Fingerprint is all that decides what a vector of the collection is.
func Fingerprint(cfg configs.Config, m *onnx.Model) retriever.Fingerprint {
	c := m.Config()
	return retriever.Fingerprint{
		Model:    fmt.Sprintf("%s (%s)", m.Name, m.Digest),
		Pooling:  fmt.Sprintf("%s/%s/%s", c.Pooling, c.Style, c.Base),
		Dim:      c.Dim,
		Prefixes: fmt.Sprintf("%q %q", c.QueryPrefix, c.DocumentPrefix),
		Windows:  fmt.Sprintf("%d tokens, overlap %d", c.MaxLength, m.Overlap()),
		Chunker:  cfg.ChunkOptions().String(),
		Reader:   fmt.Sprintf("v%d", ingest.Version),
	}
}

func openLLM(cfg configs.Config, key string, m *onnx.Model) (llm.Model, error) {
	return llm.Open(llm.Config{
		Provider:      cfg.LLM.Provider,
		Model:         cfg.LLM.Model,
		BaseURL:       cfg.LLM.BaseURL,
		APIKey:        key,
		Timeout:       cfg.LLM.Timeout,
		ContextTokens: cfg.Answer.ContextTokens,
		Similarity:    similarity(m),
	})
}

func answerOptions(cfg configs.Config) (*pipeline.AnswerOptions, error) {
	out := &pipeline.AnswerOptions{
		ContextTokens: cfg.Answer.ContextTokens,
		AnswerTokens:  cfg.Answer.AnswerTokens,
		Condense:      pipeline.Condense(cfg.Answer.Condense),
		Judge:         pipeline.Judge(cfg.Answer.Judge),
		Temperature:   &cfg.LLM.Temperature,
	}
	for name, prompt := range map[string]*string{
		"system.tmpl": &out.SystemPrompt, "question.tmpl": &out.QuestionPrompt,
		"condense.tmpl": &out.CondensePrompt, "judge.tmpl": &out.JudgePrompt,
	} {
		if cfg.Answer.Prompts == "" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(cfg.Answer.Prompts, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("answer.prompts: %w", err)
		}
		*prompt = string(data)
	}
	return out, nil
}
