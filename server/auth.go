package server

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Scope is something that a caller may do.
type Scope string

// The scopes.
const (
	Read  Scope = "read"  // ask, search, see documents, embed and rerank
	Write Scope = "write" // add and delete documents
	Admin Scope = "admin" // everything, metrics included
)

// Caller is who sends a request.
type Caller struct {
	Name   string  // for the log
	Tenant string  // whose documents it works on; "" are the store's own
	Scopes []Scope // what it may do
	// User is whom the caller acts for, where it serves several.
	User string
}

func (c Caller) may(scope Scope) bool {
	return slices.Contains(c.Scopes, scope) || slices.Contains(c.Scopes, Admin)
}

func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey).(Caller)
	return c
}

func withCaller(r *http.Request, c Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey, c))
}

// Keys are API keys, of which it holds the hashes alone.
type Keys struct {
	keys []key
}

type key struct {
	hash   [sha256.Size]byte
	caller Caller
}

// minSecret is how long a secret must be, in bytes.
const minSecret = 8

// ParseKeys reads keys, one a line: a name, scopes separated by commas, a tenant (-
// for the store's own) and the secret, or sha256: and its hash in hex. Empty lines
// and those that start with # are left out. Errors repeat no secret.
func ParseKeys(text string) (*Keys, error) {
	k := &Keys{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %d of the keys: want NAME SCOPES TENANT SECRET, such as web read,write - SECRET", n)
		}
		one, err := parseKey(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d of the keys: %w", n, err)
		}
		if slices.ContainsFunc(k.keys, func(o key) bool { return o.hash == one.hash }) {
			return nil, fmt.Errorf("line %d of the keys: its secret is another key's too", n)
		}
		k.keys = append(k.keys, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if len(k.keys) == 0 {
		return nil, errors.New("keys: there is none: want one a line, NAME SCOPES TENANT SECRET")
	}
	return k, nil
}

func parseKey(fields []string) (key, error) {
	k := key{caller: Caller{Name: fields[0], Tenant: fields[2]}}
	if k.caller.Tenant == "-" {
		k.caller.Tenant = ""
	}
	for name := range strings.SplitSeq(fields[1], ",") {
		scope := Scope(name)
		if !slices.Contains([]Scope{Read, Write, Admin}, scope) {
			return key{}, fmt.Errorf("scope %q: want read, write or admin, or several with commas between", name)
		}
		k.caller.Scopes = append(k.caller.Scopes, scope)
	}
	secret := fields[3]
	if digits, ok := strings.CutPrefix(secret, "sha256:"); ok {
		hash, err := hex.DecodeString(digits)
		if err != nil || len(hash) != len(k.hash) {
			return key{}, errors.New("the hash of the secret: want 64 hex digits behind the prefix sha256")
		}
		k.hash = [sha256.Size]byte(hash)
		return k, nil
	}
	if len(secret) < minSecret {
		return key{}, fmt.Errorf("the secret is shorter than %d characters", minSecret)
	}
	k.hash = sha256.Sum256([]byte(secret))
	return k, nil
}

var (
	errNoKey    = &apiError{Status: http.StatusUnauthorized, Code: "missing_key", Message: "there is no API key", Hint: "send the header Authorization: Bearer KEY"}
	errWrongKey = &apiError{Status: http.StatusUnauthorized, Code: "invalid_key", Message: "the API key is not one of this server's"}
)

// Authenticate finds the key of a request. How long that takes does not depend on
// which key it is or how much of it is right.
func (k *Keys) Authenticate(r *http.Request) (Caller, error) {
	secret := bearer(r)
	if secret == "" {
		return Caller{}, errNoKey
	}
	hash := sha256.Sum256([]byte(secret))
	found := -1
	for i := range k.keys {
		same := subtle.ConstantTimeCompare(hash[:], k.keys[i].hash[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return Caller{}, errWrongKey
	}
	return k.keys[found].caller, nil
}

// bearer returns the token of a request, or "".
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// everyone is the caller where there is no authentication.
var everyone = Caller{Name: "-", Scopes: []Scope{Admin}}

// authenticate returns the caller of a request; one that was found before, such as
// by asLibreChat, stays.
func (s *Server) authenticate(r *http.Request) (Caller, error) {
	if c, ok := r.Context().Value(callerKey).(Caller); ok {
		return c, nil
	}
	if s.opts.Authenticate == nil {
		return everyone, nil
	}
	c, err := s.opts.Authenticate(r)
	var known *apiError
	if err != nil && !errors.As(err, &known) {
		return c, &apiError{Status: http.StatusUnauthorized, Code: "invalid_key", Message: "the request is not authenticated", cause: err}
	}
	return c, err
}

// need lets callers through that have the scope, at the rate that their tenant may
// send requests.
func (s *Server) need(scope Scope) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return s.handle(func(w http.ResponseWriter, r *http.Request) error {
			c, err := s.authenticate(r)
			if err != nil {
				return err
			}
			note(r.Context(), c)
			if !c.may(scope) {
				return &apiError{Status: http.StatusForbidden, Code: "missing_scope",
					Message: fmt.Sprintf("the API key does not have the scope %s", scope), Hint: "use a key that has it"}
			}
			if err := s.rates.take(c.Tenant); err != nil {
				s.metrics.refused("rate")
				return err
			}
			next.ServeHTTP(w, withCaller(r, c))
			return nil
		})
	}
}
