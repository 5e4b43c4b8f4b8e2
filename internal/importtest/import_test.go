// Package importtest holds the import rules of the module: data flows from
// ingest to pipeline, imports point the other way or up to an interface, and
// implementations never import each other.
package importtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/waymark-rag/waymark"

// rules says what each package may import: packages of the module by their
// path in it, others by the start of their path. The standard library is always
// allowed. A package without a rule fails the test.
var rules = map[string]rule{
	"":        {},
	"chunker": {others: []string{"github.com/rivo/uniseg"}},
	"ingest": {ours: []string{"chunker"}, others: []string{"golang.org/x/net/html", "golang.org/x/text", "github.com/goccy/go-yaml", "github.com/wlynxg/chardet", "github.com/gogs/chardet",
		"github.com/fsnotify/fsnotify", "github.com/klauspost/compress/zstd", "github.com/therootcompany/xz", "github.com/klippa-app/go-pdfium", "github.com/tetratelabs/wazero"}},
	"ingest/sitemap":                 {ours: []string{"ingest"}, others: []string{"github.com/temoto/robotstxt", "golang.org/x/time/rate"}},
	"ingest/s3":                      {ours: []string{"ingest"}, others: []string{"github.com/minio/minio-go/v7"}},
	"landmark":                       {ours: []string{"chunker"}},
	"landmark/landmarktest":          {ours: []string{"landmark", "chunker"}},
	"landmark/modeldir":              {ours: []string{"landmark", "chunker"}},
	"landmark/modeldir/modeldirtest": {ours: []string{"landmark", "landmark/modeldir"}},
	"landmark/onnx/bert":             {ours: []string{"landmark", "landmark/modeldir"}},
	"landmark/onnx": {ours: []string{"landmark", "landmark/modeldir", "landmark/onnx/bert", "chunker"},
		others: []string{"github.com/yalue/onnxruntime_go", "github.com/daulet/tokenizers"}},
	"models":              {},
	"retriever":           {ours: []string{"chunker"}},
	"retriever/storetest": {ours: []string{"retriever", "chunker"}, others: []string{"github.com/google/go-cmp"}},
	"retriever/qdrant": {ours: []string{"retriever", "chunker", "internal/prose"},
		others: []string{"github.com/qdrant/go-client", "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/google/uuid", "golang.org/x/text"}},
	"retriever/local": {ours: []string{"retriever", "chunker", "internal/simd"}, others: []string{"modernc.org/sqlite", "golang.org/x/sys"}},
	"internal/simd":   {others: []string{"golang.org/x/sys/cpu"}},
	"internal/prose":  {others: []string{"github.com/rivo/uniseg"}},
	"llm":             {ours: []string{"internal/prose"}, others: []string{"github.com/tmc/langchaingo/llms"}},
	"llm/llmtest":     {ours: []string{"llm"}},
	"server": {ours: []string{"chunker", "ingest", "landmark", "llm", "pipeline", "retriever"},
		others: []string{"github.com/go-chi/chi/v5", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/prometheus/client_golang/prometheus",
			"go.opentelemetry.io/otel", "golang.org/x/time/rate"}},
	"pipeline":             {ours: []string{"chunker", "ingest", "landmark", "retriever", "llm", "internal/prose"}},
	"eval":                 {ours: []string{"chunker", "landmark", "pipeline", "retriever"}, others: []string{"gonum.org/v1/plot"}},
	"configs":              {ours: []string{"chunker", "landmark", "retriever"}, others: []string{"github.com/goccy/go-yaml"}},
	"internal/clienttest":  {},
	"internal/importtest":  {},
	"internal/llamatest":   {ours: []string{"internal/pythontest"}},
	"internal/pythontest":  {},
	"internal/qdranttest":  {ours: []string{"internal/pythontest"}, others: []string{"github.com/qdrant/go-client/qdrant", "google.golang.org/grpc"}},
	"internal/waymarktest": {},
	"internal/wire": {ours: []string{"chunker", "configs", "ingest", "ingest/s3", "ingest/sitemap", "landmark", "landmark/modeldir", "landmark/onnx", "llm", "models",
		"pipeline", "retriever", "retriever/local", "retriever/qdrant"}},
	"server/web":             {},
	"server/web/browsertest": {},
	"langchain": {ours: []string{"chunker", "ingest", "internal/prose", "landmark", "llm", "pipeline", "retriever"},
		others: []string{"github.com/tmc/langchaingo/callbacks", "github.com/tmc/langchaingo/embeddings", "github.com/tmc/langchaingo/llms",
			"github.com/tmc/langchaingo/schema", "github.com/tmc/langchaingo/textsplitter", "github.com/tmc/langchaingo/vectorstores"}},
	"cmd/waymark": {ours: []string{"chunker", "configs", "eval", "ingest", "internal/wire", "landmark", "landmark/modeldir", "landmark/onnx", "llm", "models", "pipeline", "retriever", "server", "server/web"},
		others: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/schollz/progressbar", "golang.org/x/term"}},
}

type rule struct{ ours, others []string }

// anything is for programs outside of the product: examples and tools may use
// every public package.
func anything(pkg string) bool {
	return strings.HasPrefix(pkg, "examples/") || strings.HasPrefix(pkg, "internal/tools/")
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, tags := range []string{"", "onnx"} {
		for _, p := range list(t, tags) {
			name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
			r, ok := rules[name]
			if !ok && !anything(name) {
				t.Errorf("package %s has no rule: add one to the table in this file", name)
				continue
			}
			seen[name] = true
			for _, imp := range p.Imports {
				if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") || anything(name) {
					continue // the standard library
				}
				if ours, found := strings.CutPrefix(imp, module+"/"); found {
					if !slices.Contains(r.ours, ours) {
						t.Errorf("%s imports %s, which its rule does not allow", name, ours)
					}
				} else if !slices.ContainsFunc(r.others, func(o string) bool { return imp == o || strings.HasPrefix(imp, o+"/") }) {
					t.Errorf("%s imports %s, which its rule does not allow", name, imp)
				}
			}
		}
	}
	for name := range rules {
		if !seen[name] {
			t.Errorf("the table has a rule for %q, which is no package", name)
		}
	}
}

// Programs that use the store and the pipeline must link without the native
// libraries.
func TestNativePartsStayInTheirLeaf(t *testing.T) {
	for _, pkg := range []string{"chunker", "ingest", "landmark", "retriever", "retriever/local", "llm", "pipeline", "langchain", "server", "configs", "eval"} {
		out, err := exec.Command("go", "list", "-tags", "onnx", "-deps", module+"/"+pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, native := range []string{"github.com/yalue/onnxruntime_go", "github.com/daulet/tokenizers", module + "/landmark/onnx", module + "/landmark/onnx/bert"} {
			if slices.Contains(strings.Fields(string(out)), native) {
				t.Errorf("%s depends on %s", pkg, native)
			}
		}
	}
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T, tags string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags", tags, "-json=ImportPath,Imports", module+"/...")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out []goPackage
	for dec := json.NewDecoder(pipe); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return out
}
