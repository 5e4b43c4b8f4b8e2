package configs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/retriever"
)

// Config holds every setting. Default returns it complete.
type Config struct {
	// Store says where documents are kept, as ParsePlace reads it.
	Store string `yaml:"store"`
	// Tenant keeps its documents apart from those of every other in the same
	// store.
	Tenant string `yaml:"tenant"`
	Qdrant Qdrant `yaml:"qdrant"`
	Model  Model  `yaml:"model"`
	Chunk  Chunk  `yaml:"chunk"`
	Ingest Ingest `yaml:"ingest"`
	Search Search `yaml:"search"`
	Answer Answer `yaml:"answer"`
	LLM    LLM    `yaml:"llm"`
	Server Server `yaml:"server"`
}

// Model says which model encodes, and how.
type Model struct {
	// Path is a model directory, or the name of a model that ships with Waymark.
	Path string `yaml:"path"`
	// Runtime is "onnxruntime" to have ONNX Runtime run every model; empty leaves
	// those that the built-in kernels can run to them.
	Runtime string `yaml:"runtime"`
	// Library is the ONNX Runtime shared library; empty looks in the usual
	// places.
	Library string `yaml:"library"`
	// Threads is how many sequences are encoded at once; 0 means one for each
	// processor the program may use.
	Threads int `yaml:"threads"`
	// Overlap is how many tokens the windows of a long document repeat as
	// context; see docs/decisions/0004-windows.md.
	Overlap int `yaml:"overlap"`
	// Pooling replaces the model's own pooling, for comparisons.
	Pooling string `yaml:"pooling"`
}

// Chunk says where documents are cut.
type Chunk struct {
	Mode      string `yaml:"mode"`
	MaxTokens int    `yaml:"max_tokens"`
	MaxBytes  int    `yaml:"max_bytes"`
}

// Ingest says which files are read.
type Ingest struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
	Hidden  bool     `yaml:"hidden"`
	// Ignored reads what .gitignore and .waymarkignore leave out, too.
	Ignored        bool  `yaml:"ignored"`
	FollowSymlinks bool  `yaml:"follow_symlinks"`
	MaxFileBytes   int64 `yaml:"max_file_bytes"`
	// MaxUnpackedBytes is what a file, such as an archive, may unpack to.
	MaxUnpackedBytes int64 `yaml:"max_unpacked_bytes"`
	// Timeout is how long the reading of a file may take.
	Timeout time.Duration `yaml:"timeout"`
	S3      S3            `yaml:"s3"`
	Sitemap Sitemap       `yaml:"sitemap"`
}

// S3 says where buckets are. Credentials are those of Amazon's own programs:
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials.
type S3 struct {
	// Endpoint is the address of a service that is not Amazon's.
	Endpoint string `yaml:"endpoint"`
	Region   string `yaml:"region"`
	// Anonymous sends no credentials.
	Anonymous bool `yaml:"anonymous"`
}

// Sitemap says which websites may be asked for pages.
type Sitemap struct {
	// Hosts are the only ones that are asked, with the port where it is not the
	// usual one.
	Hosts []string `yaml:"hosts"`
	// Private allows addresses of this machine and of private networks.
	Private bool `yaml:"private"`
}

// Search says how passages are ranked.
type Search struct {
	K           int     `yaml:"k"`
	Level       string  `yaml:"level"`
	Landmark    float64 `yaml:"landmark_weight"`
	Document    float64 `yaml:"document_weight"`
	Lexical     float64 `yaml:"lexical_weight"`
	MMR         float64 `yaml:"mmr"`
	Neighbours  int     `yaml:"neighbours"`
	PerDocument int     `yaml:"per_document"`
}

// Answer says how answers are asked for.
type Answer struct {
	ContextTokens int    `yaml:"context_tokens"`
	AnswerTokens  int    `yaml:"answer_tokens"`
	Passages      int    `yaml:"passages"`
	Condense      string `yaml:"condense"`
	Judge         string `yaml:"judge"`
	Prompts       string `yaml:"prompts"`
}

// LLM says who writes the answer.
type LLM struct {
	Provider    string        `yaml:"provider"`
	Model       string        `yaml:"model"`
	BaseURL     string        `yaml:"base_url"`
	APIKeyEnv   string        `yaml:"api_key_env"`
	APIKeyFile  string        `yaml:"api_key_file"`
	Temperature float64       `yaml:"temperature"`
	Timeout     time.Duration `yaml:"timeout"`
}

// Default returns the settings that hold where nothing else is said.
func Default() Config {
	chunk := chunker.Options{}.WithDefaults()
	return Config{
		Store:  "local:.waymark/index.db",
		Qdrant: Qdrant{APIKeyEnv: "WAYMARK_QDRANT_API_KEY", Timeout: time.Minute, RetryFor: 30 * time.Second},
		Model:  Model{Path: "waymark-e5-small"},
		Chunk:  Chunk{Mode: string(chunk.Mode), MaxTokens: chunk.MaxTokens, MaxBytes: chunk.MaxBytes},
		Ingest: Ingest{MaxFileBytes: 32 << 20, MaxUnpackedBytes: 512 << 20, Timeout: time.Minute},
		Search: Search{K: 10, Level: string(retriever.Both), Landmark: 0.8, Document: 0.2, Lexical: 0.6},
		Answer: Answer{ContextTokens: 4096, AnswerTokens: 512, Passages: 8, Condense: "llm", Judge: "off"},
		LLM:    LLM{Provider: "extractive", APIKeyEnv: "WAYMARK_LLM_API_KEY", Timeout: 2 * time.Minute},
		Server: defaultServer(),
	}
}

