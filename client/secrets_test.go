package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Credentials with characters that are escaped in URLs and in JSON.
const (
	secretKey   = "key/9f+2c==&51d0"
	secretToken = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzZWxsZXIifQ.c2lnbmF0dXJl/b2Y+dGhl&c2VsbGVy"
)

const jsonEscaped = "JSON-escaped"

// secretForms are the forms in which a service may repeat a secret.
func secretForms() map[string]func(string) string {
	return map[string]func(string) string{
		"literal":     func(s string) string { return s },
		"URL-escaped": url.QueryEscape,
		jsonEscaped: func(s string) string {
			return strings.NewReplacer("/", `\/`, "+", `\u002b`, "&", `\u0026`, "=", `\u003d`).Replace(s)
		},
	}
}

// echo repeats the credentials in one place of a response, instead of SECRET, and line breaks
// instead of BREAK.
type echo struct {
	status         int
	header, format string
	raw            bool // The format is all of the response, which need not be HTTP.
}

func (e echo) serve(w http.ResponseWriter, r *http.Request, form func(string) string) {
	_, _ = io.Copy(io.Discard, r.Body)
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	secret := form(r.Header.Get("X-Api-Key")) + "~" + form(token)
	text := strings.NewReplacer("SECRET", secret, "BREAK", `\n\u2028\t`).Replace(e.format)
	if e.raw {
		rawResponse(text)(w, r)
		return
	}
	if e.header != "" {
		w.Header().Set(e.header, strings.ReplaceAll(text, "SECRET", secret))
		text = ""
	}
	w.WriteHeader(e.status)
	_, _ = io.WriteString(w, text)
}

// TestSecrets_AreNeverShown has a service repeat the credentials wherever it can, in each form that
// the redactor promises to find. No error, event or log line shows them, and each error is one
// line.
func TestSecrets_AreNeverShown(t *testing.T) {
	waitForBatch := func(ctx context.Context, c *client.Client) error {
		b := c.Batches.ResumeCreate("b1")
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		return failure(b.Wait(ctx))
	}
	waitForOperation := func(ctx context.Context, c *client.Client) error {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		o, err := c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: "162"})
		if err != nil {
			return err
		}
		return failure(o.Wait(ctx))
	}
	for name, tc := range map[string]struct {
		echo
		call func(context.Context, *client.Client) error
		want func(error) bool // Nil if the call succeeds.
	}{
		"a message":         {echo{status: 400, format: `{"message":"SECRETBREAK"}`}, writeCall.do, isA[*client.APIError]},
		"a list of errors":  {echo{status: 422, format: `{"errors":["SECRET",{"message":"SECRET"}]}`}, writeCall.do, isA[*client.APIError]},
		"a page":            {echo{status: 502, format: `<html>SECRET</html>`}, readCall.do, isA[*client.APIError]},
		"a request id":      {echo{status: 404, header: "X-Request-Id", format: `SECRET`}, readCall.do, isA[*client.APIError]},
		"a redirect":        {echo{status: 302, header: "Location", format: `https://elsewhere.invalid/?SECRET`}, readCall.do, isA[*client.APIError]},
		"a broken redirect": {echo{status: 302, header: "Location", format: `http://[SECRET`}, readCall.do, isA[*client.TransportError]},
		"a status line":     {echo{raw: true, format: "HTTP/1.1 SECRET\r\n\r\n"}, writeCall.do, isA[*client.TransportError]},
		"a broken header":   {echo{raw: true, format: "HTTP/1.1 200 OK\r\nSECRET\r\n\r\n"}, writeCall.do, isA[*client.TransportError]},
		"a body of text":    {echo{status: 200, format: `SECRET`}, writeCall.do, isA[*client.DecodeError]},
		"another id":        {echo{status: 200, format: `{"listingId":"SECRETBREAK"}`}, readCall.do, isA[*client.DecodeError]},
		"a member":          {echo{status: 200, format: `{"listingId":"` + listingID + `","createdAt":"SECRET","payout":"SECRET"}`}, readCall.do, nil},
		"a batch in progress": {
			echo{status: 200, format: `{"batchId":"b1","status":"SECRETBREAK","itemStatuses":{"SECRET":1}}`}, waitForBatch, isA[*client.WaitError],
		},
		"failed items": {echo{status: 200, format: `{"batchId":"b1","status":"COMPLETED","totalItems":2,
			"items":[{"itemId":"SECRETBREAK","status":"FAILED","error":"SECRETBREAK"},{"itemId":"SECRET","status":"SECRET"}]}`}, waitForBatch, isA[*client.BatchError]},
		"an operation that failed": {echo{status: 200, format: `{"listingId":"SECRET","operationId":"SECRET","operationType":"SECRETBREAK",
			"operationStatus":"FAILED","error":"SECRETBREAK"}`}, waitForOperation, isA[*client.OperationError]},
		"an operation in progress": {echo{status: 200, format: `{"listingId":"SECRET","operationId":"SECRET","operationStatus":"SECRETBREAK"}`}, waitForOperation, isA[*client.WaitError]},
	} {
		for form, write := range secretForms() {
			if form == jsonEscaped && (tc.raw || tc.header != "") {
				continue // net/http quotes these, which escapes them once more
			}
			t.Run(name+", "+form, func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tc.serve(w, r, write) }))
				defer srv.Close()
				shown := &shown{}
				all := &slog.HandlerOptions{Level: slog.LevelDebug}
				c := newServerClient(t, srv, client.WithAPIKey(secretKey), client.WithToken(secretToken),
					client.WithRetry(client.RetryPolicy{MaxAttempts: 2, MinDelay: 1, MaxDelay: 1}), client.WithObserver(shown.event), client.WithDump(shown),
					client.WithLogger(slog.New(slog.NewMultiHandler(slog.NewTextHandler(shown, all), slog.NewJSONHandler(shown, all)))))

				err := tc.call(t.Context(), c)

				if tc.want == nil {
					require.NoError(t, err)
				} else {
					require.True(t, tc.want(err), "%T: %v", err, err)
				}
				shown.failure(t, err)
				require.NotEmpty(t, shown.texts)
				shown.assertNoSecret(t)
			})
		}
	}
}

