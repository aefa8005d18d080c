package token_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
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

func TestGrant_SendsFormOfSetFields(t *testing.T) {
	for why, tc := range map[string]struct {
		change func(*token.RefreshConfig)
		want   url.Values
	}{
		"a confidential client": {
			func(*token.RefreshConfig) {},
			url.Values{
				"grant_type":    {"refresh_token"},
				"refresh_token": {"refresh-1"},
				"client_id":     {"seller-app"},
				"client_secret": {"s3cret/+&="},
			},
		},
		"a public client with an audience": {
			func(c *token.RefreshConfig) { c.ClientSecret, c.Audience = "", "https://gateway.example.com/" },
			url.Values{
				"grant_type":    {"refresh_token"},
				"refresh_token": {"refresh-1"},
				"client_id":     {"seller-app"},
				"audience":      {"https://gateway.example.com/"},
			},
		},
	} {
		var request *http.Request
		endpoint := newEndpoint(func(w http.ResponseWriter, r *http.Request) {
			request = r
			respondGrant("access-1", `"expires_in":43200`, `"token_type":"Bearer"`)(w, r)
		})
		got, err := overHTTP(t, endpoint, tc.change).Token()
		require.NoError(t, err, why)

		assert.Equal(t, []url.Values{tc.want}, endpoint.sent(), why)
		assert.Equal(t, "POST /oauth/token", request.Method+" "+request.RequestURI, why)
		assert.Equal(t, "application/x-www-form-urlencoded", request.Header.Get("Content-Type"))
		assert.Empty(t, request.Header.Get("Authorization"))
		assert.Equal(t, "access-1", got.AccessToken)
		assert.Empty(t, got.RefreshToken, "only the source has the refresh token")
		assert.WithinDuration(t, time.Now().Add(12*time.Hour), got.Expiry, time.Minute)
	}
}

// TestGrant_ReadsExpiry is about the source of the expiry. FuzzExpiry has all values.
func TestGrant_ReadsExpiry(t *testing.T) {
	inAnHour := time.Now().Add(time.Hour).Truncate(time.Second)
	withExp := jwt(fmt.Sprintf(`{"exp":%d}`, inAnHour.Unix()))
	for why, tc := range map[string]struct {
		response http.HandlerFunc
		want     time.Time
	}{
		"expires_in before exp":  {respondGrant(withExp, `"expires_in":7200`), inAnHour.Add(time.Hour)},
		"exp without expires_in": {respondGrant(withExp), inAnHour},
		"null is no expires_in":  {respondGrant(withExp, `"expires_in":null`), inAnHour},
		"neither":                {respondGrant("opaque"), time.Time{}},
	} {
		got, err := overHTTP(t, newEndpoint(tc.response)).Token()
		require.NoError(t, err, why)
		assert.WithinDuration(t, tc.want, got.Expiry, time.Minute, why)
	}
}

func TestGrant_UsesLatestRefreshToken(t *testing.T) {
	endpoint := newEndpoint(
		respondGrant(expiredJWT),
		respondGrant(expiredJWT, `"refresh_token":null`),
		respondGrant(expiredJWT, `"refresh_token":""`),
		respondGrant(expiredJWT, `"refresh_token":{"unexpected":true}`),
		respondGrant(expiredJWT, `"refresh_token":"refresh-1"`),
		respondGrant(expiredJWT, `"refresh_token":"refresh-2"`),
		respondGrant(expiredJWT),
		respondGrant(expiredJWT, `"expires_in":"soon"`, `"refresh_token":"refresh-3"`),
		respond(200, `{"access_token":7,"refresh_token":"refresh-4"}`),
		respondGrant(expiredJWT),
	)
	synctest.Test(t, func(t *testing.T) {
		var saved []string
		source := inBubble(t, endpoint, func(c *token.RefreshConfig) {
			c.OnRotate = func(_ context.Context, refreshToken string) error {
				saved = append(saved, refreshToken)
				return nil
			}
		})
		for i := range endpoint.responses {
			_, err := source.Token()
			if i == 8 {
				requireTokenError(t, err)
			} else {
				require.NoError(t, err)
			}
			advance(time.Minute) // until the next refresh
		}
		assert.Equal(t, []string{
			"refresh-1", "refresh-1", "refresh-1", "refresh-1", "refresh-1", "refresh-1",
			"refresh-2", "refresh-2", "refresh-3", "refresh-4",
		}, endpoint.refreshTokens(), "also one in a response that is otherwise invalid")
		assert.Equal(t, []string{"refresh-2", "refresh-3", "refresh-4"}, saved, "each is saved once")
	})
}

