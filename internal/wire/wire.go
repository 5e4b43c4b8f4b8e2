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
	"github.com/waymark-rag/waymark/retriever/local"
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
func Open(ctx context.Context, cfg configs.Config, access Access, getenv func(string) string, log *slog.Logger) (_ *Built, err error) {
	b := &Built{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	// A store that is not there is the likelier mistake and the quicker check.
	place, err := configs.ParsePlace(cfg.Store)
	if err != nil {
		return nil, err
	}
	if access == Read {
		if _, err := os.Stat(place.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s", retriever.ErrNotFound, place)
		}
	}
	if b.Model, err = OpenModel(ctx, cfg); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.Model.Close)
	split, err := chunker.New(b.Model, cfg.ChunkOptions())
	if err != nil {
		return nil, err
	}
	store, err := b.openStore(ctx, place, access, fingerprint(cfg, b.Model))
	if err != nil {
		return nil, err
	}
	writer, err := openLLM(cfg, b.Model, getenv)
	if err != nil {
		return nil, err
	}
	answer, err := answerOptions(cfg)
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
		Library: cfg.Model.Library,
		Threads: cfg.Model.Threads,
		Pooling: landmark.Pooling(cfg.Model.Pooling),
		Encode:  landmark.Options{Overlap: cfg.Model.Overlap},
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

func (b *Built) openStore(ctx context.Context, place configs.Place, access Access, print retriever.Fingerprint) (retriever.Store, error) {
	opts := &local.Options{Fingerprint: print, Create: access == Write, ReadOnly: access != Write}
	store, err := local.Open(ctx, place.Path, opts)
	if access == Plan && errors.Is(err, retriever.ErrNotFound) {
		var dir string
		if dir, err = os.MkdirTemp("", "waymark"); err != nil {
			return nil, err
		}
		b.closers = append(b.closers, func() error { return os.RemoveAll(dir) })
		store, err = local.Open(ctx, filepath.Join(dir, "empty.db"), &local.Options{Fingerprint: print, Create: true})
	}
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, store.Close)
	return store, nil
}

// fingerprint is all that decides what a vector of the collection is.
func fingerprint(cfg configs.Config, m *onnx.Model) retriever.Fingerprint {
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

func openLLM(cfg configs.Config, m *onnx.Model, getenv func(string) string) (llm.Model, error) {
	key, err := apiKey(cfg.LLM, getenv)
	if err != nil {
		return nil, err
	}
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

// apiKey reads the key from where the configuration says it is.
func apiKey(c configs.LLM, getenv func(string) string) (string, error) {
	if c.APIKeyFile == "" {
		return getenv(c.APIKeyEnv), nil
	}
	data, err := os.ReadFile(c.APIKeyFile)
	if err != nil {
		return "", fmt.Errorf("llm.api_key_file: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

func answerOptions(cfg configs.Config) (*pipeline.AnswerOptions, error) {
	out := &pipeline.AnswerOptions{
		ContextTokens: cfg.Answer.ContextTokens,
		AnswerTokens:  cfg.Answer.AnswerTokens,
		Temperature:   &cfg.LLM.Temperature,
	}
	for name, prompt := range map[string]*string{"system.tmpl": &out.SystemPrompt, "question.tmpl": &out.QuestionPrompt} {
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
