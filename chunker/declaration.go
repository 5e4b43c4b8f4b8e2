package chunker

import (
	"regexp"
	"slices"
	"strings"
)

// What is here knows the heads of functions, classes and the like in the languages that
// are used most, without knowing which language a text is in.

const (
	modifier = `(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|final|abstract|sealed|async|unsafe|` +
		`extern(?:\s+"C")?|const|constexpr|inline|virtual|override|open|data|suspend|partial|declare|local|fileprivate|mutating|` +
		`implicit|case|inner|companion|synchronized|native|strictfp)`
	name = `[\p{L}_$][\p{L}\p{N}_$]{0,99}`
	path = name + `(?:(?:::|[.:#])` + name + `){0,9}[!?]?`
)

var (
	// named are declarations that a word tells.
	named = regexp.MustCompile(`^(?:` + modifier + `\s+)*(func|function\*?|fn|fun|def|defp|defmodule|defmacro|sub|module|namespace|trait|protocol|` +
		`extension|type|message|service|rpc|procedure|macro_rules!)\s+(` + path + `)`)
	// classes are told by a word that also stands before a variable in C.
	classes = regexp.MustCompile(`^(?:` + modifier + `\s+)*(class|interface|struct|enum|enum class|union|record|object)\s+(` + path + `)` +
		`\s*(?:$|[{:(<]|(?:extends|implements|permits|where|with|final)\b)`)
	goMethod = regexp.MustCompile(`^func\s+\(\s*(?:\w+\s+)?\*?\s*(\w+)[^)]*\)\s*(\w+)`)
	rustImpl = regexp.MustCompile(`^(?:unsafe\s+)?impl\b\s*(?:<.*?>)?\s+([^{]{1,200}?)\s*(?:where\b.*)?\{?$`)
	arrow    = regexp.MustCompile(`^(?:export\s+)?(const|let|var)\s+(` + name + `)\s*(?::[^=]*)?=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*(?::[^=]*)?=>|` + name + `\s*=>)`)
	section  = regexp.MustCompile(`^\[{1,2}[\w .:/"-]{1,100}\]{1,2}$`) // of a configuration file
	// head is a function's head as C and its kin write it: words, a name, an open
	// parenthesis.
	head = regexp.MustCompile(`^((?:[\w:<>\[\],.&*?~$]+\s+)*[&*]*)([~#]?` + name + `(?:::~?` + name + `){0,9}|\[[\w.]{1,100}\])\s*\(`)
	// opened is how such a head ends, with the arguments closed: "throws Error {".
	opened = regexp.MustCompile(`\)[^(){}"'\x60;]*\{$`)
	// modified is one that a modifier tells from a call.
	modified = regexp.MustCompile(`^(?:public|private|protected|internal|static|abstract|virtual|override)\s`)
)

// noNames are words before a parenthesis, or in front of a line, that name no function.
var noNames = strings.Fields(`if else elif elsif for foreach while until unless switch match select case when catch except with try using lock
	synchronized return throw raise new await yield go defer guard do in not and or func function fn fun def sub assert print sizeof typeof
	delete let const var loop super this import from require package`)

// declaration is the short form of what a line declares, such as "func Parse" or "class
// Reader", or "" if it declares nothing that has others nested in it.
func declaration(line string) string {
	first, _, _ := strings.Cut(line, " ")
	switch {
	case len(line) > 4096:
		return ""
	case line[0] == '[' && section.MatchString(line):
		return line
	case first == "func":
		if m := goMethod.FindStringSubmatch(line); m != nil {
			return "func " + m[1] + "." + m[2]
		}
	case first == "unsafe" || strings.HasPrefix(first, "impl"):
		if m := rustImpl.FindStringSubmatch(line); m != nil {
			return "impl " + m[1]
		}
	}
	if m := named.FindStringSubmatch(line); m != nil {
		return strings.TrimSuffix(m[1], "*") + " " + m[2]
	}
	if m := classes.FindStringSubmatch(line); m != nil {
		return m[1] + " " + m[2]
	}
	if m := arrow.FindStringSubmatch(line); m != nil {
		return m[1] + " " + m[2]
	}
	if opened.MatchString(line) || modified.MatchString(line) {
		return signature(line)
	}
	return ""
}

// signature is the name with parentheses of what may be the head of a function without
// a word that tells it.
func signature(line string) string {
	m := head.FindStringSubmatch(line)
	if m == nil || strings.HasSuffix(line, ";") || anonymous.MatchString(line) {
		return ""
	}
	words := strings.Fields(m[1])
	if len(words) == 0 || control.MatchString(m[2]) {
		words = []string{m[2]}
	}
	if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(noNames, word) }) {
		return ""
	}
	return m[2] + "()"
}

// control is a word of noNames that names no function even where a type stands before it.
var control = regexp.MustCompile(`^(?:if|for|while|switch|catch)$`)

// anonymous is a function without a name, as calls are given.
var anonymous = regexp.MustCompile(`=>|\bfunc\b|\bfunction\b|\blambda\b|->\s*\{`)