func TestGrant_SavesRotatedTokenBeforeUse(t *testing.T) {
	endpoint := newEndpoint(respondGrant("access-1", `"refresh_token":"refresh-2"`), respondGrant("access-2"))
	synctest.Test(t, func(t *testing.T) {
		var offered []string
		source := inBubble(t, endpoint, func(c *token.RefreshConfig) {
			c.OnRotate = func(_ context.Context, refreshToken string) error {
				offered = append(offered, refreshToken)
				assert.NotContains(t, endpoint.refreshTokens(), refreshToken, "saved first")
				if len(offered) < 3 {
					return errFullDisk
				}
				return nil
			}
		})
		for range 2 {
			_, err := source.Token()
			require.ErrorIs(t, err, errFullDisk)
			assert.False(t, asTokenError(t, err).RetryAt.IsZero())
			require.Equal(t, []string{"refresh-1"}, endpoint.refreshTokens(), "not sent until it is saved")
		}
		assert.Equal(t, "access-2", accessToken(t, source), "access-1 came before the save")
		assert.Equal(t, []string{"refresh-2", "refresh-2", "refresh-2"}, offered)
		assert.Equal(t, []string{"refresh-1", "refresh-2"}, endpoint.refreshTokens())
	})
}

func TestGrant_FollowsNoRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var elsewhere atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			elsewhere.Add(1)
		}))
		defer other.Close()
		follow := func(*http.Request, []*http.Request) error { return nil }
		given := &http.Client{CheckRedirect: follow}
		for _, to := range []string{other.URL + "/token", "/oauth/token/v2"} {
			endpoint := newEndpoint(respondRedirect(status, to))
			source := overHTTP(t, endpoint, withSecrets, func(c *token.RefreshConfig) {
				c.HTTPClient = given
			})
			_, err := source.Token()
			requireStatus(t, err, status, "")
			assert.Len(t, endpoint.sent(), 1)
			assert.NoError(t, given.CheckRedirect(nil, nil), "the given client is not changed")
		}
		assert.Zero(t, elsewhere.Load(), "%d: 307 and 308 would repeat the form", status)
	}
}

func TestGrant_ReadsBoundedResponse(t *testing.T) {
	var written atomic.Int64
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(`{"access_token":"` + strings.Repeat("a", 32<<10))
		for written.Load() < 1<<30 {
			n, err := w.Write(chunk)
			if written.Add(int64(n)); err != nil {
				return
			}
		}
	})
	_, err := overHTTP(t, endless).Token()
	requireTokenError(t, err)
	assert.Less(t, written.Load(), int64(64<<20), "the rest is in the buffers of the sockets")
}

// The secrets of a grant. Each has the form of an error code.
const (
	secretRefresh = "the_refresh_token"
	secretClient  = "the_client_secret"
	secretAccess  = "the_access_token"
	secretNext    = "the_next_refresh_token" // replaces secretRefresh
)

func withSecrets(c *token.RefreshConfig) {
	c.RefreshToken, c.ClientSecret = secretRefresh, secretClient
}

