package pipeline

import (
	"cmp"
	"context"
	"fmt"

	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/retriever"
)

// lost are the documents of the store whose files are gone, by the hash of their
// content: a file of another name with the same content is one that was moved.
type lost map[string]string

// isGone reports whether the file of a document was where the run has looked and is
// there no more.
func (r *indexRun) isGone(id string, k known) bool {
	file := cmp.Or(k.container, id)
	return r.walked[k.root] && !r.listed[file] && !r.inTheDark(file, k.root)
}

// movedFrom returns the vectors of the same content under an id whose file is gone,
// or nil: what was only moved need not be encoded again. The text is compared too,
// since another name may mean another format.
func (r *indexRun) movedFrom(ctx context.Context, p prepared) (*landmark.Embedding, error) {
	id, ok := r.lost[p.hash]
	if !ok {
		return nil, nil
	}
	found, err := r.Store.Fetch(ctx, []string{id}, retriever.Want{Text: true, Chunks: true, Vectors: true})
	if err != nil {
		return nil, fmt.Errorf("reading what the store has of %q: %w", id, err)
	}
	if len(found) == 0 || found[0].Text != p.doc.Text || len(found[0].Chunks) != len(p.chunks) {
		return nil, nil
	}
	e := &landmark.Embedding{Document: found[0].Vector}
	for i, c := range found[0].Chunks {
		if c.Text != p.chunks[i].Range {
			return nil, nil
		}
		e.Landmarks = append(e.Landmarks, c.Vector)
		e.Norms = append(e.Norms, c.Norm)
	}
	r.tally.update(func(*Report) { r.moved[id] = true })
	return e, nil
}
