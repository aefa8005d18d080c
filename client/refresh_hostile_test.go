package client_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

// The secrets of a grant; each is written so that it could pass for a code of an error.
const (
	secretRefresh = "the_refresh_token"
	secretClient  = "the_client_secret"
	secretAccess  = "the_access_token"
)

func withSecrets(c *client.RefreshConfig) {
	c.RefreshToken, c.ClientSecret = secretRefresh, secretClient
}

// TestATokenEndpointIsNeverQuoted has an endpoint that repeats the secrets wherever it can.
func TestATokenEndpointIsNeverQuoted(t *testing.T) {
	all := secretRefresh + " " + secretClient + " " + secretAccess
	for what, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a code and a description": {tokenAnswer(401, `{"error":"invalid_client","error_description":"`+all+`","error_uri":"`+all+`"}`), "answered 401 invalid_client"},
		"a code of its own":        {tokenAnswer(403, `{"error":"mfa_required"}`), "answered 403 mfa_required"},
		"prose for a code":         {tokenAnswer(400, `{"error":"`+all+`"}`), "answered 400"},
		"a secret for a code":      {tokenAnswer(400, `{"error":"`+secretRefresh+`"}`), "answered 400"},
		"the other for a code":     {tokenAnswer(400, `{"error":"no_`+secretClient+`"}`), "answered 400"},
		"a code without end":       {tokenAnswer(400, `{"error":"`+strings.Repeat("a", 65)+`"}`), "answered 400"},
		"an object for a code":     {tokenAnswer(400, `{"error":{"code":"`+all+`"}}`), "answered 400"},
		"a page":                   {tokenAnswer(502, `<html>`+all+`</html>`), "answered 502"},
		"an error without a body":  {tokenAnswer(503, ""), "answered 503"},
		"a success with an error":  {tokenAnswer(200, `{"error":"temporarily_unavailable"}`), "answered 200 temporarily_unavailable"},
		"a success that is a page": {tokenAnswer(200, `<html>`+all+`</html>`), "answered 200, but not in JSON"},
		"a success that is empty":  {tokenAnswer(200, ""), "answered 200, but not in JSON"},
		"a success that ends":      {tokenAnswer(200, `{"access_token":"`+secretAccess), "answered 200, but not in JSON"},
		"an array":                 {tokenAnswer(200, `["`+secretAccess+`"]`), "no token that a header can carry"},
		"no token":                 {tokenAnswer(200, `{"token":"`+secretAccess+`"}`), "no token that a header can carry"},
		"a token of two lines":     {tokenAnswer(200, `{"access_token":"`+secretAccess+`\r\nX: y"}`), "no token that a header can carry"},
		"a body that breaks off": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4096")
			tokenAnswer(200, `{"access_token":"`+secretAccess+`"}`)(w, r)
		}, "broke off"},
		"a redirect to nowhere":    {redirects(302, "http://["+secretRefresh), "broke off"},
		"a status line":            {raw("HTTP/1.1 " + all + "\r\n\r\n"), "is not HTTP"},
		"a protocol":               {raw(all + "\r\n\r\n"), "is not HTTP"},
		"a header that is none":    {raw("HTTP/1.1 200 OK\r\n" + all + "\r\n\r\n"), "is not HTTP"},
		"a length that is none":    {raw("HTTP/1.1 200 OK\r\nContent-Length: " + all + "\r\n\r\n"), "is not HTTP"},
		"a chunk that is none":     {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + all + "\r\n"), "broke off"},
		"a connection that closes": {raw(""), "broke off"},
	} {
		t.Run(what, func(t *testing.T) {
			var lines bytes.Buffer
			var events []client.Event
			srv := clienttest.New(t)
			c := srv.Client(client.WithTokenSource(overHTTP(t, tc.answer, withSecrets)),
				client.WithLogger(slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))),
				client.WithObserver(func(e client.Event) { events = append(events, e) }))

			err := aWrite.do(t.Context(), c)

			require.True(t, isA[*client.TokenError](err), "%v", err)
			require.ErrorContains(t, err, tc.want)
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
			assert.NotErrorIs(t, err, client.ErrSignInAgain, "signing in would not help")
			for cause := err; cause != nil; cause = unwrapped(cause) {
				assertSecretFree(t, cause, secretRefresh, secretClient, secretAccess)
			}
			for _, e := range events {
				assertSecretFree(t, e, secretRefresh, secretClient, secretAccess)
			}
			for _, secret := range []string{secretRefresh, secretClient, secretAccess} {
				assert.NotContains(t, lines.String(), secret)
			}
		})
	}
}

// redirects answers with a place to go to.
func redirects(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

// unwrapped is the error below err, if there is one.
func unwrapped(err error) error {
	if wrapper, ok := err.(interface{ Unwrap() error }); ok {
		return wrapper.Unwrap()
	}
	return nil
}

func TestAGrantFollowsNoRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var elsewhere atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
		defer other.Close()
		for _, to := range []string{other.URL + "/token", "/oauth/token/v2"} {
			endpoint := &tokenEndpoint{answers: []http.HandlerFunc{redirects(status, to)}}
			source := overHTTP(t, endpoint, withSecrets, func(c *client.RefreshConfig) {
				c.HTTPClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
			})
			_, err := source.Token()
			require.EqualError(t, err, fmt.Sprintf("get an access token: the token endpoint answered %d", status))
			assert.Len(t, endpoint.sent(), 1)
		}
		assert.Zero(t, elsewhere.Load(), "%d: 307 and 308 would carry the form along", status)
	}
}

func TestAnAnswerWithoutEndIsReadInPart(t *testing.T) {
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
	require.ErrorContains(t, err, "too large")
	assert.Less(t, written.Load(), int64(64<<20), "the rest stays in the buffers of the sockets")
}

func TestNoVerbPrintsTheSecretsOfASource(t *testing.T) {
	source := overHTTP(t, grants(secretAccess, `"expires_in":43200`), withSecrets)
	token, err := source.Token()
	require.NoError(t, err)
	require.Equal(t, secretAccess, token.AccessToken)
	config := refreshConfig("https://auth.example.com/token")
	withSecrets(&config)
	c := clienttest.New(t).Client(client.WithTokenSource(source))

	var lines bytes.Buffer
	for _, value := range []any{source, config, &config, []any{config}, struct{ Source any }{source}, c} {
		assertSecretFree(t, value, secretRefresh, secretClient, secretAccess)
		slog.New(slog.NewTextHandler(&lines, nil)).Info("made", "value", value)
		slog.New(slog.NewJSONHandler(&lines, nil)).Info("made", "value", value)
	}
	for _, secret := range []string{secretRefresh, secretClient, secretAccess} {
		assert.NotContains(t, lines.String(), secret)
	}
}
