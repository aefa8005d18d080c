package client_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
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

// TestACallNeverTellsWhatATokenEndpointSaid has an endpoint that repeats the secrets wherever it can. Package
// token has all the ways; here it is what the client makes of them in errors, events and log lines.
func TestACallNeverTellsWhatATokenEndpointSaid(t *testing.T) {
	all := secretRefresh + " " + secretClient + " " + secretAccess
	for what, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a code and a description": {tokenAnswer(401, `{"error":"invalid_client","error_description":"`+all+`","error_uri":"`+all+`"}`), "responded 401 invalid_client"},
		"a secret for a code":      {tokenAnswer(400, `{"error":"`+secretRefresh+`"}`), "responded 400"},
		"a page":                   {tokenAnswer(502, `<html>`+all+`</html>`), "responded 502"},
		"a success that ends":      {tokenAnswer(200, `{"access_token":"`+secretAccess), "responded 200, but not in JSON"},
		"a token of two lines":     {tokenAnswer(200, `{"access_token":"`+secretAccess+`\r\nX: y"}`), "no token that a header can carry"},
		"a status line":            {raw("HTTP/1.1 " + all + "\r\n\r\n"), "is not HTTP"},
	} {
		t.Run(what, func(t *testing.T) {
			var lines bytes.Buffer
			var events []client.Event
			c := clienttest.New(t).Client(client.WithTokenSource(overHTTP(t, tc.answer, withSecrets)),
				client.WithLogger(slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))),
				client.WithObserver(func(e client.Event) { events = append(events, e) }))

			err := aWrite.do(t.Context(), c)

			require.True(t, isA[*token.Error](err), "%v", err)
			require.ErrorContains(t, err, tc.want)
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
			assert.NotErrorIs(t, err, token.ErrReauthRequired, "signing in would not help")
			for cause := err; cause != nil; cause = errors.Unwrap(cause) {
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

func TestNoVerbPrintsTheSecretsOfASource(t *testing.T) {
	source := overHTTP(t, grants(secretAccess, `"expires_in":43200`), withSecrets)
	srv := clienttest.New(t)
	srv.Expect(aRead.op).RespondExample()
	c := srv.Client(client.WithTokenSource(source))
	require.NoError(t, aRead.do(t.Context(), c), "so that there is a token")

	var lines bytes.Buffer
	for _, value := range []any{c, struct{ Client any }{c}, source} {
		assertSecretFree(t, value, secretRefresh, secretClient, secretAccess)
		slog.New(slog.NewTextHandler(&lines, nil)).Info("made", "value", value)
		slog.New(slog.NewJSONHandler(&lines, nil)).Info("made", "value", value)
	}
	for _, secret := range []string{secretRefresh, secretClient, secretAccess} {
		assert.NotContains(t, lines.String(), secret)
	}
}