// TestGrant_ErrorsQuoteNoResponse has an endpoint that repeats the secrets in every part of a
// response.
func TestGrant_ErrorsQuoteNoResponse(t *testing.T) {
	const invalid = -1 // an error without a status
	all := secretRefresh + " " + secretClient + " " + secretAccess + " " + secretNext
	for what, tc := range map[string]struct {
		response http.HandlerFunc
		status   int
		code     string
	}{
		"a code and a description": {
			respond(401, `{"error":"invalid_client","error_description":"`+all+`","error_uri":"`+all+`"}`),
			401, "invalid_client",
		},
		"a common code":           {respond(403, `{"error":"mfa_required"}`), 403, "mfa_required"},
		"prose as code":           {respond(400, `{"error":"`+all+`"}`), 400, ""},
		"refresh token as code":   {respond(400, `{"error":"`+secretRefresh+`"}`), 400, ""},
		"client secret in a code": {respond(400, `{"error":"no_`+secretClient+`"}`), 400, ""},
		"next token as code": {
			respond(200, `{"error":"`+secretNext+`","refresh_token":"`+secretNext+`"}`), 200, "",
		},
		"an object as code":     {respond(400, `{"error":{"code":"`+all+`"}}`), 400, ""},
		"HTML":                  {respond(502, `<html>`+all+`</html>`), 502, ""},
		"no body":               {respond(503, ""), 503, ""},
		"200 with an error":     {respond(200, `{"error":"temporarily_unavailable"}`), 200, "temporarily_unavailable"},
		"200 with HTML":         {respond(200, `<html>`+all+`</html>`), invalid, ""},
		"200 without a body":    {respond(200, ""), invalid, ""},
		"200 with partial JSON": {respond(200, `{"access_token":"`+secretAccess), invalid, ""},
		"200 with an array":     {respond(200, `["`+secretAccess+`"]`), invalid, ""},
		"200 without a token":   {respond(200, `{"token":"`+secretAccess+`"}`), invalid, ""},
		"a token of two lines":  {respond(200, `{"access_token":"`+secretAccess+`\r\nX: y"}`), invalid, ""},
		"a truncated body": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4096")
			respond(200, `{"access_token":"`+secretAccess+`"}`)(w, r)
		}, invalid, ""},
		"a redirect to an invalid URL": {respondRedirect(302, "http://["+secretRefresh), invalid, ""},
		"an invalid status line":       {respondRaw("HTTP/1.1 " + all + "\r\n\r\n"), invalid, ""},
		"another protocol":             {respondRaw(all + "\r\n\r\n"), invalid, ""},
		"an invalid header":            {respondRaw("HTTP/1.1 200 OK\r\n" + all + "\r\n\r\n"), invalid, ""},
		"an invalid length":            {respondRaw("HTTP/1.1 200 OK\r\nContent-Length: " + all + "\r\n\r\n"), invalid, ""},
		"an invalid chunk":             {respondRaw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + all + "\r\n"), invalid, ""},
		"a closed connection":          {respondRaw(""), invalid, ""},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := overHTTP(t, tc.response, withSecrets).Token()

			failed := asTokenError(t, err)
			if tc.status == invalid {
				_, ok := errors.AsType[*oauth2.RetrieveError](err)
				assert.False(t, ok, "%v", err)
			} else {
				requireStatus(t, err, tc.status, tc.code)
			}
			final := errors.Is(err, token.ErrRefused)
			assert.Equal(t, final, failed.RetryAt.IsZero(), "a pause follows unless it is final")
			assert.NotErrorIs(t, err, token.ErrReauthRequired)
			for cause := err; cause != nil; cause = errors.Unwrap(cause) {
				assertSecretFree(t, cause, secretRefresh, secretClient, secretAccess, secretNext)
			}
		})
	}
}

func TestGrant_ErrorsQuoteNoTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := inBubble(t, transportFunc(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("send " + secretRefresh)
		}), withSecrets)
		_, err := source.Token()
		requireTokenError(t, err)
		assertSecretFree(t, err, secretRefresh)
	})
}

// TestGrant_IsNotRepeatedByTransport checks GetBody, with which net/http repeats requests over
// HTTP/2.
func TestGrant_IsNotRepeatedByTransport(t *testing.T) {
	var request *http.Request
	endpoint := newEndpoint(respondGrant("access-1"))
	source := inBubble(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		request = r
		return endpoint.RoundTrip(r)
	}))
	accessToken(t, source)
	assert.NotNil(t, request.Body)
	assert.Nil(t, request.GetBody)
}

func TestGrant_TimesOut(t *testing.T) {
	for why, tc := range map[string]struct {
		response string
		status   int // Zero for a timeout without a status.
		took     time.Duration
	}{
		"no response":           {"", 0, 30 * time.Second},
		"endless headers":       {"HTTP/1.1 200 OK\r\n", 0, 30 * time.Second},
		"endless body":          {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", 0, 30 * time.Second},
		"endless body of a 400": {"HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\n{", 400, 30 * time.Second},
		"another protocol": {
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n", 101, 0,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			over := make(chan struct{})
			defer close(over)
			source := inBubble(t, pipe(t, func(conn net.Conn) {
				_, _ = io.WriteString(conn, tc.response)
				<-over
			}), func(c *token.RefreshConfig) { c.TokenURL = "http://127.0.0.1/oauth/token" })
			start := time.Now()
			_, err := source.Token()
			if tc.status > 0 {
				requireStatus(t, err, tc.status, "")
			} else {
				require.ErrorIs(t, err, context.DeadlineExceeded, why)
				requireTokenError(t, err)
			}
			assert.Equal(t, tc.took, time.Since(start), why)
		})
	}
}
