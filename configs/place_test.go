package configs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]struct {
		place Place
		again string // how String writes it
	}{
		"local:.waymark/index.db":    {Place{Kind: KindLocal, Path: ".waymark/index.db"}, "local:.waymark/index.db"},
		"local:C:/a?b#c":             {Place{Kind: KindLocal, Path: "C:/a?b#c"}, "local:C:/a?b#c"},
		"qdrant://localhost/docs":    {Place{Kind: KindQdrant, Address: "localhost:6334", Collection: "docs"}, "qdrant://localhost:6334/docs"},
		"qdrants://q.example:1/docs": {Place{Kind: KindQdrant, Address: "q.example:1", TLS: true, Collection: "docs"}, "qdrants://q.example:1/docs"},
		"qdrant://[::1]:6334/d":      {Place{Kind: KindQdrant, Address: "[::1]:6334", Collection: "d"}, "qdrant://[::1]:6334/d"},
		"qdrant://[::1]/d":           {Place{Kind: KindQdrant, Address: "[::1]:6334", Collection: "d"}, "qdrant://[::1]:6334/d"},
		"qdrant://h/d?tenant=acme":   {Place{Kind: KindQdrant, Address: "h:6334", Collection: "d", Tenant: "acme"}, "qdrant://h:6334/d?tenant=acme"},
		"qdrant://h/a%20%23b?tenant=x%26y+z": {Place{Kind: KindQdrant, Address: "h:6334", Collection: "a #b", Tenant: "x&y z"},
			"qdrant://h:6334/a%20%23b?tenant=x%26y+z"},
	} {
		got, err := ParsePlace(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want.place, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		if got.String() != want.again {
			t.Errorf("%q is written %q, want %q", text, got, want.again)
		}
	}
}

func TestPlaceRefused(t *testing.T) {
	const example = "such as qdrant://localhost:6334/docs"
	for text, want := range map[string]string{
		"":                               "want local:PATH",
		"local:":                         "want local:PATH",
		"redis:x":                        example,
		"http://localhost:6333":          example,
		"qdrant:docs":                    "it names no host",
		"qdrant://":                      "it names no host",
		"qdrant:///docs":                 "it names no host",
		"qdrant://h":                     "it names no collection",
		"qdrant://h/":                    "it names no collection",
		"qdrant://h/a/b":                 "no slash",
		"qdrant://h/a%2fb":               "no slash",
		"qdrant://h/docs/":               "no slash",
		"qdrant://h/docs#1":              "%23",
		"qdrant://h/%ff":                 "not UTF-8",
		"qdrant://::1/docs":              "in brackets",
		"qdrant://h/%zz":                 `invalid URL escape "%zz"`,
		"qdrant://h:0/docs":              `port "0" is not between 1 and 65535`,
		"qdrant://h:65536/docs":          `port "65536"`,
		"qdrant://h:http/docs":           `invalid port ":http"`,
		"qdrants://h":                    "want qdrants://HOST:PORT/COLLECTION",
		"qdrant://h/d?tenant=":           "one tenant=NAME",
		"qdrant://h/d?tennant=a":         "one tenant=NAME",
		"qdrant://h/d?tenant=a&tenant=b": "one tenant=NAME",
		"qdrant://h/d?tenant=a&k=1":      "one tenant=NAME",
		"qdrant://h/d?tenant=%ff":        "not UTF-8",
	} {
		if p, err := ParsePlace(text); err == nil {
			t.Errorf("%q was read as %+v", text, p)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %q does not say %q", text, err, want)
		}
	}
}

// What a person puts into an address although it does not belong there is not
// repeated, since errors end up in logs.
func TestPlaceErrorsHoldNoSecret(t *testing.T) {
	for _, text := range []string{
		"qdrant://hunter2@h/docs", "qdrant://admin:hunter2@h/docs", "qdrants://hunter2@h:port/docs", "qdrant://a:hunter2/x@h/docs",
		"http://admin:hunter2@h/docs", "hunter2@h", "qdrant://h/docs?api_key=hunter2", "qdrant://h/docs?hunter2", "redis:x?key=hunter2",
		"qdrant://h/d@x?api_key=hunter2", "qdrant://hunter2@h/%zz",
	} {
		_, err := ParsePlace(text)
		if err == nil {
			t.Errorf("%q was taken", text)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats it: %v", text, err)
		}
	}
	_, err := ParsePlace("qdrant://admin:hunter2@h/docs")
	if err == nil || !strings.Contains(err.Error(), "qdrant.api_key_env") {
		t.Errorf("a key in the address: error %v, want it to say where it belongs", err)
	}
}

func FuzzParsePlace(f *testing.F) {
	for _, seed := range []string{"local:a", "qdrant://h/c", "qdrants://[fe80::1%25eth0]:1/c%20d?tenant=%26", "qdrant://h:1/%E2%82%AC?tenant=a+b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePlace(text)
		if err != nil {
			return
		}
		again, err := ParsePlace(p.String())
		if err != nil || again != p {
			t.Errorf("%q is %+v, written %q, which is %+v, %v", text, p, p, again, err)
		}
	})
}
