package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// errNoToken says that something is no JSON Web Token at all, so perhaps an API key.
var errNoToken = errors.New("not a JSON Web Token")

// verifyToken checks a JSON Web Token as LibreChat signs it for each call of its RAG
// API, by HS256 and good for minutes, and returns the user it names. No other way to
// sign is accepted, whatever the token says.
func verifyToken(token, secret string) (user string, err error) {
	signed, signature, _ := cutLast(token, ".")
	head, body, ok := strings.Cut(signed, ".")
	if !ok || strings.Contains(body, ".") {
		return "", errNoToken
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	if err := decodePart(head, &header); err != nil {
		return "", errNoToken
	}
	if header.Algorithm != "HS256" {
		return "", errors.New("the token is not signed by HS256")
	}
	have, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		return "", errors.New("the token's signature is not base64")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	if !hmac.Equal(have, mac.Sum(nil)) {
		return "", errors.New("the token is signed by someone else")
	}
	var claims struct {
		ID      string `json:"id"`
		Expires *int64 `json:"exp"`
	}
	if err := decodePart(body, &claims); err != nil {
		return "", errors.New("the token's claims cannot be read")
	}
	if claims.Expires == nil || time.Now().Unix() >= *claims.Expires {
		return "", errors.New("the token has expired, or never does")
	}
	if claims.ID == "" {
		return "", errors.New("the token names no user")
	}
	return claims.ID, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func decodePart(part string, v any) error {
	data, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
