package chunker

import "iter"

// unit is a piece of text that packing never cuts. It fits the limits.
type unit struct {
	Range
	rank rank // of the place in front of it
}

// rank says how good a place for a cut is, the lowest best. In front of a
// heading it is the heading's level.
type rank int

const (
	topSection   rank = 2               // headings down to this level start main sections
	anySection   rank = lowestLevel     // in front of a heading
	afterDivider rank = lowestLevel + 1 // after a thematic break
	betweenBlock rank = lowestLevel + 2 // in front of other blocks
	tied         rank = lowestLevel + 3 // in front of a list item, fence or table, which the text above often introduces
	insideBlock  rank = tied + 20       // between sentences or lines
	anywhere     rank = insideBlock + 1 // between words, or worse
)

// rank is how good a place the start of b is. The deeper in a list, the worse.
func (b block) rank() rank {
	switch {
	case b.kind == heading:
		return rank(b.level)
	case b.kind == divider:
		return insideBlock // it ends what is above it
	case b.kind == listItem || b.kind == fence || b.kind == table || b.level > 0:
		return min(tied+rank(b.level), insideBlock-1)
	}
	return betweenBlock
}

// blockUnits makes units of blocks. A block is one unit, with all that is nested
// in it, where that fits together with the heading above it; otherwise it is
// cut, so that a heading stands alone only when not even a sentence or line fits
// below it.
func (l *limits) blockUnits(blocks []block) []unit {
	u := unitBuilder{limits: l}
	ends := nestedEnds(blocks)
	for i := 0; i < len(blocks); {
		b := blocks[i]
		r := b.rank()
		if i > 0 && blocks[i-1].kind == divider {
			r = min(r, afterDivider)
		}
		end := ends[i]
		whole := Range{b.Start, blocks[end-1].End}
		if !u.fitsBelow(whole) {
			end = i + 1
			whole = b.Range
		}
		heading := b.kind == heading || b.kind == divider && u.heading
		if u.fitsBelow(whole) {
			u.add(unit{whole, r})
		} else {
			for piece := range l.pieces(whole, b.rows) {
				if piece.Start == whole.Start {
					piece.rank = r
				}
				u.add(piece)
			}
		}
		u.heading = heading
		i = end
	}
	return u.units
}

// unitBuilder joins headings with what follows them.
type unitBuilder struct {
	*limits
	units   []unit
	heading bool // the last unit is or ends with a heading
}

// below is r with the heading right above it.
func (u *unitBuilder) below(r Range) Range {
	if u.heading {
		r.Start = u.units[len(u.units)-1].Start
	}
	return r
}

func (u *unitBuilder) fitsBelow(r Range) bool { return u.fits(u.below(r)) }

func (u *unitBuilder) add(next unit) {
	if u.heading && u.fitsBelow(next.Range) {
		u.units[len(u.units)-1].End = next.End
	} else {
		u.units = append(u.units, next)
	}
	u.heading = false
}

// nestedEnds returns, for each block, the index behind the last block that is
// nested in it.
func nestedEnds(blocks []block) []int {
	ends := make([]int, len(blocks))
	var open []int
	depth := func(b block) int {
		if b.kind == heading {
			return 0
		}
		return b.level
	}
	for i, b := range blocks {
		for len(open) > 0 && depth(blocks[open[len(open)-1]]) >= depth(b) {
			ends[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		ends[i] = len(blocks)
	}
	return ends
}

// pieces cuts r into units: at sentence ends and, inside sentences that are too
// large, at line ends; with rows set the other way round. What is then still
// too large is cut between words.
func (l *limits) pieces(r Range, rows bool) iter.Seq[unit] {
	coarse, fine := sentenceRanges, lineRanges
	if rows {
		coarse, fine = fine, coarse
	}
	return func(yield func(unit) bool) {
		for c := range coarse(l.text, r) {
			if l.fits(c) {
				if !yield(unit{c, insideBlock}) {
					return
				}
				continue
			}
			for f := range fine(l.text, c) {
				front := insideBlock
				more := l.hard(f, func(part Range) bool {
					ok := yield(unit{part, front})
					front = anywhere
					return ok
				})
				if !more {
					return
				}
			}
		}
	}
}