// shown is what a client has shown to its user.
type shown struct {
	mu    sync.Mutex
	texts []string
}

// Write implements [io.Writer] for logs.
func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, string(p))
	return len(p), nil
}

func (s *shown) event(_ context.Context, e client.Event) {
	s.value(e)
	if e.Err != nil {
		s.value(e.Err)
	}
}

func (s *shown) value(value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		s.texts = append(s.texts, fmt.Sprintf(verb, value))
	}
}

// failure adds an error and its causes, with their fields.
func (s *shown) failure(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		assert.NotRegexp(t, `[\n\r\t\x{2028}]`, err.Error(), "%T", err)
		s.value(err)
		switch e := err.(type) { //nolint:errorlint // it unwraps
		case *client.APIError:
			s.value(*e)
			s.value(string(e.Body))
		case *client.DecodeError:
			s.value(*e)
			s.value(string(e.Body))
		case *client.TransportError:
			s.value(*e)
		case *client.BatchError:
			s.value(*e)
		case *client.OperationError:
			s.value(*e)
		case *client.WaitError:
			s.value(*e)
			if e.Batch != nil {
				s.value(*e.Batch)
			}
			if e.Operation != nil {
				s.value(*e.Operation)
			}
		}
	}
}

func (s *shown) assertNoSecret(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []string{secretKey, secretToken} {
		for form, write := range secretForms() {
			quoted, err := json.Marshal(write(secret))
			require.NoError(t, err)
			for _, text := range s.texts {
				assert.NotContains(t, text, write(secret), form)
				assert.NotContains(t, text, strings.Trim(string(quoted), `"`), "%s, in JSON", form)
			}
		}
	}
}

// assertSecretFree checks that no verb of package fmt shows a secret of a value.
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

func TestSecrets_AreNotPrintedWithClients(t *testing.T) {
	c := newClient(t, "https://api.example.com", client.WithAPIKey(secretKey),
		client.WithToken(secretToken))
	for _, value := range []any{
		c, *c, c.Raw(), *c.Raw(), c.Listings, *c.Listings, c.Batches.ResumeCreate("1"), c.Listings.Operation("1", "2"),
		struct{ c *client.Client }{c},
		struct{ c client.Client }{*c},
	} {
		assertSecretFree(t, value, secretKey, secretToken)
	}
	assert.Equal(t, "client.Client(https://api.example.com/v2/)", fmt.Sprintf("%+v", c))

	var lines bytes.Buffer
	slog.New(slog.NewJSONHandler(&lines, nil)).Info("made", "client", c)
	assert.NotContains(t, lines.String(), secretKey)
}

func TestSecrets_AreTakenOutOfTransportErrors(t *testing.T) {
	c := newTransportClient(t, transportFunc(func(*http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("proxy refused %s", secretToken)
	}), client.WithToken(secretToken))
	err := writeCall.do(t.Context(), c)
	require.True(t, isA[*client.TransportError](err), "%T", err)
	assertSecretFree(t, err, secretToken)
}
