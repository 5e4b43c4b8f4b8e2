package retriever

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseFilter reads a filter as people type it: conditions separated by spaces,
// all of which must hold.
//
//	format=markdown     equal
//	lang=go,python      equal to one of these
//	lang!=go            not equal
//	path^=guide/        starts with
//	tags~=x             contains
//	year>=2020          at least; also > < <=
//	author?             is there
//	!author?            is not there
//
// A value true or false is a bool and one that reads as a number is a number,
// but for ^= and ~=, which take text. Text in double quotes is taken as it is,
// with the escapes of Go: title="a b", isbn="978".
func ParseFilter(expr string) (Filter, error) {
	var f Filter
	rest := strings.TrimLeftFunc(expr, unicode.IsSpace)
	for rest != "" {
		c, after, err := parseCondition(rest)
		if err != nil {
			return Filter{}, fmt.Errorf("filter %q: %w", expr, err)
		}
		f.All = append(f.All, c)
		rest = strings.TrimLeftFunc(after, unicode.IsSpace)
		if rest == after && rest != "" {
			return Filter{}, fmt.Errorf("filter %q: want a space before %q", expr, rest)
		}
	}
	return f, nil
}

// sign is an operation as typed.
type sign struct {
	text string
	op   Op
}

// signs lists longer ones first.
var signs = []sign{{"!=", Ne}, {"^=", Prefix}, {"~=", Contains}, {"<=", Lte}, {">=", Gte}, {"=", Eq}, {"<", Lt}, {">", Gt}, {"?", Exists}}

func parseCondition(s string) (Condition, string, error) {
	rest, absent := strings.CutPrefix(s, "!")
	key, _, rest, err := parseWord(rest, "=!^~<>?,")
	if err != nil {
		return Condition{}, "", err
	}
	if key == "" {
		return Condition{}, "", fmt.Errorf("want a key at %q", s)
	}
	c := Condition{Key: key}
	if i := slices.IndexFunc(signs, func(s sign) bool { return strings.HasPrefix(rest, s.text) }); i >= 0 {
		c.Op, rest = signs[i].op, rest[len(signs[i].text):]
	}
	switch {
	case c.Op == "":
		return Condition{}, "", fmt.Errorf("key %q: want one of = != ^= ~= < <= > >= ? behind it", key)
	case absent && c.Op != Exists:
		return Condition{}, "", fmt.Errorf("key %q: a ! in front goes only with ? behind it, as in !%s?", key, key)
	case c.Op == Exists:
		c.Value = !absent
		return c, rest, nil
	}
	values, rest, err := parseValues(rest, c.Op)
	if err != nil {
		return Condition{}, "", fmt.Errorf("key %q: %w", key, err)
	}
	c.Value = values[0]
	if len(values) > 1 {
		if c.Op != Eq {
			return Condition{}, "", fmt.Errorf("key %q: several values go only with =; repeat the condition or quote the comma", key)
		}
		c.Op, c.Value = In, values
	}
	return c, rest, c.validate()
}

// parseValues reads values separated by commas.
func parseValues(s string, op Op) ([]any, string, error) {
	var values []any
	for {
		text, quoted, after, err := parseWord(s, ",")
		if err != nil {
			return nil, "", err
		}
		if text == "" && !quoted {
			return nil, "", fmt.Errorf(`want a value at %q; "" is the empty text`, s)
		}
		var v any = text
		if !quoted && op != Prefix && op != Contains {
			v = typed(text)
		}
		values = append(values, v)
		next, more := strings.CutPrefix(after, ",")
		if !more {
			return values, after, nil
		}
		s = next
	}
}

// typed reads a bare word as what it looks like.
func typed(word string) any {
	if word == "true" || word == "false" {
		return word == "true"
	}
	if i, err := strconv.ParseInt(word, 10, 64); err == nil {
		return i
	}
	if strings.Trim(word, "+-.0123456789eE") == "" {
		if f, err := strconv.ParseFloat(word, 64); err == nil {
			return f
		}
	}
	return word
}

// parseWord reads a quoted text, or up to a space or one of the stop bytes.
func parseWord(s, stop string) (word string, quoted bool, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", false, "", fmt.Errorf("the quoted text at %q does not end or holds a wrong escape", s)
		}
		word, err = strconv.Unquote(q)
		return word, true, s[len(q):], err
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(stop, r) })
	if end < 0 {
		end = len(s)
	}
	return s[:end], false, s[end:], nil
}

// String writes f as ParseFilter reads it.
func (f Filter) String() string {
	parts := make([]string, len(f.All))
	for i, c := range f.All {
		parts[i] = c.String()
	}
	return strings.Join(parts, " ")
}

// String writes c as ParseFilter reads it.
func (c Condition) String() string {
	key := quoteWord(c.Key, "=!^~<>?,")
	if c.Op == Exists {
		if c.Value == false {
			key = "!" + key
		}
		return key + "?"
	}
	values, isList := scalars(c.Value)
	if !isList {
		values = []any{c.Value}
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = writeValue(v)
	}
	op := c.Op
	if op == In {
		op = Eq
	}
	text := " " + string(op) + " " // of an operation that Validate refuses
	if i := slices.IndexFunc(signs, func(s sign) bool { return s.op == op }); i >= 0 {
		text = signs[i].text
	}
	return key + text + strings.Join(words, ",")
}

func writeValue(v any) string {
	switch v := v.(type) {
	case string:
		if _, isText := typed(v).(string); !isText || strings.HasPrefix(v, "=") {
			return strconv.Quote(v) // or it would be a number, or < and = become <=
		}
		return quoteWord(v, ",")
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if strings.Trim(s, "-0123456789") == "" {
			s += ".0" // or it would come back as an integer
		}
		return s
	}
	return fmt.Sprint(v)
}

// quoteWord quotes s where parseWord would not read it back whole.
func quoteWord(s, stop string) string {
	plain, _, rest, err := parseWord(s, stop)
	if err != nil || rest != "" || plain != s || s == "" || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}
