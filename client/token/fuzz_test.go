package token_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// FuzzGrant responds to a refresh with any bytes. The refresh ends. An error is a [token.Error]
// without secrets. A token fits into a header, and has a valid expiry. The next refresh sends the
// refresh token that was saved last, whether or not the response was valid.
func FuzzGrant(f *testing.F) {
	const ok = "200 OK\r\nContent-Type: application/json"
	all := secretRefresh + " " + secretClient + " " + secretAccess + " " + secretNext
	for _, seed := range [][2]string{
		{ok, `{"access_token":"the_access_token","expires_in":43200}`},
		{ok, `{"access_token":"the_access_token","expires_in":"43200","refresh_token":"the_next_refresh_token"}`},
		{ok, `{"access_token":"` + jwt(`{"exp":4102444800}`) + `","expires_in":null}`},
		{ok, `{"access_token":"` + expiredJWT + `","expires_in":-9223372036854775808}`},
		{ok, `{"access_token":7,"expires_in":1e400,"refresh_token":"the_next_refresh_token"}`},
		{ok, `{"access_token":"two\r\nlines","refresh_token":{"unexpected":[]}}`},
		{ok, `{"ACCESS_TOKEN":"the_access_token","access_token":"` + strings.Repeat("a", 100) + `"}`},
		{ok, `{"error":"the_access_token","access_token":"the_access_token","refresh_token":"the_next_refresh_token"}`},
		{ok + "\r\nContent-Length: 9999", `{"access_token":"the_access_token"}`},
		{ok + "\r\nTransfer-Encoding: chunked", "7\r\n{\"acces\r\n" + all + "\r\n"},
		{ok + "\r\nContent-Encoding: gzip", "\x1f\x8b\b\x00\x00\x00\x00\x00\x00\xff" + all},
		{"400 Bad Request", `{"error":"invalid_grant","error_description":"` + all + `"}`},
		{"401 Unauthorized", `{"error":"no_the_client_secret"}`},
		{"302 Found\r\nLocation: http://[" + all, ""},
		{"502 " + all, "<html>" + all},
		{"429 Too Many Requests\r\nRetry-After: 99999999999999999999", ""},
		{"503 Busy\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT", ""},
		{"503 Busy\r\nDate: Sat, 01 Jan 0001 00:00:00 GMT\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT", all},
		{"101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + all, all},
		{"103 Early Hints\r\n\r\nHTTP/1.1 " + ok, `{"access_token":"the_access_token"}`},
		{"999 \x00", all},
		{all, all},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, head string, body []byte) {
		synctest.Test(t, func(t *testing.T) { // in which pauses take no time
			var sent []string
			var valid atomic.Bool // from now on responses are valid
			transport := pipe(t, func(conn net.Conn) {
				response := "HTTP/1.1 " + head + "\r\n\r\n" + string(body)
				if valid.Load() {
					response = "HTTP/1.1 200 OK\r\n\r\n" + `{"access_token":"the_second"}`
				}
				_, _ = io.WriteString(conn, response)
			})
			recording := transportFunc(func(r *http.Request) (*http.Response, error) {
				text, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				form, err := url.ParseQuery(string(text))
				assert.NoError(t, err)
				sent = append(sent, form.Get("refresh_token"))
				r.Body = io.NopCloser(bytes.NewReader(text))
				return transport.RoundTrip(r)
			})
			latest := secretRefresh
			source := inBubble(t, recording, withSecrets, func(c *token.RefreshConfig) {
				c.TokenURL = "http://127.0.0.1/oauth/token"
				c.OnRotate = func(_ context.Context, refreshToken string) error {
					latest = refreshToken
					return nil
				}
			})
			start := time.Now()

			got, err := source.Token()

			if err == nil {
				requireUsable(t, got, start)
				source.Invalidate(got.AccessToken)
			} else {
				requireTokenError(t, err)
				require.Less(t, len(err.Error()), 300)
				for cause := err; cause != nil; cause = errors.Unwrap(cause) {
					assertSecretFree(t, cause, secretRefresh, secretClient, secretAccess, secretNext)
				}
			}
			require.Len(t, sent, 1)
			valid.Store(true)
			if err != nil && !errors.Is(err, token.ErrRefused) {
				retryAt := asTokenError(t, err).RetryAt
				require.WithinRange(t, retryAt, start.Add(time.Second), time.Now().Add(24*time.Hour))
				advance(time.Until(retryAt))
			}
			second, again := source.Token()
			if errors.Is(err, token.ErrRefused) {
				require.ErrorIs(t, again, token.ErrRefused)
				require.Len(t, sent, 1, "a refused token is not sent again")
				return
			}
			require.NoError(t, again, "the next refresh is not affected")
			require.Equal(t, "the_second", second.AccessToken)
			require.Equal(t, []string{secretRefresh, latest}, sent)
		})
	})
}

