//go:build cgo && onnx

package onnx

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-rag/waymark/chunker"
	"github.com/waymark-rag/waymark/landmark"
	"github.com/waymark-rag/waymark/landmark/modeldir"
	"github.com/waymark-rag/waymark/models"
)

func defaultTokenizer(t testing.TB) *tokenizer {
	t.Helper()
	spec, err := modeldir.Load(models.Default())
	if err != nil {
		t.Fatal(err)
	}
	tok, err := newTokenizer(spec.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tok.close(); err != nil {
			t.Error(err)
		}
	})
	return tok
}

func TestTokens(t *testing.T) {
	tok := defaultTokenizer(t)
	for _, c := range []struct {
		name, text string
		want       []string // the text of each token
	}{
		{"words", "The Bridge, opened.", []string{"The", "Bridge", ",", "opened", "."}},
		{"pieces", "unaffable", []string{"una", "ffa", "ble"}},
		{"accents and scripts", "Café — 東京", []string{"Café", "—", "東", "京"}},
		{"special tokens are text", "a [SEP] b [CLS]", []string{"a", "[", "SEP", "]", "b", "[", "CL", "S", "]"}},
		{"NUL", "red\x00green", []string{"red", "green"}},
		{"bad UTF-8", "red\xff\xfegreen \xe2\x82", []string{"red", "green"}},
		{"replacement character", "red\uFFFDgreen", []string{"red", "gree", "n"}},
		{"blank", " \n\t ", nil},
		{"empty", "", nil},
		{"control characters", "\x01\x02\u200d", nil},
		{"one rune, two tokens", "½", []string{"½"}},
		{"emoji", "x 👩‍👩‍👧 y", []string{"x", "👩‍👩‍👧", "y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens, err := tok.Tokens(c.text)
			if err != nil {
				t.Fatal(err)
			}
			checkTokens(t, c.text, tokens)
			var got []string
			for _, tk := range tokens {
				got = append(got, tk.Of(c.text))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("tokens differ (-want +got):\n%s", diff)
			}
		})
	}
}

// checkTokens checks what holds for the tokens of any text.
func checkTokens(t *testing.T, text string, tokens []landmark.Token) {
	t.Helper()
	at := 0
	for i, tk := range tokens {
		if tk.Start < at || tk.End < tk.Start || tk.End > len(text) {
			t.Fatalf("token %d covers %v after %d in a text of %d bytes", i, tk.Range, at, len(text))
		}
		at = tk.Start
		if tk.ID == 101 || tk.ID == 102 || tk.ID == 0 {
			t.Fatalf("token %d (%q) is the special token %d", i, tk.Of(text), tk.ID)
		}
		for _, edge := range []int{tk.Start, tk.End} {
			if edge < len(text) && !utf8.RuneStart(text[edge]) && utf8.ValidString(text) {
				t.Fatalf("token %d covers %v, which cuts a rune", i, tk.Range)
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	tok := defaultTokenizer(f)
	for _, s := range []string{"", "a", "Café — 東京 ½ ﬁ", "\x00\xff[SEP]\u200d", "👩‍👩‍👧", "e\u0301\u0327", "\u1100\u1161\u11a8", "İstanbul ẞ ŉ", strings.Repeat("x", 300)} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.Repeat(text, 1+max(times, 0)%1000)
		tokens, err := tok.Tokens(text)
		if err != nil {
			t.Fatal(err)
		}
		checkTokens(t, text, tokens)
	})
}

// TestSegments holds that cutting a long text leaves its tokens as they are.
func TestSegments(t *testing.T) {
	tok := defaultTokenizer(t)
	for name, text := range map[string]string{
		"lines":     prose(30_000),
		"no lines":  strings.ReplaceAll(prose(30_000), "\n", " "),
		"no blanks": strings.Repeat("東京タワー", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tok.Tokens(text)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := tok.appendTokens(nil, text, chunker.Range{Start: 0, End: len(text)})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) < 20_000 || len(text) < 2*maxSegment {
				t.Fatalf("%d tokens of %d bytes: the text is too short for this test", len(got), len(text))
			}
			for i := range whole {
				if i >= len(got) || got[i] != whole[i] {
					t.Fatalf("token %d differs: want %v", i, whole[i])
				}
			}
			if len(got) != len(whole) {
				t.Errorf("%d tokens, want %d", len(got), len(whole))
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		name, text string
		size, want int
	}{
		{"short", "abc", 8, 3},
		{"line", "one\ntwo\nthree four", 12, 8},
		{"not inside blank lines", "one two six\n\n\nten", 13, 7},
		{"blank goes to the right", "one two three four", 12, 7},
		{"not inside a run of blanks", "one two  three four", 12, 12},
		{"between runes", "東京東京", 8, 6},
		{"whole size", "abcdefgh", 4, 4},
		{"late blank", "abcd efgh", 8, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := cut(c.text, c.size)
			if got != c.want {
				t.Errorf("cut(%q, %d) = %d, want %d", c.text, c.size, got, c.want)
			}
		})
	}
}

// TestUnknownWords makes the library fail: a vocabulary without the unknown
// token has no way to tokenize them, and it does not say so.
func TestUnknownWords(t *testing.T) {
	tok, err := newTokenizer([]byte(`{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
		"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
		"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"a":0,"red":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer tok.close()
	if tokens, err := tok.Tokens("red a"); err != nil || len(tokens) != 2 {
		t.Errorf("tokens %v, error %v: want two tokens", tokens, err)
	}
	if tokens, err := tok.Tokens("  "); err != nil || tokens != nil {
		t.Errorf("tokens %v, error %v: want none of either for blanks", tokens, err)
	}
	if _, err := tok.Tokens("red green"); err == nil || !strings.Contains(err.Error(), "bytes 0-9") {
		t.Errorf("error %v, want one that names the bytes", err)
	}
}

func TestClosedTokenizer(t *testing.T) {
	tok := defaultTokenizer(t)
	for range 2 {
		if err := tok.close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tok.Tokens("x"); !errors.Is(err, errClosed) {
		t.Errorf("error %v, want errClosed", err)
	}
	if _, err := newTokenizer([]byte("{}")); err == nil || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("error %v, want one about tokenizer.json", err)
	}
}
