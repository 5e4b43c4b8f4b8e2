package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The keys of two tenants and of an administrator.
const (
	aliceReads  = "alice-reads-1"
	aliceWrites = "alice-writes-1"
	bobDoesAll  = "bob-does-both-1"
	adminKey    = "admin-secret-1"
)

func withKeys(o *Options) {
	sum := sha256.Sum256([]byte(bobDoesAll))
	keys, err := ParseKeys("# comment\n\nalice read alice " + aliceReads + "\nalice2 write alice " + aliceWrites +
		"\nbob read,write bob sha256:" + hex.EncodeToString(sum[:]) + "\nroot admin - " + adminKey + "\n")
	if err != nil {
		panic(err)
	}
	o.Authenticate = keys.Authenticate
}

// every is a request to each route that needs a key.
var every = []struct {
	method, path, body string
	scope              Scope
}{
	{"POST", "/v1/ask", `{"question":"x"}`, Read}, {"POST", "/v1/search", `{"query":"x"}`, Read},
	{"POST", "/v1/chat/completions", chatBody + `}`, Read}, {"GET", "/v1/models", "", Read}, {"GET", "/v1/models/waymark", "", Read},
	{"POST", "/v1/embeddings", `{"input":"x"}`, Read}, {"POST", "/v1/rerank", `{"query":"x","documents":["y"]}`, Read},
	{"POST", "/v2/rerank", `{"query":"x","documents":["y"]}`, Read}, {"GET", "/v1/collections", "", Read}, {"GET", "/v1/documents", "", Read},
	{"GET", "/v1/documents/screen.md", "", Read}, {"POST", "/v1/documents", `{"documents":[{"text":"x"}]}`, Write},
	{"DELETE", "/v1/documents/screen.md", "", Write}, {"GET", "/v1/jobs/x", "", Write}, {"POST", "/embed", `{"inputs":"x"}`, Read},
	{"POST", "/embed_all", `{"inputs":"x"}`, Read}, {"POST", "/rerank", `{"query":"x","texts":["y"]}`, Read}, {"GET", "/info", "", Read},
	{"POST", "/query", `{"query":"x","file_id":"y"}`, Read}, {"POST", "/query_multiple", `{"query":"x","file_ids":["y"]}`, Read},
	{"POST", "/text", "", Read}, {"GET", "/ids", "", Read}, {"GET", "/documents?ids=x", "", Read}, {"DELETE", "/documents", `["x"]`, Write},
	{"GET", "/documents/x/context", "", Read}, {"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, Read}, {"GET", "/metrics", "", Admin},
}

func TestNoKeyAndWrongKey(t *testing.T) {
	f := start(t, extractive(), withKeys)
	for _, e := range every {
		for _, key := range []string{"", "Bearer wrong-key-1", "Bearer " + aliceReads + "x", "Bearer", "Basic " + aliceReads, aliceReads} {
			resp, body := f.call(t, e.method, e.path, e.body, "Authorization", key)
			if resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s with %q: status %d: %s", e.method, e.path, key, resp.StatusCode, body)
			}
		}
	}
	for _, open := range []string{"/healthz", "/readyz", "/health", "/openapi.json"} {
		if resp, body := f.call(t, "GET", open, ""); resp.StatusCode != 200 {
			t.Errorf("%s: status %d: %s", open, resp.StatusCode, body)
		}
	}
}

func TestWrongScope(t *testing.T) {
	f := start(t, extractive(), withKeys)
	for _, e := range every {
		for key, scope := range map[string]Scope{aliceReads: Read, aliceWrites: Write, adminKey: Admin} {
			resp, body := f.call(t, e.method, e.path, e.body, "Authorization", "bearer "+key)
			if may := scope == e.scope || scope == Admin; (resp.StatusCode != 403) != may {
				t.Errorf("%s %s with the scope %s: status %d: %s", e.method, e.path, scope, resp.StatusCode, body)
			}
		}
	}
}

func TestOtherTenantsDocuments(t *testing.T) {
	f := start(t, extractive(), withKeys)
	f.library.add(t, "alice", Default, "alice.md", "Alice keeps her treasure under the oak.\n")
	f.library.add(t, "bob", Default, "bob.md", "Bob keeps his treasure under the elm.\n")
	f.library.add(t, "alice", "diary", "day.md", "Alice was happy about the treasure.\n")
	as := func(key string) []string { return []string{"Authorization", "Bearer " + key} }
	bob := as(bobDoesAll)

	f.refused(t, 404, "document_not_found", "GET", "/v1/documents/alice.md", "", bob...)
	f.refused(t, 404, "document_not_found", "DELETE", "/v1/documents/alice.md", "", bob...)
	f.refused(t, 404, "collection_not_found", "GET", "/v1/documents?collection=diary", "", bob...)
	f.refused(t, 404, "collection_not_found", "POST", "/v1/search", `{"query":"treasure","collection":"diary"}`, bob...)
	f.refused(t, 404, "collection_not_found", "POST", "/v1/chat/completions", strings.Replace(chatBody, `"waymark"`, `"waymark/diary"`, 1)+`}`, bob...)
	for _, ask := range []string{"/v1/documents", "/v1/collections", "/v1/models"} {
		if _, body := f.call(t, "GET", ask, "", bob...); strings.Contains(body, "alice") || strings.Contains(body, "diary") {
			t.Errorf("%s shows Alice's: %s", ask, body)
		}
	}
	for _, filter := range []string{`"path=alice.md"`, `"path^=a"`, `"path!=bob.md"`, `"!tenant?"`} {
		if _, body := f.call(t, "POST", "/v1/search", `{"query":"treasure oak","filter":`+filter+`}`, bob...); strings.Contains(body, "Alice") {
			t.Errorf("filter %s shows Alice's: %s", filter, body)
		}
	}
	if _, body := f.call(t, "POST", "/v1/ask", `{"question":"Where is the treasure?"}`, bob...); !strings.Contains(body, "elm") || strings.Contains(body, "oak") {
		t.Errorf("the answer is not from Bob's documents alone: %s", body)
	}

	session := connectMCP(t, f, bobDoesAll)
	for tool, args := range map[string]map[string]any{
		"search": {"query": "treasure oak"}, "fetch": {"id": "waymark://default/alice.md#0-10"},
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		if data, _ := json.Marshal(res); strings.Contains(string(data), "Alice") || tool == "fetch" && !res.IsError {
			t.Errorf("%s shows Alice's: %s", tool, data)
		}
	}
	job := get[map[string]string](t, f, 202, "POST", "/v1/documents", `{"documents":[{"text":"x y z"}]}`, as(aliceWrites)...)["job"]
	f.refused(t, 404, "job_not_found", "GET", "/v1/jobs/"+job, "", bob...)
	get[jobStatus](t, f, 200, "GET", "/v1/jobs/"+job, "", as(aliceWrites)...)
}

func TestKeysAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "there is none",
		"a read - ":                "line 1 of the keys: want NAME SCOPES TENANT SECRET",
		"a read - hunter2 hunter2": "line 1",
		"\na fly - hunter2hunter2": `line 2 of the keys: scope "fly"`,
		"a read, - hunter2hunter2": `scope ""`,
		"a read - hunter2":         "shorter than 8",
		"a read - sha256:hunter2":  "want 64 hex digits",
		"a read - hunter2hunter2\nb read x hunter2hunter2": "another key's too",
	} {
		_, err := ParseKeys(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v, want %q and no secret", text, err, want)
		}
	}
}

// Without keys the server goes by the loopback's names alone, so that no web site can
// have a browser talk to it under a name of its own.
func TestWithoutKeysHostsAreChecked(t *testing.T) {
	f := start(t, extractive(), nil)
	get := func(host string) int {
		req, err := http.NewRequestWithContext(t.Context(), "GET", f.url+"/v1/documents", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for host, want := range map[string]int{"localhost": 200, "127.0.0.1:99": 200, "[::1]:1": 200, "evil.example": 403, "evil.example:8080": 403, "127.0.0.1.evil.example": 403} {
		if got := get(host); got != want {
			t.Errorf("host %s: status %d, want %d", host, got, want)
		}
	}
}

func TestCrossOriginIsClosed(t *testing.T) {
	f := start(t, extractive(), func(o *Options) { withKeys(o); o.Origins = []string{"https://app.example"} })
	key := []string{"Authorization", "Bearer " + aliceReads}
	with := func(origin string) []string {
		return append([]string{"Origin", origin, "Sec-Fetch-Site", "cross-site"}, key...)
	}
	f.refused(t, 403, "cross_origin", "POST", "/v1/search", `{"query":"x"}`, with("https://evil.example")...)
	resp, _ := f.call(t, "GET", "/v1/documents", "", with("https://evil.example")...)
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a page of another site may read: %q", got)
	}
	resp, _ = f.call(t, "POST", "/v1/search", `{"query":"x"}`, with("https://app.example")...)
	if resp.StatusCode != 200 || resp.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("status %d, headers %v", resp.StatusCode, resp.Header)
	}
	resp, _ = f.call(t, "OPTIONS", "/v1/search", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	if resp.StatusCode != 204 || !strings.Contains(resp.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("preflight: status %d, headers %v", resp.StatusCode, resp.Header)
	}
	resp, _ = f.call(t, "OPTIONS", "/v1/search", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST")
	if resp.StatusCode < 400 || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight of another site: status %d, headers %v", resp.StatusCode, resp.Header)
	}
}

// token signs claims as LibreChat does.
func token(header, claims, secret string) string {
	signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestTokens(t *testing.T) {
	soon := time.Now().Add(time.Minute).Unix()
	hs, claims := `{"alg":"HS256","typ":"JWT"}`, fmt.Sprintf(`{"id":"u1","exp":%d}`, soon)
	good := token(hs, claims, "secret")
	if user, err := verifyToken(good, "secret"); err != nil || user != "u1" {
		t.Errorf("user %q, error %v", user, err)
	}
	for name, bad := range map[string]string{
		"other secret": token(hs, claims, "other"), "no algorithm": token(`{"alg":"none"}`, claims, "secret"), "other algorithm": token(`{"alg":"HS512"}`, claims, "secret"),
		"unsigned": good[:strings.LastIndex(good, ".")+1], "expired": token(hs, `{"id":"u1","exp":1}`, "secret"), "for ever": token(hs, `{"id":"u1"}`, "secret"),
		"no user": token(hs, fmt.Sprintf(`{"exp":%d}`, soon), "secret"), "changed": strings.Replace(good, ".", ".e30", 1), "a key": aliceReads, "empty": "", "dots": "..", "four parts": good + ".x",
	} {
		if user, err := verifyToken(bad, "secret"); err == nil {
			t.Errorf("%s: it was taken, for %q", name, user)
		}
	}
	if _, err := verifyToken(aliceReads, "secret"); !errors.Is(err, errNoToken) {
		t.Errorf("a key is not told from a token: %v", err)
	}
}
