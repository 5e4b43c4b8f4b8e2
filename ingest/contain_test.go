package ingest

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/chunker"
)

func init() { passPanics = true }

// faulty is a reader and a container that panics behind its first member.
type faulty struct{}

func (faulty) read(*budget, []byte) (chunker.Document, *Skip) { panic("no such page") }

func (faulty) members(*budget, []byte) iter.Seq2[member, *Skip] {
	return func(yield func(member, *Skip) bool) {
		if yield(member{name: "a.txt", data: []byte("Text.")}, nil) {
			panic("no such member")
		}
	}
}

func TestPanicsOfReadersAreContained(t *testing.T) {
	passPanics = false
	defer func() { passPanics = true }()
	for _, tt := range []struct {
		f    format
		docs int
		why  string
	}{
		{format{name: "faulty", reader: faulty{}}, 0, "no such page"},
		{format{name: "faulty", container: faulty{}}, 1, "no such member"},
	} {
		b, done := newBudget(t.Context(), ReadOptions{})
		defer done()
		docs, why := 0, ""
		NewRaw("a.x", []byte("data")).documents(b, tt.f, 0, func(_ *Loaded, err error) bool {
			var skip *Skip
			if errors.As(err, &skip) {
				why += skip.Error()
			} else {
				docs++
			}
			return true
		})
		if docs != tt.docs || !strings.Contains(why, tt.why) || !strings.Contains(why, `skipped "a.x"`) {
			t.Errorf("%d documents and %q, want %d and %q", docs, why, tt.docs, tt.why)
		}
	}
}

func TestPanicsOfReceiversGoOn(t *testing.T) {
	passPanics = false
	defer func() { passPanics = true }()
	b, done := newBudget(t.Context(), ReadOptions{})
	defer done()
	defer func() {
		if p := recover(); p != "receiver" {
			t.Errorf("recovered %v", p)
		}
	}()
	for range members(faulty{}, b, nil) {
		panic("receiver")
	}
}
