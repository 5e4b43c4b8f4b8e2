package landmark

import (
	"fmt"
	"sort"

	"github.com/waymark-rag/waymark/chunker"
)

// block is the tokens of one chunk, or of a part of a chunk that is too large
// for a window by itself.
type block struct {
	ids   []int32
	chunk int
}

// blocks gives each chunk its tokens: those that start inside its range. A
// chunk inside of one long token, which started earlier, repeats that token so
// that its landmark has something to close. Chunks with more than room tokens
// become several blocks.
func blocks(tokens []Token, chunks []chunker.Range, textLen, room int) ([]block, error) {
	if err := checkTiles(chunks, textLen); err != nil {
		return nil, err
	}
	out := make([]block, 0, len(chunks))
	next := 0
	for i, c := range chunks {
		first := next
		for next < len(tokens) && (tokens[next].Start < c.End || i == len(chunks)-1) {
			next++
		}
		ids := make([]int32, 0, next-first)
		for _, t := range tokens[first:next] {
			ids = append(ids, t.ID)
		}
		if len(ids) == 0 && first > 0 && tokens[first-1].End > c.Start {
			ids = append(ids, tokens[first-1].ID)
		}
		for len(ids) > room {
			out = append(out, block{ids[:room:room], i})
			ids = ids[room:]
		}
		out = append(out, block{ids, i})
	}
	return out, nil
}

func checkTiles(chunks []chunker.Range, textLen int) error {
	at := 0
	for i, c := range chunks {
		if c.Start != at || c.End < c.Start {
			return fmt.Errorf("chunk %d covers bytes %s: want it to start at %d, where the one before ends", i, c, at)
		}
		at = c.End
	}
	if at != textLen {
		return fmt.Errorf("chunks end at byte %d of a text of %d bytes: want them to cover it all", at, textLen)
	}
	return nil
}

// intervals cuts a text after every g tokens, the first time after first
// tokens, at the start of the next token.
func intervals(tokens []Token, textLen, first, g int) []chunker.Range {
	var out []chunker.Range
	start := 0
	for i := max(first, 1); i < len(tokens); i += g {
		if at := tokens[i].Start; at > start {
			out = append(out, chunker.Range{Start: start, End: at})
			start = at
		}
	}
	return append(out, chunker.Range{Start: start, End: textLen})
}

// span is a half-open range of blocks.
type span struct{ start, end int }

// windows covers blocks with spans that fit room and overlap by whole blocks of
// up to overlap tokens of left context, their landmarks not counting: an overlap
// of 128 repeats a chunk of 128. It takes as few spans as filling them to
// the brim would, but fills them alike: so no block ends up nearly alone in a
// last window, and shorter windows cost less attention. Every span starts and
// ends later than the one before, so the work is linear in the text.
func windows(cost []int, room, overlap int) []span {
	out := fill(cost, room, overlap)
	largest := 0
	for _, c := range cost {
		largest = max(largest, c)
	}
	// The least room that takes no more windows.
	less := largest + sort.Search(room-largest, func(i int) bool {
		return len(fill(cost, largest+i, overlap)) <= len(out)
	})
	return fill(cost, less, overlap)
}

// fill puts as many blocks into each span as fit.
func fill(cost []int, room, overlap int) []span {
	var out []span
	for start, done := 0, 0; done < len(cost); {
		end, used := done, 0
		for i := start; i < done; i++ {
			used += cost[i]
		}
		for end < len(cost) && used+cost[end] <= room {
			used += cost[end]
			end++
		}
		if end == done { // the context leaves no room for the next block
			start++
			continue
		}
		out = append(out, span{start, end})
		done = end
		back := 0
		for start = end; start > out[len(out)-1].start+1 && back+cost[start-1]-1 <= overlap; {
			start--
			back += cost[start] - 1
		}
	}
	return out
}

// owners says, for each block, which window its vector is read from: the one in
// which the nearer edge is farthest away, the document's own ends not counting
// as edges. On a tie the earlier window has it.
func owners(cost []int, spans []span) []int {
	total := 0
	before := make([]int, len(cost)+1)
	for i, c := range cost {
		total += c
		before[i+1] = total
	}
	context := func(i int, w span) int {
		left, right := before[i]-before[w.start], before[w.end]-before[i+1]
		if w.start == 0 {
			left = total
		}
		if w.end == len(cost) {
			right = total
		}
		return min(left, right)
	}
	out := make([]int, len(cost))
	for i := range out {
		out[i] = -1
	}
	for n, w := range spans {
		for i := w.start; i < w.end; i++ {
			if out[i] < 0 || context(i, w) > context(i, spans[out[i]]) {
				out[i] = n
			}
		}
	}
	return out
}

// frame is what stands around the blocks of a sequence; an id of -1 stands for
// nothing.
type frame struct {
	before, after int32   // in front of and behind each block
	open          []int32 // in front of the first block's tokens
	close         int32   // at the end
}

func (c Config) frame(prefix []int32) frame {
	f := frame{before: -1, after: -1, close: c.Separator}
	if c.CLS >= 0 && c.Pooling != MultiCLS {
		f.open = append(f.open, c.CLS)
	}
	f.open = append(f.open, prefix...)
	switch {
	case c.Pooling == MultiCLS:
		f.before = c.CLS
	case c.Pooling != Landmark:
	case c.Style == Decoder:
		f.before, f.close = c.Landmark, -1
	case c.Style == ST:
		f.after, f.close = c.Landmark, c.Landmark
	default:
		f.after, f.close = c.Landmark, -1
	}
	return f
}

// room is how many positions a window has for blocks, and perBlock how many a
// block takes beyond its tokens.
func (f frame) room(maxLength int) (room, perBlock int) {
	room = maxLength - len(f.open)
	for _, id := range []int32{f.before, f.after} {
		if id >= 0 {
			perBlock++
		}
	}
	if f.close >= 0 {
		room--
	}
	return room, perBlock
}

// layout is a sequence with what its wanted positions stand for.
type layout struct {
	seq Sequence
	// at[i] is the range of seq.Positions whose mean is the vector of the
	// window's i-th block.
	at []span
	// extra is the range of positions that enter the document vector alone.
	extra span
}

// lay builds the sequence of one window.
func (c Config) lay(f frame, blocks []block) layout {
	var l layout
	ids := &l.seq.IDs
	want := func(from int) { // the positions from there to the end
		for ; from < len(*ids); from++ {
			l.seq.Positions = append(l.seq.Positions, int32(from))
		}
	}
	for i, b := range blocks {
		first := len(l.seq.Positions)
		if f.before >= 0 {
			*ids = append(*ids, f.before)
			want(len(*ids) - 1)
		}
		if i == 0 {
			*ids = append(*ids, f.open...)
		}
		*ids = append(*ids, b.ids...)
		if c.Pooling == Late {
			want(min(len(*ids)-len(b.ids), len(*ids)-1)) // an empty block reads what precedes it
		}
		if f.after >= 0 {
			*ids = append(*ids, f.after)
			want(len(*ids) - 1)
		}
		l.at = append(l.at, span{first, len(l.seq.Positions)})
	}
	if f.close >= 0 {
		*ids = append(*ids, f.close)
		if c.Pooling == Landmark {
			l.extra = span{len(l.seq.Positions), len(l.seq.Positions) + 1}
			want(len(*ids) - 1)
		}
	}
	switch c.Pooling { // the modes in which all blocks of a window share a vector
	case CLS:
		l.seq.Positions = []int32{0}
	case Mean:
		want(0)
	default:
		return l
	}
	for i := range l.at {
		l.at[i] = span{0, len(l.seq.Positions)}
	}
	return l
}
