package landmark

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
)

func TestLay(t *testing.T) {
	const cls, sep, pad = 101, 102, 0
	abc := []block{{[]int32{1, 2}, 0}, {[]int32{3}, 1}, {nil, 2}}
	base := Config{Landmark: sep, CLS: cls, Pad: pad, Separator: sep}.withDefaults()
	with := func(f func(*Config)) Config {
		c := base
		f(&c)
		return c
	}
	tests := []struct {
		name      string
		cfg       Config
		ids       []int32
		positions []int32
		at        []span
		extra     span
	}{
		{"paper", base,
			[]int32{cls, 7, 1, 2, sep, 3, sep, sep}, []int32{4, 6, 7}, []span{{0, 1}, {1, 2}, {2, 3}}, span{}},
		{"st keeps the closing separator and pools it", with(func(c *Config) { c.Style = ST }),
			[]int32{cls, 7, 1, 2, sep, 3, sep, sep, sep}, []int32{4, 6, 7, 8}, []span{{0, 1}, {1, 2}, {2, 3}}, span{3, 4}},
		{"decoder puts landmarks in front", with(func(c *Config) { c.Style = Decoder }),
			[]int32{sep, cls, 7, 1, 2, sep, 3, sep}, []int32{0, 5, 7}, []span{{0, 1}, {1, 2}, {2, 3}}, span{}},
		{"decoder without a first token", with(func(c *Config) { c.Style, c.CLS = Decoder, -1 }),
			[]int32{sep, 7, 1, 2, sep, 3, sep}, []int32{0, 4, 6}, []span{{0, 1}, {1, 2}, {2, 3}}, span{}},
		{"cls", with(func(c *Config) { c.Pooling = CLS }),
			[]int32{cls, 7, 1, 2, 3, sep}, []int32{0}, []span{{0, 1}, {0, 1}, {0, 1}}, span{}},
		{"mean takes every position", with(func(c *Config) { c.Pooling = Mean }),
			[]int32{cls, 7, 1, 2, 3, sep}, []int32{0, 1, 2, 3, 4, 5}, []span{{0, 6}, {0, 6}, {0, 6}}, span{}},
		{"late takes a chunk's own tokens, an empty chunk the one before", with(func(c *Config) { c.Pooling = Late }),
			[]int32{cls, 7, 1, 2, 3, sep}, []int32{2, 3, 4, 4}, []span{{0, 2}, {2, 3}, {3, 4}}, span{}},
		{"multicls", with(func(c *Config) { c.Pooling = MultiCLS }),
			[]int32{cls, 7, 1, 2, cls, 3, cls, sep}, []int32{0, 4, 6}, []span{{0, 1}, {1, 2}, {2, 3}}, span{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := test.cfg.frame([]int32{7})
			got := test.cfg.lay(f, abc)
			want := layout{Sequence{test.ids, test.positions}, test.at, test.extra}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(layout{}, span{})); diff != "" {
				t.Errorf("layout (-want +got):\n%s", diff)
			}
			// What room promises is what lay uses.
			room, perBlock := f.room(100)
			if used := len(test.ids); 100-room+3+3*perBlock != used {
				t.Errorf("room says that %d positions are used, lay uses %d", 100-room+3+3*perBlock, used)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	token := func(id int32, start, end int) Token { return Token{id, chunker.Range{Start: start, End: end}} }
	tokens := []Token{token(1, 0, 3), token(2, 4, 30), token(3, 31, 33), token(4, 33, 34)}
	chunks := []chunker.Range{{Start: 0, End: 4}, {Start: 4, End: 10}, {Start: 10, End: 31}, {Start: 31, End: 34}, {Start: 34, End: 36}}
	got, err := blocks(tokens, chunks, 36, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []block{
		{[]int32{1}, 0},
		{[]int32{2}, 1},
		{[]int32{2}, 2}, // inside the long token: repeated
		{[]int32{3}, 3}, // too large for the room of one: two blocks
		{[]int32{4}, 3},
		{[]int32{}, 4}, // behind all tokens
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(block{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestBlocksRefuseChunksThatDoNotTile(t *testing.T) {
	for _, chunks := range [][]chunker.Range{
		{{Start: 1, End: 5}},
		{{Start: 0, End: 4}},
		{{Start: 0, End: 3}, {Start: 2, End: 5}},
		{{Start: 0, End: 2}, {Start: 3, End: 5}},
		{{Start: 0, End: 6}},
		{{Start: 0, End: 9}, {Start: 9, End: 5}},
	} {
		if _, err := blocks(nil, chunks, 5, 10); err == nil {
			t.Errorf("chunks %v of a text of 5 bytes: no error", chunks)
		}
	}
}

func TestIntervals(t *testing.T) {
	tokens := make([]Token, 7)
	for i := range tokens {
		tokens[i].Range = chunker.Range{Start: 2*i + 1, End: 2*i + 2}
	}
	for _, test := range []struct {
		first, g int
		want     string
	}{
		{3, 3, "[0-7 7-13 13-20]"},
		{1, 3, "[0-3 3-9 9-20]"},
		{7, 7, "[0-20]"},
		{-5, 100, "[0-3 3-20]"}, // a prefix longer than the interval
	} {
		if got := fmt.Sprint(intervals(tokens, 20, test.first, test.g)); got != test.want {
			t.Errorf("intervals(first %d, g %d) = %s, want %s", test.first, test.g, got, test.want)
		}
	}
	if got := fmt.Sprint(intervals(nil, 3, 4, 4)); got != "[0-3]" {
		t.Errorf("intervals of a text without tokens = %s, want one", got)
	}
}

// An overlap of as many tokens as a chunk has repeats a chunk, although that
// costs a landmark more.
func TestOverlapOfOneChunk(t *testing.T) {
	want := []span{{0, 3}, {2, 5}, {4, 7}}
	if got := windows([]int{129, 129, 129, 129, 129, 129, 129}, 400, 128); !slices.Equal(got, want) {
		t.Errorf("windows %v, want %v", got, want)
	}
}

// TestWindows holds what the package promises of windows for random costs:
// they cover every block, fit, move on, repeat no more than asked, and each
// block is read where it has the most context.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		room := 1 + rng.IntN(60)
		overlap := rng.IntN(room/2 + 1)
		cost := make([]int, 1+rng.IntN(80))
		total := 0
		for i := range cost {
			cost[i] = 1 + rng.IntN(room)
			total += cost[i]
		}
		spans := windows(cost, room, overlap)
		owner := owners(cost, spans)
		if n := len(fill(cost, room, overlap)); len(spans) > n {
			t.Fatalf("%d windows, filled to the brim they are %d", len(spans), n)
		}
		sum := func(s span) (n int) {
			for _, c := range cost[s.start:s.end] {
				n += c
			}
			return n
		}
		done, worked, repeated := 0, 0, 0
		for i, s := range spans {
			if s.start > done || s.end <= done {
				t.Fatalf("window %v leaves a gap behind block %d or adds none (cost %v)", s, done, cost)
			}
			if got := sum(s); got > room {
				t.Fatalf("window %v holds %d of %d", s, got, room)
			}
			if got := sum(span{s.start, done}) - (done - s.start); got > overlap { // without their landmarks
				t.Fatalf("window %v repeats %d, want at most %d", s, got, overlap)
			}
			if i > 0 && s.start <= spans[i-1].start {
				t.Fatalf("windows %v and %v start alike", spans[i-1], s)
			}
			repeated += done - s.start
			done = s.end
			worked += sum(s)
		}
		if done != len(cost) {
			t.Fatalf("windows end at block %d of %d", done, len(cost))
		}
		if limit := total + repeated + len(spans)*overlap; worked > limit {
			t.Fatalf("windows encode %d tokens of a text of %d, want at most %d", worked, total, limit)
		}
		for i, w := range owner {
			if w < 0 || i < spans[w].start || i >= spans[w].end {
				t.Fatalf("block %d is read from window %d, which does not hold it", i, w)
			}
		}
	}
}

func TestWindowsAreFilledAlike(t *testing.T) {
	cost := []int{10, 10, 10, 10, 10, 10, 10} // to the brim: 6 and 1
	if diff := cmp.Diff([]span{{0, 4}, {4, 7}}, windows(cost, 60, 0), cmp.AllowUnexported(span{})); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
}

func TestOwnersTakeTheWindowWithMoreContext(t *testing.T) {
	cost := []int{10, 10, 10, 10, 10, 10}
	spans := []span{{0, 4}, {2, 6}}
	// Block 2 has 10 behind it in the first window and nothing in front of it in
	// the second; block 3 the other way round.
	if diff := cmp.Diff([]int{0, 0, 0, 1, 1, 1}, owners(cost, spans)); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}
