package main

import (
	"strings"
	"unicode"
)

// printable makes text from documents safe for a terminal: control characters,
// which could move its cursor or change its title, show as U+FFFD. Line breaks
// and tabs stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// oneLine is printable for names and titles, which must not break a line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
