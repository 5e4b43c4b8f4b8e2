package langchain_test

import (
	"github.com/tmc/langchaingo/documentloaders"
	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/textsplitter"
	"github.com/tmc/langchaingo/tools"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/onnx"
	"github.com/waymark-rag/waymark/langchain"
)

// They stand here since langchaingo's tools and loaders bring much that a program
// with this package need not link.
var (
	_ embeddings.Embedder       = (*langchain.Embedder)(nil)
	_ embeddings.Embedder       = (*landmark.Model)(nil)
	_ vectorstores.VectorStore  = (*langchain.VectorStore)(nil)
	_ schema.Retriever          = (*langchain.Retriever)(nil)
	_ textsplitter.TextSplitter = (*langchain.TextSplitter)(nil)
	_ documentloaders.Loader    = (*langchain.Loader)(nil)
	_ llms.Model                = (*langchain.Extractive)(nil)
	_ tools.Tool                = (*langchain.SearchTool)(nil)

	_ langchain.Model = (*landmark.Model)(nil)
	_ langchain.Model = (*onnx.Model)(nil)
)
