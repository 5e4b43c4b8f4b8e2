package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

// policy allows what the page does and no more: its own scripts, styles, icon
// and API. Trusted types make the browser refuse to parse any string as HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// Handler serves the page at / and its files below /assets/. Everything else is
// not found, and methods other than GET and HEAD are refused. The page finds the
// API beside itself: mounted below a prefix, it needs its address to end in a
// slash and the API below the same prefix.
func Handler() http.Handler {
	files := make(map[string]file)
	entries, err := fs.ReadDir(static, "static")
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	for _, e := range entries {
		content, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		at := "/assets/" + e.Name()
		if e.Name() == "index.html" {
			at = "/"
		}
		files[at] = newFile(e.Name(), content)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, fmt.Sprintf("method %q is not allowed here: want GET or HEAD", r.Method), http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

type file struct {
	content   []byte
	mediaType string
	etag      string
}

// mediaTypes does not depend on what the machine's tables say.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func newFile(name string, content []byte) file {
	return file{content, mediaTypes[path.Ext(name)], fmt.Sprintf(`"%x"`, sha256.Sum256(content))}
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache") // may be kept, but is asked for again
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if strings.HasPrefix(f.mediaType, "text/html") {
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}
