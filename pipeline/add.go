package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// Add stores documents that the caller made, each replacing an older version
// with the same ID; one whose text is the same as before is left alone. A
// document that cannot be cut or encoded is reported as skipped and does not
// affect the others.
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
		sum := sha256.Sum256([]byte(d.Text))
		p := prepared{doc: d, hash: hex.EncodeToString(sum[:]), path: d.ID, size: int64(len(d.Text))}
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
