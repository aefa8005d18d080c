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

// ErrExpired marks the error of a static access token whose exp has passed; see [Static].
var ErrExpired = errors.New("the access token has expired")

// Static returns a source of one access token. If the token is a JWT, the source returns an error
// that Is [ErrExpired] from its exp on. The source is safe for concurrent use.
func Static(accessToken string) oauth2.TokenSource {
	token := &oauth2.Token{AccessToken: accessToken, Expiry: jwtExpiry(accessToken)}
	return &staticSource{hide(token)}
}

// staticSource is the source of [Static].
type staticSource struct{ token hidden[oauth2.Token] }

// hidden is a value that fmt cannot print. fmt prints a function as its address. It would follow a
// pointer, and it cannot call a Format method in an unexported field of a struct.
type hidden[T any] func() *T

func hide[T any](value *T) hidden[T] { return func() *T { return value } }

// Token implements [oauth2.TokenSource].
func (s *staticSource) Token() (*oauth2.Token, error) {
	token := s.token()
	if reached(token.Expiry) {
		return nil, fmt.Errorf("%w at %s: get a new one, or use a source that renews it",
			ErrExpired, token.Expiry.UTC().Format(time.RFC3339))
	}
	return token, nil
}

// TokenContext is Token, which does not wait.
func (s *staticSource) TokenContext(context.Context) (*oauth2.Token, error) { return s.Token() }

// Format implements [fmt.Formatter], so that no verb prints the token.
func (*staticSource) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "token.Static") }

// reached reports whether t has been reached. The zero time is never reached.
func reached(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// jwtExpiry returns the exp of a JWT, zero if there is none. It does not verify the JWT, which is
// up to the service: the exp only saves a request.
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

// wholeSeconds returns a JSON number, or a number in a JSON string, without its fraction; zero if
// raw is neither.
func wholeSeconds(raw json.RawMessage) int64 {
	whole, fraction, _ := strings.Cut(strings.Trim(string(raw), `"`), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return 0
	}
	return min(n, 253402300799) // the end of the year 9999
}
