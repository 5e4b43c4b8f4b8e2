package prose

import (
	"strings"
	"unicode"
)

// Fold takes the common English endings off a lower-case word, so that its
// forms compare equal. The result need not be a word.
func Fold(word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'")
	if base, ok := irregular[word]; ok {
		word = base
	}
	if len(word) <= 3 {
		return word
	}
	word = foldPlural(word)
	for _, suffix := range []string{"ing", "ed"} {
		if base, ok := strings.CutSuffix(word, suffix); ok && len(base) >= 3 && strings.ContainsAny(base, "aeiouy") {
			word = undouble(base)
			break
		}
	}
	if base, ok := strings.CutSuffix(word, "ly"); ok && len(base) >= 4 {
		word = base
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	if base, ok := strings.CutSuffix(word, "y"); ok && len(base) >= 3 {
		word = base + "i"
	}
	return word
}

func foldPlural(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"),
		strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// undouble turns "runn", what is left of "running", into "run".
func undouble(word string) string {
	n := len(word)
	if n > 3 && word[n-1] == word[n-2] && !strings.ContainsRune("lsz", rune(word[n-1])) {
		return word[:n-1]
	}
	return word
}

// foldNumber brings a number to plain digits: "1,000" and "1000", "07" and "7",
// "3rd" and "three" are the same.
func foldNumber(lower string) (string, bool) {
	if n, ok := numberWords[lower]; ok {
		return n, true
	}
	digits := lower
	for _, suffix := range []string{"st", "nd", "rd", "th", "s"} {
		if base, ok := strings.CutSuffix(lower, suffix); ok && base != "" {
			digits = base
			break
		}
	}
	for _, r := range digits {
		if !unicode.IsDigit(r) && r != ',' && r != '.' {
			return "", false
		}
	}
	digits = strings.ReplaceAll(digits, ",", "")
	if short := strings.TrimLeft(digits, "0"); short != "" && short[0] != '.' {
		digits = short
	}
	return digits, digits != ""
}

var numberWords = pairs(`two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12
thirteen 13 fourteen 14 fifteen 15 sixteen 16 seventeen 17 eighteen 18 nineteen 19 twenty 20 thirty 30 forty 40
fifty 50 sixty 60 seventy 70 eighty 80 ninety 90`)

// irregular maps the forms that no ending explains to their base.
var irregular = pairs(`ate eat began begin begun begin became become bit bite bore bear born bear bought buy
brought bring broke break broken break built build came come caught catch chose choose chosen choose drank drink
drew draw drawn draw drove drive driven drive fallen fall fed feed fell fall felt feel flew fly fought fight
found find forgot forget gave give given give goes go gone go grew grow grown grow heard hear held hold hid hide
hidden hide kept keep knew know known know laid lay led lead left leave lent lend lost lose made make meant mean
met meet paid pay ran run rang ring rode ride rose rise said say sang sing sank sink sat sit saw see seen see
sent send shot shoot slept sleep sold sell spent spend spoke speak spoken speak stole steal stolen steal stood
stand struck strike swam swim swore swear taken take taught teach thought think threw throw thrown throw told
tell took take tore tear understood understand went go woke wake won win wore wear worn wear wrote write written
write children child men man women woman wives wife lives life feet foot teeth tooth mice mouse people person
died die dying die lying lie tied tie`)

func pairs(words string) map[string]string {
	m := make(map[string]string)
	f := strings.Fields(words)
	for i := 0; i+1 < len(f); i += 2 {
		m[f[i]] = f[i+1]
	}
	return m
}
