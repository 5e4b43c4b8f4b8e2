package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-rag/waymark/retriever"
)

func testWords(t *testing.T, at Open) {
	s := create(t, at, 4)
	filler := "one two three four five six seven eight "
	upsert(t, s,
		document("a", axis(0), part{"The checkpoint copies pages. ", axis(0)}, part{"A second checkpoint, a third checkpoint.", axis(0)}),
		document("b", axis(0), part{filler + "checkpoint " + filler, axis(0)}, part{filler, axis(0)}),
		document("c", axis(0), part{"Journal and snake_case_name, HTTP2Server.", axis(0)}, part{filler + filler, axis(0)}),
	)
	got := candidates(t, s, retriever.Query{Words: "checkpoint"}).Lexical
	wantDiff(t, "more and denser matches first", []string{"a/1", "a/0", "b/0"}, places(got))
	for i, c := range got {
		if c.Score.Lexical <= 0 || i > 0 && c.Score.Lexical > got[i-1].Score.Lexical {
			t.Errorf("score %d is %v: want positive scores that fall", i, c.Score.Lexical)
		}
		if c.Score.Dense != 0 || c.Score.Landmark != 0 || c.Score.Document != 0 {
			t.Errorf("dense scores without a vector: %+v", c.Score)
		}
	}
	for words, want := range map[string][]string{
		"CheckPoint  checkpoint": {"a/1", "a/0", "b/0"},
		"journal":                {"c/0"},
		"snake_case_name":        {"c/0"},
		"http2server":            {"c/0"},
		"nosuchword":             nil,
		"nosuchword journal":     {"c/0"},
		"check":                  nil, // part of a word is another word
	} {
		wantDiff(t, fmt.Sprintf("words %q", words), want, places(candidates(t, s, retriever.Query{Words: words}).Lexical))
	}
}

// testWordsAreText asks for what would be an operator or an error in one query
// language or another.
func testWordsAreText(t *testing.T, at Open) {
	s := create(t, at, 4)
	upsert(t, s, document("a", axis(0), part{"apple banana ", axis(0)}, part{"cherry near and or not", axis(1)}))
	for _, words := range []string{
		`"`, `""`, `"apple`, `apple"`, `app*`, `*`, `^apple`, `NEAR(`, `NEAR(apple cherry, 2)`, `apple AND cherry`, `apple NOT banana`,
		`-apple`, `+apple`, `text:apple`, `text : apple`, `{text headings}: apple`, `(apple`, `apple)`, `'`, `';--`, `\`, `a\"b`, `%`, `_`, `?`, `:`,
		"apple\x00banana", "apple\nbanana", "\xff\xfe", "--", "...", " ", strings.Repeat("apple ", 5000), strings.Repeat("a", 100_000),
	} {
		name := words[:min(len(words), 30)]
		q := retriever.Query{Words: words, Limit: 5}
		c, err := s.Candidates(t.Context(), q)
		if err != nil {
			t.Errorf("words %q: %v", name, err)
			continue
		}
		hasApple := strings.Contains(words, "apple")
		if found := len(c.Lexical) > 0 && c.Lexical[0].Document == "a"; hasApple && !found {
			t.Errorf("words %q do not find the chunk with apple", name)
		}
	}
	for words, want := range map[string][]string{"-apple": {"a/0"}, "app*": nil, "apple NOT banana": {"a/0", "a/1"}} {
		got := candidates(t, s, retriever.Query{Words: words})
		if len(got.Lexical) != len(want) {
			t.Errorf("words %q find %q, want %q: they are text", words, places(got.Lexical), want)
		}
	}
}

func testWordsUnicode(t *testing.T, at Open) {
	s := create(t, at, 4)
	for id, text := range map[string]string{
		"de": "Die Größe der Übung", "ru": "Журнал упреждающей записи", "el": "Ημερολόγιο εγγραφής",
		"fr": "Un re\u0301sume\u0301 de la the\u0300se", "hi": "हिन्दी में लिखा है", "ar": "سجل الكتابة المسبقة",
		"ja": "先行書き込みログの説明", "zh": "预写日志可以防止数据丢失", "ko": "미리 쓰기 로그", "th": "บันทึกการเขียนล่วงหน้า",
	} {
		upsert(t, s, document(id, axis(0), part{text, axis(0)}))
	}
	for words, want := range map[string]string{
		"größe": "de", "ÜBUNG": "de", "журнал": "ru", "ημερολόγιο": "el", "résumé": "fr", "हिन्दी": "hi", "الكتابة": "ar",
		"書き込み": "ja", "日志": "zh", "로그": "ko", "เขียน": "th", "什么是数据丢失？": "zh",
	} {
		got := candidates(t, s, retriever.Query{Words: words}).Lexical
		if len(got) == 0 || got[0].Document != want {
			t.Errorf("words %q find %q, want %q first", words, places(got), want)
		}
	}
}

func testWordsFilterAndCut(t *testing.T, at Open) {
	s := create(t, at, 4)
	for i := range 30 {
		upsert(t, s, with(document(fmt.Sprintf("%02d", i), axis(0), part{strings.Repeat("word ", 40-i), axis(0)}),
			map[string]any{"late": i >= 20}))
	}
	c := candidates(t, s, retriever.Query{Words: "word", Limit: 5, Filter: where("late", retriever.Eq, true)})
	if len(c.Lexical) != 5 {
		t.Fatalf("%d candidates, want 5", len(c.Lexical))
	}
	for _, c := range c.Lexical {
		if c.Document < "20" {
			t.Errorf("%q does not match the filter", c.Document)
		}
	}
}

func testBothSources(t *testing.T, at Open) {
	s := create(t, at, 4)
	upsert(t, s,
		document("a", axis(0), part{"near the vector ", axis(0)}, part{"with the word", []float32{0, 0.6, 0.8, 0}}),
		document("b", []float32{0.6, 0, 0, 0.8}, part{"word word", []float32{0, 0, 0, -1}}),
	)
	q := retriever.Query{Vector: axis(0), Words: "word", Limit: 1, Weights: retriever.Weights{Landmark: 0.5, Document: 0.5}}
	c := candidates(t, s, q)
	wantDiff(t, "dense", []string{"a/0"}, places(c.Dense))
	wantDiff(t, "lexical", []string{"b/0"}, places(c.Lexical))
	got := rounded(c.Lexical)[0].Score
	got.Lexical = 0 // stores count it in ways of their own
	wantDiff(t, "dense scores of a lexical candidate", retriever.Score{Dense: 0.3, Landmark: 0, Document: 0.6}, got)
	if c.Lexical[0].Score.Lexical <= 0 || c.Dense[0].Score.Lexical != 0 {
		t.Errorf("lexical scores are %v and %v, want one above 0 and 0", c.Lexical[0].Score.Lexical, c.Dense[0].Score.Lexical)
	}
}