// Validate reports every setting that cannot be used.
func (c Config) Validate() error {
	var errs []error
	bad := func(name string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s: %v: want %s", name, value, want))
	}
	place, err := c.Place()
	if err != nil {
		errs = append(errs, err)
	}
	c.Qdrant.validate(bad)
	c.Qdrant.validateAt(place, bad)
	if c.Model.Path == "" {
		bad("model.path", `""`, "a model directory or the name of a model that ships with waymark")
	}
	if r := c.Model.Runtime; r != "" && r != "onnxruntime" {
		bad("model.runtime", r, "onnxruntime, or nothing for the fastest")
	}
	if c.Model.Threads < 0 {
		bad("model.threads", c.Model.Threads, "0 or more")
	}
	if c.Model.Overlap < 0 {
		bad("model.overlap", c.Model.Overlap, "a number of tokens, 0 or more")
	}
	if all := []string{"", string(landmark.Landmark), string(landmark.CLS), string(landmark.Mean), string(landmark.Late), string(landmark.MultiCLS), string(landmark.Naive)}; !slices.Contains(all, c.Model.Pooling) {
		bad("model.pooling", c.Model.Pooling, fmt.Sprintf("one of %q", all))
	}
	if err := c.ChunkOptions().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("chunk: %w", err))
	}
	if c.Ingest.MaxFileBytes < 1 {
		bad("ingest.max_file_bytes", c.Ingest.MaxFileBytes, "1 or more")
	}
	if c.Ingest.MaxUnpackedBytes < 1 {
		bad("ingest.max_unpacked_bytes", c.Ingest.MaxUnpackedBytes, "1 or more")
	}
	if c.Ingest.Timeout <= 0 {
		bad("ingest.timeout", c.Ingest.Timeout, "a duration such as 1m")
	}
	if c.Search.K < 1 {
		bad("search.k", c.Search.K, "1 or more")
	}
	if all := []retriever.Level{retriever.Both, retriever.ChunkLevel, retriever.DocumentLevel}; !slices.Contains(all, retriever.Level(c.Search.Level)) {
		bad("search.level", c.Search.Level, fmt.Sprintf("one of %q", all))
	}
	for name, w := range map[string]float64{"landmark_weight": c.Search.Landmark, "document_weight": c.Search.Document, "lexical_weight": c.Search.Lexical} {
		if !(w >= 0 && w <= 1000) {
			bad("search."+name, w, "a number from 0 to 1000")
		}
	}
	if c.Search.Landmark+c.Search.Document == 0 {
		bad("search.landmark_weight and document_weight", 0, "one of them above 0")
	}
	if !(c.Search.MMR >= 0 && c.Search.MMR <= 1) {
		bad("search.mmr", c.Search.MMR, "a number from 0 (off) to 1 (relevance alone)")
	}
	if c.Search.Neighbours < 0 || c.Search.PerDocument < 0 {
		bad("search.neighbours and per_document", []int{c.Search.Neighbours, c.Search.PerDocument}, "0 or more")
	}
	if c.Answer.Passages < 1 {
		bad("answer.passages", c.Answer.Passages, "1 or more")
	}
	if c.Answer.AnswerTokens < 1 || c.Answer.ContextTokens <= c.Answer.AnswerTokens {
		bad("answer.context_tokens and answer_tokens", []int{c.Answer.ContextTokens, c.Answer.AnswerTokens}, "the first larger than the second, both above 0")
	}
	if all := []string{"llm", "rule", "off"}; !slices.Contains(all, c.Answer.Condense) {
		bad("answer.condense", c.Answer.Condense, fmt.Sprintf("one of %q", all))
	}
	if all := []string{"off", "llm"}; !slices.Contains(all, c.Answer.Judge) {
		bad("answer.judge", c.Answer.Judge, fmt.Sprintf("one of %q", all))
	} else if c.Answer.Judge == "llm" && c.LLM.Provider == "extractive" {
		bad("answer.judge", c.Answer.Judge, "off, or an llm.provider other than extractive, which only quotes")
	}
	if all := []string{"extractive", "anthropic", "google", "ollama", "openai"}; !slices.Contains(all, c.LLM.Provider) {
		bad("llm.provider", c.LLM.Provider, fmt.Sprintf("one of %q", all))
	} else if c.LLM.Provider != "extractive" && c.LLM.Model == "" {
		bad("llm.model", `""`, "the name of a model that the provider "+c.LLM.Provider+" has")
	}
	if c.LLM.Timeout <= 0 {
		bad("llm.timeout", c.LLM.Timeout, "a duration such as 90s")
	}
	if !(c.LLM.Temperature >= 0 && c.LLM.Temperature <= 2) {
		bad("llm.temperature", c.LLM.Temperature, "a number from 0 to 2")
	}
	c.Server.validate(bad)
	return errors.Join(errs...)
}

// Place is where documents are kept, with the tenant that is in force.
func (c Config) Place() (Place, error) {
	p, err := ParsePlace(c.Store)
	if err != nil {
		return Place{}, fmt.Errorf("store: %w", err)
	}
	if c.Tenant != "" && p.Tenant != "" && p.Tenant != c.Tenant {
		return Place{}, fmt.Errorf("tenant: %q: the store's address names another, %q: want one of them alone", c.Tenant, p.Tenant)
	}
	if c.Tenant != "" {
		p.Tenant = c.Tenant
	}
	return p, nil
}

// ChunkOptions are the settings under chunk, as the chunker takes them.
func (c Config) ChunkOptions() chunker.Options {
	return chunker.Options{Mode: chunker.Mode(c.Chunk.Mode), MaxTokens: c.Chunk.MaxTokens, MaxBytes: c.Chunk.MaxBytes}
}
