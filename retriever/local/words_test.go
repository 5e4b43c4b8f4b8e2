package local

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	for words, want := range map[string]string{
		"":                       ``,
		" \t-*?":                 ``,
		"one":                    `"one"`,
		"one  Two":               `"one" OR "Two"`,
		"one ONE One":            `"one"`,
		`a"b OR c*`:              `"a" OR "b" OR "OR" OR "c"`,
		"snake_case":             `"snake" OR "case"`,
		"don't":                  `"don" OR "t"`,
		"日":                      `"日"`,
		"日本語":                    `"日 本" OR "本 語"`,
		"Go言語2026":               `"Go" OR "言 語" OR "2026"`,
		"re\u0301sume\u0301":     "\"re\u0301sume\u0301\"",
		strings.Repeat("x ", 99): `"x"`,
	} {
		if d := cmp.Diff(want, strings.Join(terms(words), " OR ")); d != "" {
			t.Errorf("terms(%q): want -, got +:\n%s", words, d)
		}
	}
	var many strings.Builder
	for r := 'a'; r < 'a'+26; r++ {
		for s := 'a'; s < 'a'+26; s++ {
			many.WriteString(string(r) + string(s) + " ")
		}
	}
	if n := len(terms(many.String())); n != maxTerms {
		t.Errorf("many words give %d terms, want %d", n, maxTerms)
	}
}

func TestIndexText(t *testing.T) {
	for text, want := range map[string]string{
		"plain text":  "plain text",
		"größe":       "größe",
		"Go言語です":      "Go 言  語  で  す ",
		"bad\xffbyte": "bad\xffbyte",
	} {
		if got := indexText(text); got != want {
			t.Errorf("indexText(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzWords asks a real full-text table for any text: nothing may be an error.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{`NEAR("a" b, 2)`, `a AND (b OR`, `text:a*`, "日本語", "\x00\"", "é\u0301"} {
		f.Add(seed)
	}
	s := openTest(f, f.TempDir()+"/words.db", &Options{Create: true})
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range terms(text) {
			var n int
			if err := s.db.QueryRow(`SELECT count(*) FROM words WHERE words MATCH ?`, term).Scan(&n); err != nil {
				t.Errorf("words %q became %q: %v", text, term, err)
			}
			if utf8.ValidString(text) && !utf8.ValidString(term) {
				t.Errorf("words %q became %q, which is not UTF-8", text, term)
			}
		}
	})
}
