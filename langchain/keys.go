package langchain

import (
	"slices"

	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/retriever"
)

// The metadata keys that AddDocuments reads. They are the caller's, and come back
// with the rest.
const (
	MetaID     = "id"              // a string: the document's id; a new version replaces the old
	MetaTitle  = "title"           // a string: shown in labels, and indexed
	MetaFormat = ingest.MetaFormat // "markdown" or "code": how the text is cut
)

// The metadata keys that searches add, all with the prefix "waymark.", so that no
// key of a document is hidden by them. AddDocuments accepts them, since what was
// found may be added elsewhere: it takes over where a text stands in its file and
// drops the others. Any other key with the prefix is refused.
const (
	MetaDocument      = "waymark.document"       // string: id of the document
	MetaDocumentTitle = "waymark.title"          // string, absent if there is none
	MetaHeadings      = "waymark.headings"       // []string: path to the best chunk, outermost first; absent if there is none
	MetaChunk         = "waymark.chunk"          // int: index of the best chunk in the document
	MetaFirstChunk    = "waymark.first_chunk"    // int: first chunk of the passage
	MetaLastChunk     = "waymark.last_chunk"     // int: last chunk of the passage
	MetaStart         = "waymark.start"          // int: first byte of the passage in the document's text
	MetaEnd           = "waymark.end"            // int: the byte after its last
	MetaSourceStart   = "waymark.source_start"   // int: first byte of the passage in the file on disk
	MetaSourceEnd     = "waymark.source_end"     // int: the byte after its last
	MetaFirstLine     = "waymark.first_line"     // int: in the file, from 1; absent if unknown
	MetaLastLine      = "waymark.last_line"      // int: inclusive; absent if unknown
	MetaPlace         = "waymark.place"          // string: such as "page 12"; absent where lines say it
	MetaScore         = "waymark.score"          // float64: what the ranking goes by
	MetaScoreDense    = "waymark.score_dense"    // float64: weighted sum of the next two
	MetaScoreLandmark = "waymark.score_landmark" // float64: cosine of query and chunk
	MetaScoreDocument = "waymark.score_document" // float64: cosine of query and document
	MetaScoreLexical  = "waymark.score_lexical"  // float64: BM25, 0 where words played no part
	MetaRule          = "waymark.rule"           // string: how the score came about, in words
)

const prefix = "waymark."

// metaValues is the key, in a store alone, of the values that it cannot hold.
const metaValues = prefix + "values"

// ours are the keys that searches add.
var ours = []string{
	MetaDocument, MetaDocumentTitle, MetaHeadings, MetaChunk, MetaFirstChunk, MetaLastChunk, MetaStart, MetaEnd,
	MetaSourceStart, MetaSourceEnd, MetaFirstLine, MetaLastLine, MetaPlace,
	MetaScore, MetaScoreDense, MetaScoreLandmark, MetaScoreDocument, MetaScoreLexical, MetaRule,
}

// addPlace adds to metadata what a hit says beyond its text.
func addPlace(metadata map[string]any, h retriever.Hit) {
	metadata[MetaDocument] = h.Document
	if h.Title != "" {
		metadata[MetaDocumentTitle] = h.Title
	}
	if len(h.Headings) > 0 {
		metadata[MetaHeadings] = slices.Clone(h.Headings) // which chunks share
	}
	metadata[MetaChunk] = h.Chunk
	metadata[MetaFirstChunk], metadata[MetaLastChunk] = h.Chunks[0], h.Chunks[1]
	metadata[MetaStart], metadata[MetaEnd] = h.Range.Start, h.Range.End
	metadata[MetaSourceStart], metadata[MetaSourceEnd] = h.Source.Start, h.Source.End
	if h.Lines.First > 0 {
		metadata[MetaFirstLine], metadata[MetaLastLine] = h.Lines.First, h.Lines.Last
	}
	if !h.Place.IsZero() {
		metadata[MetaPlace] = h.Place.String()
	}
	metadata[MetaScore] = h.Score.Value
	metadata[MetaScoreDense] = h.Score.Dense
	metadata[MetaScoreLandmark] = h.Score.Landmark
	metadata[MetaScoreDocument] = h.Score.Document
	metadata[MetaScoreLexical] = h.Score.Lexical
	metadata[MetaRule] = h.Rule
}
