package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// errNotSigned says that a token is none that this sandbox has signed.
var errNotSigned = errors.New("it is not a token of this sandbox")

// expiredError says that a token was valid once.
type expiredError struct{ at time.Time }

func (e *expiredError) Error() string {
	return "it expired at " + e.at.UTC().Format(time.RFC3339)
}

// claims are what an access token says. It says all there is to know, so that a
// restart forgets none.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"` // name of the account
	Audience string `json:"aud,omitempty"`
	IssuedAt int64  `json:"iat"` // seconds since 1970
	Expires  int64  `json:"exp"` // seconds since 1970
	ID       string `json:"jti"` // tells it from others of the same second
}

// jwtHeader is the header of every token that is signed here. Another one is
// not even read: a token does not get to choose how it is verified.
var jwtHeader = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))

// signer signs and verifies access tokens with HMAC-SHA-256.
type signer struct{ key []byte }

func (s signer) sign(c claims) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("sign access token: %w", err)
	}
	text := jwtHeader + "." + base64.RawURLEncoding.EncodeToString(payload)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.mac(text)), nil
}

// verify returns what a token says, errNotSigned or an *expiredError.
func (s signer) verify(token string, now time.Time) (c claims, err error) {
	end := strings.LastIndexByte(token, '.')
	payload, ours := strings.CutPrefix(token[:max(end, 0)], jwtHeader+".")
	if !ours {
		return c, errNotSigned
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(token[end+1:])
	if err != nil || !hmac.Equal(mac, s.mac(token[:end])) {
		return c, errNotSigned
	}
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(text, &c) != nil {
		return c, errNotSigned
	}
	if expires := time.Unix(c.Expires, 0); !now.Before(expires) {
		return c, &expiredError{expires}
	}
	return c, nil
}

func (s signer) mac(text string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
