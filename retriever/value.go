package retriever

import (
	"cmp"
	"math"
	"strings"
)

// number returns v as one of the two kinds of number that metadata holds.
func number(v any) (i int64, f float64, isInt, ok bool) {
	switch v := v.(type) {
	case int:
		return int64(v), 0, true, true
	case int64:
		return v, 0, true, true
	case float64:
		if v == math.Trunc(v) && v >= math.MinInt64 && v < math.MaxInt64 {
			return int64(v), 0, true, true
		}
		return 0, v, false, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, 0, false, false
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, bool:
		return true
	}
	_, _, _, ok := number(v)
	return ok
}

// scalars returns the elements of a list of scalars.
func scalars(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !isScalar(e) {
				return nil, false
			}
		}
		return v, true
	case []string:
		return boxed(v), true
	case []int64:
		return boxed(v), true
	case []float64:
		return scalars(boxed(v))
	}
	return nil, false
}

func boxed[T any](list []T) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}

// anyElement reports whether test holds for v or, if v is a list, for one of
// its elements.
func anyElement(v any, test func(any) bool) bool {
	list, ok := v.([]string)
	if !ok {
		return test(v)
	}
	for _, e := range list {
		if test(e) {
			return true
		}
	}
	return false
}

func equal(a, b any) bool {
	if x, ok := a.(bool); ok {
		y, ok := b.(bool)
		return ok && x == y
	}
	order, ok := compare(a, b)
	return ok && order == 0
}

// compare orders two strings or two numbers; ok is false for anything else.
func compare(a, b any) (order int, ok bool) {
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	}
	ai, af, aInt, aOK := number(a)
	bi, bf, bInt, bOK := number(b)
	switch {
	case !aOK || !bOK:
		return 0, false
	case aInt && bInt:
		return cmp.Compare(ai, bi), true
	case aInt:
		return compareMixed(ai, bf), true
	case bInt:
		return -compareMixed(bi, af), true
	}
	return cmp.Compare(af, bf), true
}

// compareMixed orders an integer and a number that is none, or that is beyond
// all int64s.
func compareMixed(i int64, f float64) int {
	switch {
	case f >= math.MaxInt64: // as a float64 it is one more
		return -1
	case f < math.MinInt64:
		return 1
	}
	return cmp.Compare(float64(i), f) // f has a fraction, so rounding i cannot reach it
}
