package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// Add stores documents that the caller made, each replacing an older version
// with the same ID; one that is the same as before is left alone. A document
// that cannot be cut or encoded is reported as skipped and does not affect the
// others.
func (p *Pipeline) Add(ctx context.Context, docs ...chunker.Document) (Report, error) {
	if p.Chunker == nil {
		return Report{}, errors.New("adding documents needs a chunker")
	}
	start := time.Now()
	r := &indexRun{Pipeline: p, tally: &tally{report: Report{Skipped: []Skipped{}}}}
	err := r.add(ctx, docs)
	report := r.tally.report
	report.Elapsed = time.Since(start)
	return report, err
}

func (r *indexRun) add(ctx context.Context, docs []chunker.Document) error {
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	old, err := r.Store.Fetch(ctx, ids, retriever.Want{})
	if err != nil {
		return fmt.Errorf("reading what the store has: %w", err)
	}
	hashes := map[string]string{}
	for _, d := range old {
		hashes[d.ID] = d.Hash
	}
	var batch []prepared
	tokens := 0
	for _, d := range docs {
		r.tally.update(func(rep *Report) { rep.Bytes += int64(len(d.Text)) })
		p := prepared{doc: d, hash: contentHash(d), path: d.ID}
		before, had := hashes[d.ID]
		if had && before == p.hash {
			r.tally.update(func(rep *Report) { rep.Unchanged++ })
			continue
		}
		p.isNew = !had
		if p.chunks, err = r.Chunker.Split(d); err != nil {
			r.report(d.ID, fmt.Sprintf("cannot be cut: %v", err))
			continue
		}
		batch = append(batch, p)
		if tokens += p.tokens(); tokens >= batchTokens {
			if err := r.store(ctx, batch); err != nil {
				return err
			}
			batch, tokens = nil, 0
		}
	}
	if len(batch) > 0 {
		if err := r.store(ctx, batch); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// contentHash is of all that the store keeps of a document and the caller can
// change.
func contentHash(d chunker.Document) string {
	h := sha256.New()
	for _, part := range []string{d.Title, d.Text} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	for _, key := range slices.Sorted(maps.Keys(d.Metadata)) {
		fmt.Fprintf(h, "%q %T %#v", key, d.Metadata[key], d.Metadata[key])
	}
	return hex.EncodeToString(h.Sum(nil))
}
