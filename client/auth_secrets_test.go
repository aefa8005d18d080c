package client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
)

// Credentials with every kind of character that an encoder may write in another way.
const (
	secretKey   = "key/9f+2c==&51d0"
	secretToken = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJzZWxsZXIifQ.c2lnbmF0dXJl/b2Y+dGhl/c2VsbGVy"
)

// assertSecretFree looks for a secret in everything that fmt prints of a value.
func assertSecretFree(t *testing.T, value any, secrets ...string) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		text := fmt.Sprintf(verb, value)
		for _, secret := range secrets {
			assert.NotContains(t, text, secret, verb)
			assert.NotContains(t, text, fmt.Sprintf("%x", secret), verb)
		}
	}
}

// TestNothingTellsTheCredentials has a service that repeats the credentials wherever it can.
func TestNothingTellsTheCredentials(t *testing.T) {
	escaped := strings.NewReplacer("/", `\/`, "+", `\u002B`, "&", `\u0026`)
	both := secretKey + " " + secretToken
	answer := func(status int, header map[string]string, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for name, value := range header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for what, handler := range map[string]http.HandlerFunc{
		"a message":               answer(401, nil, `{"message":"who is `+both+`?"}`),
		"an escaped message":      answer(403, nil, `{"message":"`+escaped.Replace(both)+`"}`),
		"an error object":         answer(400, nil, `{"error":{"message":"`+both+`"}}`),
		"a page":                  answer(502, nil, `<html>`+both+`</html>`),
		"a request id":            answer(404, map[string]string{"X-Request-Id": both}, `{}`),
		"an odd text":             answer(200, nil, `{"listingId":"98e2e748","amount":"`+secretToken+`","createdAt":"`+secretKey+`"}`),
		"an odd object":           answer(200, nil, `{"listingId":"98e2e748","payout":"`+both+`"}`),
		"no JSON":                 answer(200, nil, both),
		"a status line":           raw("HTTP/1.1 " + secretKey + " " + secretToken + "\r\n\r\n"),
		"a protocol":              raw(secretToken + "\r\n\r\n"),
		"a header that is none":   raw("HTTP/1.1 200 OK\r\n" + secretToken + "\r\n\r\n"),
		"a length that is none":   raw("HTTP/1.1 200 OK\r\nContent-Length: " + secretToken + "\r\n\r\n"),
		"a redirect to nowhere":   answer(302, map[string]string{"Location": "http://[" + secretToken}, ""),
		"a redirect to elsewhere": answer(302, map[string]string{"Location": "https://elsewhere.invalid/?" + both}, ""),
	} {
		t.Run(what, func(t *testing.T) {
			srv := httptest.NewServer(handler)
			defer srv.Close()
			var lines bytes.Buffer
			var events []client.Event
			c := clientOf(t, srv, client.WithAPIKey(secretKey), client.WithToken(secretToken),
				client.WithLogger(slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))),
				client.WithObserver(func(e client.Event) { events = append(events, e) }))
			for _, call := range []aCall{aRead, aWrite} {
				if err := call.do(t.Context(), c); err != nil {
					assertSecretFree(t, err, secretKey, secretToken)
					if answered, ok := err.(*client.APIError); ok { //nolint:errorlint // its fields are looked at
						assertSecretFree(t, *answered, secretKey, secretToken)
						assert.NotContains(t, string(answered.Body), secretKey)
						assert.NotContains(t, string(answered.Body), secretToken)
						assert.NotContains(t, string(answered.Body), strings.ReplaceAll(secretToken, "/", `\/`))
					}
				}
			}
			require.NotEmpty(t, events)
			for _, e := range events {
				assertSecretFree(t, e, secretKey, secretToken)
				assertSecretFree(t, e.Err, secretKey, secretToken, secretToken[:30])
			}
			assert.NotContains(t, lines.String(), secretKey)
			assert.NotContains(t, lines.String(), secretToken[:30], "a part of a token is too much")
		})
	}
}

// raw answers with text that need not be HTTP.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

func TestNoVerbPrintsTheCredentialsOfAClient(t *testing.T) {
	c := clientAt(t, "https://api.example.com", client.WithAPIKey(secretKey), client.WithToken(secretToken))
	for _, value := range []any{c, *c, c.Raw(), *c.Raw(), c.Listings, *c.Listings, c.Batches.ResumeCreate("1"), c.Listings.Operation("1", "2"), struct{ c *client.Client }{c}, struct{ c client.Client }{*c}} {
		assertSecretFree(t, value, secretKey, secretToken)
	}
	assert.Equal(t, "client.Client(https://api.example.com/v2/)", fmt.Sprintf("%+v", c))

	var lines bytes.Buffer
	slog.New(slog.NewJSONHandler(&lines, nil)).Info("made", "client", c)
	assert.NotContains(t, lines.String(), secretKey)
}

func TestADialErrorNamesNoSecret(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, fmt.Errorf("proxy refused %s", secretToken)
	}
	c := clientAt(t, "https://api.example.com", client.WithToken(secretToken), client.WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: dial}}))
	err := aWrite.do(t.Context(), c)
	require.ErrorContains(t, err, "proxy refused [redacted]")
	assertSecretFree(t, err, secretToken)
}
