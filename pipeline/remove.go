package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/waymark-rag/waymark/ingest"
	"github.com/waymark-rag/waymark/retriever"
)

// Remove deletes the document with an id and those that were in the file of that id,
// an archive or a mailbox, other than those to keep. It returns how many were deleted.
func (p *Pipeline) Remove(ctx context.Context, id string, keep ...string) (int, error) {
	gone, err := p.documentsOf(ctx, id)
	if err != nil {
		return 0, err
	}
	gone = slices.DeleteFunc(gone, func(id string) bool { return slices.Contains(keep, id) })
	if len(gone) == 0 {
		return 0, nil
	}
	return p.Store.Delete(ctx, gone)
}

// documentsOf returns the ids of the documents that came of a file.
func (p *Pipeline) documentsOf(ctx context.Context, id string) ([]string, error) {
	ids := []string{id}
	inside := retriever.Filter{All: []retriever.Condition{{Key: ingest.MetaContainer, Op: retriever.Eq, Value: id}}}
	for doc, err := range p.Store.Scroll(ctx, inside, retriever.Want{}) {
		if errors.As(err, new(*retriever.UnknownKeyError)) {
			break // no document was in a container
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, doc.ID)
	}
	return ids, nil
}
