package retriever_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/retriever"
)

func TestParseFilter(t *testing.T) {
	one := func(key string, op retriever.Op, value any) []retriever.Condition {
		return []retriever.Condition{{Key: key, Op: op, Value: value}}
	}
	for expr, want := range map[string][]retriever.Condition{
		"":                          nil,
		" \t":                       nil,
		"format=markdown":           one("format", retriever.Eq, "markdown"),
		"format!=markdown":          one("format", retriever.Ne, "markdown"),
		"path^=guide/":              one("path", retriever.Prefix, "guide/"),
		"path^=2020":                one("path", retriever.Prefix, "2020"),
		"tags~=true":                one("tags", retriever.Contains, "true"),
		"year>=2020":                one("year", retriever.Gte, int64(2020)),
		"year>-3":                   one("year", retriever.Gt, int64(-3)),
		"score<0.5":                 one("score", retriever.Lt, 0.5),
		"score<=1e3":                one("score", retriever.Lte, 1000.0),
		"date>=2020-01-31":          one("date", retriever.Gte, "2020-01-31"),
		"draft=true":                one("draft", retriever.Eq, true),
		`draft="true"`:              one("draft", retriever.Eq, "true"),
		`isbn="978"`:                one("isbn", retriever.Eq, "978"),
		"lang=go,python":            one("lang", retriever.In, []any{"go", "python"}),
		"n=1,2.5,true,x":            one("n", retriever.In, []any{int64(1), 2.5, true, "x"}),
		`title="a b, \"c\"\n"`:      one("title", retriever.Eq, "a b, \"c\"\n"),
		`title=""`:                  one("title", retriever.Eq, ""),
		`"my key"=x`:                one("my key", retriever.Eq, "x"),
		"author?":                   one("author", retriever.Exists, true),
		"!author?":                  one("author", retriever.Exists, false),
		"q=what?":                   one("q", retriever.Eq, "what?"),
		"url=http://x/?a=b":         one("url", retriever.Eq, "http://x/?a=b"),
		"v=nan":                     one("v", retriever.Eq, "nan"),
		"v=1e999":                   one("v", retriever.Eq, "1e999"),
		"ключ=значение":             one("ключ", retriever.Eq, "значение"),
		"  a=1   b? \n path^=x/y\t": append(append(one("a", retriever.Eq, int64(1)), one("b", retriever.Exists, true)...), one("path", retriever.Prefix, "x/y")...),
	} {
		got, err := retriever.ParseFilter(expr)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if d := cmp.Diff(retriever.Filter{All: want}, got); d != "" {
			t.Errorf("ParseFilter(%q): want -, got +:\n%s", expr, d)
		}
	}
}

func TestParseFilterErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"format":       `key "format": want one of`,
		"=x":           `want a key at "=x"`,
		"a=":           `key "a": want a value`,
		"a=1,":         `key "a": want a value`,
		"a= b=1":       `key "a": want a value at " b=1"`,
		"a!=1,2":       "several values go only with =",
		"a>1,2":        "several values go only with =",
		"a<true":       `"lt" cannot take`,
		"!a=1":         "only with ?",
		`a="b`:         "does not end",
		`a="b"c`:       `want a space before "c"`,
		`"a`:           "does not end",
		"a?b":          `want a space before "b"`,
		"a : b":        `key "a": want one of`,
		"a=1 and b=2":  `key "and": want one of`,
		`a="\x"`:       "wrong escape",
		"a~b":          `key "a": want one of`,
		"good=1 bad==": "",
	} {
		f, err := retriever.ParseFilter(expr)
		if want == "" {
			if err != nil {
				t.Errorf("%v", err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", expr)) {
			t.Errorf("ParseFilter(%q) = %v, %v, want an error with %q and the filter", expr, f, err, want)
		}
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, seed := range []string{
		"format=markdown path^=guide/", "year>=2020 tags~=x", "lang=go,python !author?", `"k k"="a\n",1.0,-0.0`, `a<"=b"`, `k~="1"`, "a\xff=\xfe",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		first, err := retriever.ParseFilter(expr)
		if err != nil {
			return
		}
		if err := first.Validate(); err != nil {
			t.Fatalf("ParseFilter(%q) returned what Validate refuses: %v", expr, err)
		}
		second, err := retriever.ParseFilter(first.String())
		if err != nil {
			t.Fatalf("ParseFilter(%q) is written %q: %v", expr, first, err)
		}
		if d := cmp.Diff(first, second); d != "" {
			t.Errorf("ParseFilter(%q) is written %q and reads otherwise:\n%s", expr, first, d)
		}
	})
}

func ExampleParseFilter() {
	f, err := retriever.ParseFilter(`lang=go,python year>=2020 !draft?`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range f.All {
		fmt.Println(c.Key, c.Op, c.Value)
	}
	fmt.Println(f.Match(map[string]any{"lang": "go", "year": int64(2033)}))
	// Output:
	// lang in [go python]
	// year gte 2020
	// draft exists false
	// true
}
