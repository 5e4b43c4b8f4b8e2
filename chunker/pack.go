package chunker

// Shares of a limit that decide where a chunk ends.
const (
	half    = 1.0 / 2
	quarter = 1.0 / 4
	tiny    = 1.0 / 8
)

// pack joins units into chunks:
//
//   - a chunk that is at least half full ends in front of a main section's
//     heading;
//   - otherwise, it is filled up to the limit and then ends at the best place
//     that leaves it at least a quarter full, at the last of several equals;
//   - without such a place, it ends with the last unit that fits;
//   - a tiny chunk that no heading opens, or that ends the text, is joined to
//     the one before, or the two are made about even.
func (l *limits) pack(units []unit) []Range {
	var starts []int // index of the first unit of each chunk
	for at := 0; at < len(units); {
		end := l.chunkEnd(units, at)
		next := at
		orphan := units[at].rank > anySection || end == len(units)
		if n := len(starts); n > 0 && orphan && l.fill(covered(units, at, end)) < tiny {
			next = l.even(units, starts[n-1], at, end)
		}
		if n := len(starts); n == 0 || next > starts[n-1] {
			starts = append(starts, next)
		}
		at = end
	}
	out := make([]Range, len(starts))
	for i, start := range starts {
		end := len(units)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		out[i] = covered(units, start, end)
	}
	return out
}

// covered is the text of units[from:to].
func covered(units []unit, from, to int) Range {
	return Range{units[from].Start, units[to-1].End}
}

// chunkEnd is the index behind the last unit of the chunk that starts with unit
// at.
func (l *limits) chunkEnd(units []unit, at int) int {
	last, best := at+1, 0
	for end := at + 1; end < len(units); end++ {
		r := covered(units, at, end)
		if end > last && !l.fits(r) {
			break
		}
		last = end
		fill, here := l.fill(r), units[end].rank
		if fill >= half && here <= topSection {
			return end
		}
		if fill >= quarter && (best == 0 || here <= units[best].rank) {
			best = end
		}
	}
	switch {
	case l.fits(covered(units, at, len(units))):
		return len(units)
	case best > 0:
		return best
	}
	return last
}

// even decides where a tiny chunk, units[at:end], starts instead, when the chunk
// before it starts with unit from: at from where both fit in one; otherwise
// where both come out at least a quarter full, at the best place and, of several
// equals, the one that divides them most evenly; otherwise at at.
func (l *limits) even(units []unit, from, at, end int) int {
	if l.fits(covered(units, from, end)) {
		return from
	}
	best, bestLess := at, 0.0
	for k := from + 1; k < at; k++ {
		left, right := covered(units, from, k), covered(units, k, end)
		less := min(l.fill(left), l.fill(right))
		if less < quarter || !l.fits(left) || !l.fits(right) {
			continue
		}
		if here := units[k].rank; bestLess == 0 || here < units[best].rank || here == units[best].rank && less > bestLess {
			best, bestLess = k, less
		}
	}
	return best
}
