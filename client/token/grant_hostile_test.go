package token_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// The secrets of a grant; each is written so that it could pass for a code of an error.
const (
	secretRefresh = "the_refresh_token"
	secretClient  = "the_client_secret"
	secretAccess  = "the_access_token"
)

func withSecrets(c *token.RefreshConfig) {
	c.RefreshToken, c.ClientSecret = secretRefresh, secretClient
}

// TestATokenEndpointIsNeverQuoted has an endpoint that repeats the secrets wherever it can.
func TestATokenEndpointIsNeverQuoted(t *testing.T) {
	const noAnswer = "the token endpoint's answer broke off, is too large or is not HTTP"
	all := secretRefresh + " " + secretClient + " " + secretAccess
	for what, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a code and a description": {says(401, `{"error":"invalid_client","error_description":"`+all+`","error_uri":"`+all+`"}`), "answered 401 invalid_client: " + token.ErrRefused.Error()},
		"a code of its own":        {says(403, `{"error":"mfa_required"}`), "answered 403 mfa_required"},
		"prose for a code":         {says(400, `{"error":"`+all+`"}`), "answered 400"},
		"a secret for a code":      {says(400, `{"error":"`+secretRefresh+`"}`), "answered 400"},
		"a word for a code":        {says(400, `{"error":"`+secretAccess+`"}`), "answered 400"},
		"the other for a code":     {says(400, `{"error":"no_`+secretClient+`"}`), "answered 400"},
		"an access token for one":  {says(400, `{"error":"`+secretAccess+`","access_token":"`+secretAccess+`"}`), "answered 400"},
		"a new one for a code":     {says(200, `{"error":"rotated_to_me","refresh_token":"rotated_to_me"}`), "answered 200"},
		"a code without end":       {says(400, `{"error":"`+strings.Repeat("a", 65)+`"}`), "answered 400"},
		"an object for a code":     {says(400, `{"error":{"code":"`+all+`"}}`), "answered 400"},
		"a page":                   {says(502, `<html>`+all+`</html>`), "answered 502"},
		"an error without a body":  {says(503, ""), "answered 503"},
		"a success with an error":  {says(200, `{"error":"temporarily_unavailable"}`), "answered 200 temporarily_unavailable"},
		"a success that is a page": {says(200, `<html>`+all+`</html>`), "answered 200, but not in JSON"},
		"a success that is empty":  {says(200, ""), "answered 200, but not in JSON"},
		"a success that ends":      {says(200, `{"access_token":"`+secretAccess), "answered 200, but not in JSON"},
		"an array":                 {says(200, `["`+secretAccess+`"]`), "no token that a header can carry"},
		"no token":                 {says(200, `{"token":"`+secretAccess+`"}`), "no token that a header can carry"},
		"a token of two lines":     {says(200, `{"access_token":"`+secretAccess+`\r\nX: y"}`), "no token that a header can carry"},
		"a body that breaks off": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "4096")
			says(200, `{"access_token":"`+secretAccess+`"}`)(w, r)
		}, noAnswer},
		"a redirect to nowhere":    {redirects(302, "http://["+secretRefresh), noAnswer},
		"a status line":            {raw("HTTP/1.1 " + all + "\r\n\r\n"), noAnswer},
		"a protocol":               {raw(all + "\r\n\r\n"), noAnswer},
		"a header that is none":    {raw("HTTP/1.1 200 OK\r\n" + all + "\r\n\r\n"), noAnswer},
		"a length that is none":    {raw("HTTP/1.1 200 OK\r\nContent-Length: " + all + "\r\n\r\n"), noAnswer},
		"a chunk that is none":     {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + all + "\r\n"), noAnswer},
		"a connection that closes": {raw(""), noAnswer},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := overHTTP(t, tc.answer, withSecrets).Token()

			requireTokenError(t, err)
			text, _, paused := strings.Cut(err.Error(), " (next try at ")
			require.True(t, strings.HasSuffix(text, tc.want), "%v", err)
			assert.Equal(t, !errors.Is(err, token.ErrRefused), paused, "every other failure is followed by a pause")
			assert.NotErrorIs(t, err, token.ErrReauthRequired, "signing in would not help")
			for cause := err; cause != nil; cause = errors.Unwrap(cause) {
				assertSecretFree(t, cause, secretRefresh, secretClient, secretAccess, "rotated_to_me")
			}
		})
	}
}

func TestARefreshEndsWithTheErrorOfTheNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := inBubble(t, transportFunc(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("a transport of one's own says " + secretRefresh)
		}), withSecrets)
		_, err := source.Token()
		requireTokenError(t, err)
		assertSecretFree(t, err, secretRefresh)
	})
}
