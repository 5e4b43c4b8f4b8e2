package chunker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWordTokenizer(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n\t", nil},
		{"Hello, world!", []string{"Hello", ",", "world", "!"}},
		{"x2 = 3.14", []string{"x2", "=", "3", ".", "14"}},
		{"今天 ok", []string{"今", "天", "ok"}},
		{"cafe\u0301 👩\u200d👧 नमस्ते", []string{"cafe\u0301", "👩\u200d", "👧", "नमस्ते"}},
		{"\u0301a\xff", []string{"\u0301", "a", "\xff"}},
	}
	for _, tt := range tests {
		ranges, err := WordTokenizer{}.Offsets(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range ranges {
			got = append(got, r.Of(tt.text))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("tokens of %q (-want +got):\n%s", tt.text, diff)
		}
	}
}
