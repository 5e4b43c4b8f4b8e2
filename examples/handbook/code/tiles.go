//go:build ignore

// Command tiles reads a text file and a file of spans, one "start end" pair on
// each line, and says whether the spans cover the text without gap or overlap.
// It is the check to run on the output of a new chunker before anything else.
//
// Exit status: 0 the spans tile, 1 they do not, 2 the arguments are wrong.
package main

import (
	"bufio"
	"fmt"
	"os"
	"unicode/utf8"
)

// span is a half-open byte range.
type span struct{ start, end int }

// firstFault returns a description of the first violation, or "" if the spans
// tile the text. Later faults are mostly consequences of the first, so one is
// enough; a list of four hundred would hide it.
func firstFault(text []byte, spans []span) string {
	at := 0
	for i, s := range spans {
		switch {
		case s.start > at:
			return fmt.Sprintf("gap of %d bytes before span %d: %q", s.start-at, i, clip(text, at, s.start))
		case s.start < at:
			return fmt.Sprintf("span %d overlaps its predecessor by %d bytes", i, at-s.start)
		case s.end <= s.start:
			return fmt.Sprintf("span %d is empty", i)
		case s.end > len(text):
			return fmt.Sprintf("span %d ends %d bytes behind the text", i, s.end-len(text))
		case s.end < len(text) && !utf8.RuneStart(text[s.end]):
			return fmt.Sprintf("span %d cuts a code point at byte %d", i, s.end)
		}
		at = s.end
	}
	if at < len(text) {
		return fmt.Sprintf("the last %d bytes belong to no span: %q", len(text)-at, clip(text, at, len(text)))
	}
	return ""
}

// clip returns at most 40 bytes of text[from:to] for a message, and survives
// spans that point outside the text.
func clip(text []byte, from, to int) []byte {
	if to > len(text) {
		to = len(text)
	}
	if from > to {
		from = to
	}
	if to-from > 40 {
		to = from + 40
	}
	return text[from:to]
}

// readSpans parses the span file. A line that is not two numbers is an error,
// with its line number, because a silently skipped line looks like a gap.
func readSpans(path string) ([]span, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var spans []span
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		var s span
		if _, err := fmt.Sscanf(sc.Text(), "%d %d", &s.start, &s.end); err != nil {
			return nil, fmt.Errorf("%s:%d: want two numbers, got %q", path, line, sc.Text())
		}
		spans = append(spans, s)
	}
	return spans, sc.Err()
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: tiles TEXT SPANS")
		os.Exit(2)
	}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		var spans []span
		if spans, err = readSpans(os.Args[2]); err == nil {
			if fault := firstFault(text, spans); fault != "" {
				fmt.Println(fault)
				os.Exit(1)
			}
			fmt.Printf("%d spans tile %d bytes\n", len(spans), len(text))
			return
		}
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(2)
}
