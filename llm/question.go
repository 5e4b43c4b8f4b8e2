package llm

import (
	"regexp"
	"slices"
)

// expectation is what an answer to a kind of question usually holds.
type expectation struct {
	asked *regexp.Regexp // matches the question
	holds func(candidate) bool
}

// expectations are tried in order: "how long ago did who ..." asks for a number.
var expectations = []expectation{
	{
		regexp.MustCompile(`(?i)\bhow (many|much|long|old|far|tall|high|large|big|often|fast)\b|\b(number|percentage|percent|population)\b`),
		func(c candidate) bool { return slices.ContainsFunc(c.says, word.isNumber) },
	},
	{
		regexp.MustCompile(`(?i)\b(when|(what|which) (year|date|day|month|century|decade|time))\b`),
		matches(`(?i)\b(\d{3,4}|january|february|march|april|may|june|july|august|september|october|november|december|` +
			`century|monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|yesterday|morning|evening|night|` +
			`day|years?|when|after|before)\b`),
	},
	{
		regexp.MustCompile(`(?i)\bwhy\b`),
		matches(`(?i)\b(because|since|due to|so that|in order to|therefore|thus|reason|for fear|as a result|caused?)\b`),
	},
	{
		regexp.MustCompile(`(?i)\b(who|whom|whose)\b`),
		func(c candidate) bool { return slices.ContainsFunc(c.says, word.isName) },
	},
	{
		regexp.MustCompile(`(?i)\bwhere\b|\b(what|which) (city|country|state|place|town|location)\b`),
		matches(`\b(in|at|near|from|to|on|into|under|behind) (the )?\p{L}+`),
	},
}

func matches(pattern string) func(candidate) bool {
	re := regexp.MustCompile(pattern)
	return func(c candidate) bool { return re.MatchString(c.text) }
}

// expected returns the test for what a question asks for, nil if nothing in
// particular.
func expected(question string) func(candidate) bool {
	for _, e := range expectations {
		if e.asked.MatchString(question) {
			return e.holds
		}
	}
	return nil
}
