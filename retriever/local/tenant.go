package local

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxName is how long the name of a file may be on the file systems in use.
const maxName = 255

// tenantFile returns the file of a tenant beside the store's at path:
// docs.db becomes docs@acme.db.
//
// Everything in the tenant's name but small letters, digits and underscores is
// written %xx, so that no name leaves the folder, two names are two files also
// where case does not count, and none is mistaken for another's log or lock,
// which have a hyphen or a dot in what follows. url.PathUnescape is the inverse.
func tenantFile(path, tenant string) (string, error) {
	if tenant == "" {
		return path, nil
	}
	if !utf8.ValidString(tenant) || strings.ContainsRune(tenant, 0) {
		return "", errors.New("the tenant's name is not UTF-8 or holds NUL: want text")
	}
	dir, name := filepath.Split(path)
	ext := filepath.Ext(name)
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(name, ext) + "@")
	for i := range len(tenant) {
		switch c := tenant[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	b.WriteString(ext)
	if n := b.Len() + len(lockSuffix); n > maxName {
		return "", fmt.Errorf("the tenant's files would have names of %d bytes: want %d or fewer, so a shorter name", n, maxName)
	}
	return dir + b.String(), nil
}