// requireUsable requires a token that fits into a header, and a valid expiry.
func requireUsable(t *testing.T, got *oauth2.Token, start time.Time) {
	t.Helper()
	require.NotEmpty(t, got.AccessToken)
	require.Empty(t, strings.Trim(got.AccessToken, printable), "%q", got.AccessToken)
	require.Empty(t, got.RefreshToken, "only the source has the refresh token")
	if got.Expiry.IsZero() {
		return
	}
	require.True(t, got.Expiry.After(time.Unix(0, 0)), got.Expiry)
	require.LessOrEqual(t, got.Expiry.UTC().Year(), 9999)
	if !strings.Contains(got.AccessToken, ".") {
		require.WithinRange(t, got.Expiry, start, time.Now().AddDate(0, 0, 366), "of expires_in")
	}
}

// printable is the characters that fit into a header.
var printable = func() string {
	var all strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		all.WriteByte(c)
	}
	return all.String()
}()

// hasExpired matches the whole error of an expired token.
var hasExpired = regexp.MustCompile(`^the access token has expired at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ): get a new one, or use a source that renews it$`)

// FuzzStatic has any text as token, and as claims of a JWT. The token is returned unchanged, or an
// error has only the time of the expiry. A token that is not a JWT does not expire.
func FuzzStatic(f *testing.F) {
	for _, claims := range []string{
		`{"exp":4102444800}`, `{"exp":"1700000000"}`, `{"exp":1.7e9}`, `{"exp":-9223372036854775808}`,
		`{"Exp":1,"exp":null}`,
		`{"exp":1,"exp":99999999999999999999}`, `{"\u0065xp":1}`, `null`, `[[[[`, `{"exp":1`, "",
	} {
		f.Add(jwt(claims), claims)
	}
	for _, text := range []string{
		"opaque", "", "..", "a.b.c", "a.e30.c", "a.e30=.c", "a.=e30.c", "a.b.c.d.e", "\xff.e30.\x00",
	} {
		f.Add(text, "{}")
	}
	f.Fuzz(func(t *testing.T, text, claims string) {
		for _, accessToken := range []string{text, jwt(claims)} {
			got, err := token.Static(accessToken).Token()
			if err != nil {
				require.ErrorIs(t, err, token.ErrExpired)
				require.Regexp(t, hasExpired, err.Error())
				require.Equal(t, 2, strings.Count(accessToken, "."))
				continue
			}
			require.Equal(t, accessToken, got.AccessToken)
			require.True(t, got.Expiry.IsZero() || got.Expiry.After(time.Now().Add(-time.Minute)))
			require.LessOrEqual(t, got.Expiry.UTC().Year(), 9999)
			require.True(t, got.Expiry.IsZero() || strings.Count(accessToken, ".") == 2)
		}
	})
}

// plainNumber is what is read of an exp and an expires_in: digits, or text of digits, and a
// fraction.
var plainNumber = regexp.MustCompile(`^("[+-]?\d+(\.\d*)?"|-?\d+(\.\d+)?)$`)

// FuzzExpiry has any JSON as exp of a JWT and as expires_in of a response. Both are read like exact
// arithmetic reads them.
func FuzzExpiry(f *testing.F) {
	for _, seed := range []string{
		"0", "-1", "-0.5", "43200", `"43200"`, "3600.75", `"3600."`, "4102444800", "253402300799",
		"253402300800", "9223372036854775807", "9223372036854775808", "1e9", "1.5e9", `"0x10"`,
		`"1_000"`, `"+60"`, `"1.2.3"`, `"7.soon"`, `" 7"`, `"\u0037"`, `""`, "null", "true", "{}", "[1]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, exp string) {
		exp = strings.Trim(exp, " \t\r\n")
		if !json.Valid([]byte(exp)) {
			return
		}
		want := int64(0)
		if plainNumber.MatchString(exp) {
			exact, ok := new(big.Rat).SetString(strings.Trim(exp, `"`))
			require.True(t, ok, exp)
			whole := new(big.Int).Quo(exact.Num(), exact.Denom())
			if whole.IsInt64() && whole.Sign() > 0 {
				want = min(whole.Int64(), 253402300799)
			}
		}

		require.Equal(t, want, expiryOf(t, jwt(`{"exp":`+exp+`}`)), "as exp")

		source := inBubble(t, newEndpoint(respondGrant("opaque", `"expires_in":`+exp)))
		start := time.Now()
		got, err := source.Token()
		require.NoError(t, err)
		if want == 0 {
			require.True(t, got.Expiry.IsZero(), got.Expiry)
			return
		}
		life := time.Duration(min(want, 366*24*3600)) * time.Second
		require.WithinDuration(t, start.Add(life), got.Expiry, time.Minute, "as expires_in")
	})
}

// expiryOf returns the exp that [token.Static] reads; zero if there is none.
func expiryOf(t *testing.T, accessToken string) int64 {
	t.Helper()
	got, err := token.Static(accessToken).Token()
	switch {
	case err != nil:
		at, err := time.Parse(time.RFC3339, hasExpired.FindStringSubmatch(err.Error())[1])
		require.NoError(t, err)
		return at.Unix()
	case got.Expiry.IsZero():
		return 0
	default:
		return got.Expiry.Unix()
	}
}
