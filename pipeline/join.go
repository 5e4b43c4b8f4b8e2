package pipeline

import (
	"slices"
	"strings"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/retriever"
)

// join returns passages, best first, with hit among them: at the end or, where it
// touches or overlaps passages of its document, as one with them in the place of
// the best.
func join(passages []retriever.Hit, hit retriever.Hit) []retriever.Hit {
	out := make([]retriever.Hit, 0, len(passages)+1)
	at := -1
	for _, p := range passages {
		other := hit
		if at >= 0 {
			other = out[at]
		}
		switch {
		case !touch(p, other):
			out = append(out, p)
		case at < 0:
			at = len(out)
			out = append(out, union(p, hit))
		default: // hit closes the gap between two
			out[at] = union(out[at], p)
		}
	}
	if at < 0 {
		out = append(out, hit)
	}
	return out
}

// touch reports whether nothing lies between two passages. Those that do not
// know their place in a document never touch.
func touch(a, b retriever.Hit) bool {
	placed := func(h retriever.Hit) bool { return h.Range.Len() == len(h.Text) }
	return a.Document != "" && a.Document == b.Document && placed(a) && placed(b) &&
		a.Range.Start <= b.Range.End && b.Range.Start <= a.Range.End
}

// union is two passages that touch as one, with the headings, score and rule of
// the better.
func union(better, other retriever.Hit) retriever.Hit {
	first, second := better, other
	if second.Range.Start < first.Range.Start {
		first, second = second, first
	}
	u := better
	u.Text, u.Range = first.Text, first.Range
	if second.Range.End > first.Range.End {
		u.Text += second.Text[first.Range.End-second.Range.Start:]
		u.Range.End = second.Range.End
	}
	u.Source = chunker.Range{Start: min(first.Source.Start, second.Source.Start), End: max(first.Source.End, second.Source.End)}
	u.Lines = retriever.Lines{First: min(first.Lines.First, second.Lines.First), Last: max(first.Lines.Last, second.Lines.Last)}
	u.Place = first.Place.Through(second.Place)
	if second.Range.End <= first.Range.End {
		u.Place = first.Place
	}
	u.Header = first.Header
	u.Chunks = [2]int{min(first.Chunks[0], second.Chunks[0]), max(first.Chunks[1], second.Chunks[1])}
	u.Headings = slices.Clone(better.Headings)
	return u
}

// cutAt shortens a passage to its first n bytes. Where its text stands byte for
// byte in the file, so does what is left; elsewhere the place in the file stays
// that of the whole passage, which holds it.
func cutAt(h retriever.Hit, n int) retriever.Hit {
	asOnDisk := h.Range.Len() == len(h.Text) && h.Source.Len() == len(h.Text)
	h.Text = h.Text[:n]
	h.Range.End = h.Range.Start + n
	if asOnDisk {
		h.Source.End = h.Source.Start + n
		if h.Lines.First > 0 {
			h.Lines.Last = h.Lines.First + strings.Count(h.Text, "\n")
		}
	}
	return h
}
