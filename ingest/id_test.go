package ingest_test

import (
	"net/url"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/waymark-rag/waymark/ingest"
)

// FuzzID reads ids back into names: what can be read back is never shared.
func FuzzID(f *testing.F) {
	for _, name := range []string{"a.txt", "100%", "%25", "%2525", "caf\xe9", "caf%E9", "%\xff", "%A\xff", "a\nb", "%é%4"} {
		f.Add(name)
	}
	escape := regexp.MustCompile(`%[0-9A-F]{2}`)
	f.Fuzz(func(t *testing.T, name string) {
		id := ingest.ID(name)
		if !utf8.ValidString(id) {
			t.Errorf("ID(%q) = %q is not UTF-8", name, id)
		}
		back := escape.ReplaceAllStringFunc(id, func(s string) string {
			b, err := url.PathUnescape(s)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		if back != name {
			t.Errorf("ID(%q) = %q, which reads back as %q", name, id, back)
		}
	})
}
