package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// How often questions are drawn anew, and signs are. The draws are the same every
// time, so that the same values give the same intervals.
const (
	resamples    = 1000
	permutations = 10000
)

// Mean is a mean over questions with its 95% interval: 95 of 100 sets of questions
// drawn alike would have a mean in there. Questions count as independent.
type Mean struct {
	N                int // questions that have a value
	Value, Low, High float64
}

// MeanOf is the mean of the values that are numbers, with the interval of a
// percentile bootstrap.
func MeanOf(values []float64) Mean {
	values = numbers(values)
	if len(values) == 0 {
		return Mean{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	means := make([]float64, resamples)
	random := rand.New(rand.NewPCG(1, 0))
	for i := range means {
		for range values {
			means[i] += values[random.IntN(len(values))]
		}
		means[i] /= float64(len(values))
	}
	slices.Sort(means)
	return Mean{len(values), mean(values), quantile(means, 0.025), quantile(means, 0.975)}
}

// Difference is how much better the first of two systems is, question by question.
type Difference struct {
	Mean
	// P is the chance that signs drawn at random give the differences a mean as far
	// from 0: small where luck is no explanation.
	P float64
	// Better and Worse count the questions with a difference.
	Better, Worse int
}

// Compare is the paired difference of two systems' values for the same questions:
// a bootstrap for the interval, a randomisation test for P.
func Compare(a, b []float64) Difference {
	var each, differ []float64
	var d Difference
	for i := range a {
		x := a[i] - b[i]
		if math.IsNaN(x) {
			continue
		}
		each = append(each, x)
		switch {
		case x > 0:
			d.Better++
		case x < 0:
			d.Worse++
		}
		if x != 0 {
			differ = append(differ, x)
		}
	}
	d.Mean, d.P = MeanOf(each), randomised(differ)
	return d
}

// randomised is the two-sided P of a test that draws the sign of each difference.
func randomised(differ []float64) float64 {
	var sum float64
	for _, x := range differ {
		sum += x
	}
	least := math.Abs(sum) - 1e-9 // sums in another order are not quite equal
	random := rand.NewPCG(2, 0)
	extreme := 1
	for range permutations {
		var drawn float64
		var bits uint64
		for i, x := range differ {
			if i%64 == 0 {
				bits = random.Uint64()
			}
			if bits&1 == 0 {
				x = -x
			}
			bits >>= 1
			drawn += x
		}
		if math.Abs(drawn) >= least {
			extreme++
		}
	}
	return float64(extreme) / (permutations + 1)
}

func numbers(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

// mean is not a number where there is no value.
func mean(values []float64) float64 {
	var sum float64
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// quantile lies between two of the sorted values where it falls between them.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
