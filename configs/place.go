package configs

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The kinds of places.
const (
	KindLocal  = "local"
	KindQdrant = "qdrant"
)

// qdrantPort is that of a Qdrant server's gRPC protocol.
const qdrantPort = "6334"

// Place is where a store lives, written as one string so that flags, the
// environment and files say it alike.
type Place struct {
	Kind string // KindLocal or KindQdrant
	Path string // of a local store: its file

	// Of a store in a Qdrant server.
	Address    string // host:port
	TLS        bool
	Collection string
	// Tenant is that of a store which several share; empty where the place names
	// none.
	Tenant string
}

// ParsePlace reads local:PATH and qdrant://HOST:PORT/COLLECTION?tenant=NAME, of
// which the port and the tenant may be left out; with qdrants the connection is
// encrypted. What cannot be written in a URL as it is stands as % and two hex
// digits. Errors do not repeat what may be a secret.
func ParsePlace(s string) (Place, error) {
	kind, rest, _ := strings.Cut(s, ":")
	switch {
	case kind == KindLocal && rest != "":
		return Place{Kind: KindLocal, Path: rest}, nil
	case kind == KindQdrant || kind == KindQdrant+"s":
		p, err := parseQdrant(s)
		if err != nil {
			return Place{}, fmt.Errorf("place %q: %w: want %s://HOST:PORT/COLLECTION, such as %s://localhost:%s/docs", withoutSecrets(s), err, kind, kind, qdrantPort)
		}
		return p, nil
	}
	return Place{}, fmt.Errorf("place %q: want local:PATH, such as local:.waymark/index.db, or qdrant://HOST:PORT/COLLECTION, such as qdrant://localhost:%s/docs", withoutSecrets(s), qdrantPort)
}

func parseQdrant(s string) (Place, error) {
	u, err := url.Parse(s)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) && !strings.Contains(s, "@") {
			return Place{}, e.Err // without the address
		}
		return Place{}, errors.New("it is no URL")
	}
	port := u.Port()
	if port == "" {
		port = qdrantPort
	}
	n, err := strconv.ParseUint(port, 10, 16)
	collection, slash := strings.CutPrefix(u.Path, "/")
	switch {
	case u.User != nil:
		return Place{}, errors.New("a name or key does not belong in an address; the setting qdrant.api_key_env names the variable that holds the key")
	case u.Opaque != "" || u.Hostname() == "":
		return Place{}, errors.New("it names no host")
	case strings.Contains(u.Hostname(), ":") && u.Host[0] != '[':
		return Place{}, errors.New("an IPv6 address stands in brackets, as in qdrant://[::1]:6334/docs")
	case err != nil || n == 0:
		return Place{}, fmt.Errorf("port %q is not between 1 and 65535", port)
	case !slash || collection == "":
		return Place{}, errors.New("it names no collection")
	case strings.Contains(collection, "/"):
		return Place{}, errors.New("the name of a collection has no slash")
	case u.Fragment != "":
		return Place{}, errors.New("a # in a name is written %23")
	}
	tenant, err := tenantOf(u.RawQuery)
	if err != nil {
		return Place{}, err
	}
	if !utf8.ValidString(collection) || !utf8.ValidString(tenant) {
		return Place{}, errors.New("a name is not UTF-8")
	}
	return Place{
		Kind: KindQdrant, Address: net.JoinHostPort(u.Hostname(), strconv.FormatUint(n, 10)), TLS: u.Scheme == KindQdrant+"s",
		Collection: collection, Tenant: tenant,
	}, nil
}

// tenantOf reads what stands behind the ? of a place.
func tenantOf(query string) (string, error) {
	if query == "" {
		return "", nil
	}
	values, err := url.ParseQuery(query)
	tenant := values["tenant"]
	if err != nil || len(values) != 1 || len(tenant) != 1 || tenant[0] == "" {
		return "", errors.New("behind the ? stands something else than one tenant=NAME")
	}
	return tenant[0], nil
}

// withoutSecrets cuts what a person may have put into an address although it does
// not belong there: what stands before an @, and the values behind a ?.
func withoutSecrets(s string) string {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		scheme, _, found := strings.Cut(s[:i], "://")
		if found {
			scheme += "://"
		} else {
			scheme = ""
		}
		s = scheme + "..." + s[i:]
	}
	if before, _, found := strings.Cut(s, "?"); found {
		s = before + "?..."
	}
	return s
}

// String writes p as ParsePlace reads it. A local place does not name its tenant.
func (p Place) String() string {
	if p.Kind == KindLocal {
		return p.Kind + ":" + p.Path
	}
	u := url.URL{Scheme: p.Kind, Host: p.Address, Path: "/" + p.Collection}
	if p.TLS {
		u.Scheme += "s"
	}
	if p.Tenant != "" {
		u.RawQuery = url.Values{"tenant": {p.Tenant}}.Encode()
	}
	return u.String()
}
