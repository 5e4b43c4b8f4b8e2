package landmark

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/waymark-rag/waymark/chunker"
)

// job is one text on its way through the model.
type job struct {
	frame  frame
	chunks []chunker.Range
	blocks []block
	owner  []int // block -> the window its vector is read from
	spans  []span
	tokens int
}

// window is one sequence of one job.
type window struct {
	job, span int
	layout    layout
	states    []float32
}

func (m *Model) encode(ctx context.Context, s side, alone bool, inputs []Input) ([]Embedding, error) {
	jobs := make([]job, len(inputs))
	var all []window
	for i, in := range inputs {
		j, err := m.plan(s, alone, in)
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		jobs[i] = j
		for n, w := range j.spans {
			l := s.cfg.lay(j.frame, j.blocks[w.start:w.end])
			if len(l.seq.IDs) == 0 {
				return nil, fmt.Errorf("text %d: it has no tokens and the model no special ones to stand for it", i)
			}
			all = append(all, window{job: i, span: n, layout: l})
		}
	}
	if err := m.run(ctx, all); err != nil {
		return nil, err
	}
	out := make([]Embedding, len(jobs))
	for first, i := 0, 0; i < len(jobs); i++ {
		mine := all[first : first+len(jobs[i].spans)]
		first += len(mine)
		e, err := pool(jobs[i], mine, m.cfg.Dim)
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		out[i] = e
	}
	return out, nil
}

// plan cuts a text's chunks into blocks and the blocks into windows; with alone
// set, each block has a window for itself.
func (m *Model) plan(s side, alone bool, in Input) (job, error) {
	tokens, err := m.tok.Tokens(in.Text)
	if err != nil {
		return job{}, err
	}
	s, err = m.under(s, in.Above)
	if err != nil {
		return job{}, err
	}
	j := job{frame: s.frame, chunks: slices.Clone(in.Chunks), tokens: len(tokens)}
	if len(j.chunks) == 0 {
		j.chunks = []chunker.Range{{Start: 0, End: len(in.Text)}}
	}
	if j.blocks, err = blocks(tokens, j.chunks, len(in.Text), s.room-s.perBlock); err != nil {
		return job{}, err
	}
	cost := make([]int, len(j.blocks))
	for i, b := range j.blocks {
		cost[i] = len(b.ids) + s.perBlock
	}
	if !alone {
		j.spans = windows(cost, s.room, min(m.opt.Overlap, s.room/2))
		j.owner = owners(cost, j.spans)
		return j, nil
	}
	for i := range j.blocks {
		j.spans = append(j.spans, span{i, i + 1})
		j.owner = append(j.owner, i)
	}
	return j, nil
}

// under is the side with what stands above a text behind its prefix, as far as that
// leaves half of a window to the text.
func (m *Model) under(s side, above string) (side, error) {
	if above == "" {
		return s, nil
	}
	tokens, err := m.tok.Tokens(above)
	if err != nil {
		return s, err
	}
	s.frame.open = slices.Clip(s.frame.open)
	for _, t := range tokens[:min(len(tokens), maxAbove, s.room/2)] {
		s.frame.open = append(s.frame.open, t.ID)
		s.room--
	}
	return s, nil
}

// run fills in the states of all windows: longest first, in batches of like
// length under the token and attention budgets.
func (m *Model) run(ctx context.Context, all []window) error {
	order := make([]*window, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortStableFunc(order, func(a, b *window) int {
		return cmp.Compare(len(b.layout.seq.IDs), len(a.layout.seq.IDs))
	})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	open := make(chan struct{}, m.opt.Parallel)
	for len(order) > 0 && ctx.Err() == nil {
		batch := order[:m.batchSize(order)]
		order = order[len(batch):]
		open <- struct{}{}
		wg.Go(func() {
			defer func() { <-open }()
			if err := m.runBatch(ctx, batch); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// batchSize is how many of the windows, sorted from long to short, go together.
func (m *Model) batchSize(order []*window) int {
	if m.cfg.OnePerBatch {
		return 1
	}
	length := len(order[0].layout.seq.IDs)
	n := min(m.opt.BatchTokens/length, m.opt.BatchAttention/(length*length))
	return min(max(n, 1), len(order))
}

func (m *Model) runBatch(ctx context.Context, batch []*window) error {
	seqs := make([]Sequence, len(batch))
	for i, w := range batch {
		seqs[i] = w.layout.seq
	}
	states, err := m.enc.Encode(ctx, seqs)
	if err != nil {
		return err
	}
	if len(states) != len(seqs) {
		return fmt.Errorf("the encoder returned %d results for %d sequences", len(states), len(seqs))
	}
	for i, w := range batch {
		if want := len(w.layout.seq.Positions) * m.cfg.Dim; len(states[i]) != want {
			return fmt.Errorf("the encoder returned %d values for a sequence, want %d", len(states[i]), want)
		}
		w.states = states[i]
	}
	return nil
}

// pool reads each chunk's vector from the window that owns its blocks and
// averages them into the document vector.
func pool(j job, windows []window, dim int) (Embedding, error) {
	e := Embedding{
		Chunks:    j.chunks,
		Landmarks: make([][]float32, len(j.chunks)),
		Norms:     make([]float32, len(j.chunks)),
		Tokens:    j.tokens,
		Windows:   len(windows),
	}
	raw := make([][]float64, len(j.chunks))
	parts := make([]int, len(j.chunks))
	for i, b := range j.blocks {
		w := windows[j.owner[i]]
		at := w.layout.at[i-j.spans[j.owner[i]].start]
		if raw[b.chunk] == nil {
			raw[b.chunk] = make([]float64, dim)
		}
		addMean(raw[b.chunk], w.states, at)
		parts[b.chunk]++
	}
	document := make([]float64, dim)
	for i, v := range raw {
		for k := range v {
			v[k] /= float64(parts[i])
			document[k] += v[k]
		}
		var err error
		if e.Landmarks[i], e.Norms[i], err = unit(v); err != nil {
			return Embedding{}, fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	for _, w := range windows {
		e.Encoded += len(w.layout.seq.IDs)
		if w.layout.extra.end > w.layout.extra.start {
			addMean(document, w.states, w.layout.extra)
		}
	}
	var err error
	e.Document, _, err = unit(document)
	return e, err
}

// addMean adds the mean of the states in the range at to sum.
func addMean(sum []float64, states []float32, at span) {
	dim, n := len(sum), float64(at.end-at.start)
	for p := at.start; p < at.end; p++ {
		for k, x := range states[p*dim : (p+1)*dim] {
			sum[k] += float64(x) / n
		}
	}
}
