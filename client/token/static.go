package token

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// ErrExpired marks the use of a static access token whose own exp has passed; see [Static].
var ErrExpired = errors.New("the access token has expired")

// Static returns a source of one access token. If it is a JWT, the source fails once its exp has passed.
func Static(accessToken string) oauth2.TokenSource {
	return &staticToken{hide(&oauth2.Token{AccessToken: accessToken, Expiry: jwtExpiry(accessToken)})}
}

// staticToken is a source of one token, which lasts for ever unless it is a JWT that says otherwise.
type staticToken struct{ token hidden[oauth2.Token] }

// hidden holds what must not be printed. fmt prints a function as its address, while it may follow a pointer, and calls
// no Format method in an unexported field of another package's struct.
type hidden[T any] func() *T

func hide[T any](value *T) hidden[T] { return func() *T { return value } }

// Token implements [oauth2.TokenSource].
func (s *staticToken) Token() (*oauth2.Token, error) {
	token := s.token()
	if reached(token.Expiry) {
		return nil, fmt.Errorf("%w at %s: get a new one, or use a source that renews it", ErrExpired, token.Expiry.UTC().Format(time.RFC3339))
	}
	return token, nil
}

// TokenContext is Token, which does not wait.
func (s *staticToken) TokenContext(context.Context) (*oauth2.Token, error) { return s.Token() }

// Format implements [fmt.Formatter], so that no verb prints the token.
func (*staticToken) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "token.Static") }

// reached reports whether t has come; the zero time never does.
func reached(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// jwtExpiry reads the exp of a JWT; zero if there is none. It is not verified, which is the service's task: what
// is read here only saves a request.
func jwtExpiry(token string) time.Time {
	var claims struct {
		Exp json.RawMessage `json:"exp"`
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(payload, &claims) != nil || wholeSeconds(claims.Exp) <= 0 {
		return time.Time{}
	}
	return time.Unix(wholeSeconds(claims.Exp), 0)
}

// wholeSeconds reads a JSON number, or text that holds one, without its fraction; zero if it is neither.
func wholeSeconds(raw json.RawMessage) int64 {
	whole, fraction, _ := strings.Cut(strings.Trim(string(raw), `"`), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return 0
	}
	return min(n, 253402300799) // the end of the year 9999
}
