package token_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tokenEndpoint responds to grants with its responses in order, repeats the last one, and records
// the forms. It is a handler, and a transport for tests without sockets.
type tokenEndpoint struct {
	mu        sync.Mutex
	responses []http.HandlerFunc
	forms     []url.Values
}

func (e *tokenEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	e.mu.Lock()
	e.forms = append(e.forms, r.PostForm)
	response := e.responses[min(len(e.forms), len(e.responses))-1]
	e.mu.Unlock()
	response(w, r)
}

func (e *tokenEndpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	return (&inproc.Transport{Handler: e}).RoundTrip(r)
}

// sent returns the forms that were sent so far.
func (e *tokenEndpoint) sent() []url.Values {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]url.Values(nil), e.forms...)
}

// refreshTokens returns the refresh tokens that were sent so far.
func (e *tokenEndpoint) refreshTokens() []string {
	var tokens []string
	for _, form := range e.sent() {
		tokens = append(tokens, form.Get("refresh_token"))
	}
	return tokens
}

func newEndpoint(responses ...http.HandlerFunc) *tokenEndpoint {
	return &tokenEndpoint{responses: responses}
}

// respond returns a handler that responds with a body of JSON.
func respond(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// respondGrant responds with an access token and more members, such as `"expires_in":43200`.
func respondGrant(accessToken string, members ...string) http.HandlerFunc {
	members = append([]string{`"access_token":"` + accessToken + `"`}, members...)
	return respond(http.StatusOK, "{"+strings.Join(members, ",")+"}")
}

// respondAfter delays a response until open is closed; nil for never.
func respondAfter(open <-chan struct{}, response http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-open:
			response(w, r)
		case <-r.Context().Done():
		}
	}
}

// respondRedirect responds with a Location.
func respondRedirect(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

// respondRaw responds with bytes that need not be HTTP.
func respondRaw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

// transportFunc is a transport of one function.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pipe returns a transport of real HTTP without sockets. serve responds to a request on its
// connection, which is closed afterwards.
func pipe(t *testing.T, serve func(net.Conn)) *http.Transport {
	t.Helper()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if r, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				serve(far)
			}
		}()
		return near, nil
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// expiredJWT has expired, in a bubble too.
var expiredJWT = jwt(`{"exp":900000000}`)

func jwt(claims string) string {
	return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

// testConfig returns a complete configuration. Its secrets occur in no other text.
func testConfig(tokenURL string) token.RefreshConfig {
	return token.RefreshConfig{
		TokenURL:     tokenURL,
		ClientID:     "seller-app",
		ClientSecret: "s3cret/+&=",
		RefreshToken: "refresh-1",
	}
}

// overHTTP returns a source whose endpoint is served on a socket. Both are closed after the test.
func overHTTP(
	t *testing.T, endpoint http.Handler, change ...func(*token.RefreshConfig),
) *token.RefreshSource {
	t.Helper()
	srv := httptest.NewServer(endpoint)
	t.Cleanup(srv.Close)
	return newSource(t, testConfig(srv.URL+"/oauth/token"), change...)
}

// inBubble returns a source that uses a transport without sockets, for bubbles of testing/synctest.
func inBubble(
	t *testing.T, transport http.RoundTripper, change ...func(*token.RefreshConfig),
) *token.RefreshSource {
	t.Helper()
	config := testConfig("https://auth.invalid/oauth/token")
	config.HTTPClient = &http.Client{Transport: transport}
	return newSource(t, config, change...)
}

func newSource(
	t *testing.T, config token.RefreshConfig, change ...func(*token.RefreshConfig),
) *token.RefreshSource {
	t.Helper()
	for _, set := range change {
		set(&config)
	}
	source, err := token.NewRefreshSource(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, source.Close()) })
	return source
}

// advance advances the bubble's time, and waits until everything due has run.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func accessToken(t *testing.T, source *token.RefreshSource) string {
	t.Helper()
	got, err := source.Token()
	require.NoError(t, err)
	return got.AccessToken
}

// requireTokenError requires a *token.Error.
func requireTokenError(t *testing.T, err error) {
	t.Helper()
	_ = asTokenError(t, err)
}

// asTokenError requires a *token.Error and returns it.
func asTokenError(t *testing.T, err error) *token.Error {
	t.Helper()
	failed, ok := errors.AsType[*token.Error](err)
	require.True(t, ok, "%T: %v", err, err)
	return failed
}

// requireStatus requires a *token.Error of a response of the token endpoint.
func requireStatus(t *testing.T, err error, status int, code string) {
	t.Helper()
	failed, ok := errors.AsType[*oauth2.RetrieveError](asTokenError(t, err))
	require.True(t, ok, "%v", err)
	assert.Equal(t, status, failed.Response.StatusCode)
	assert.Equal(t, code, failed.ErrorCode)
}

// assertSecretFree asserts that fmt prints no secret of a value.
func assertSecretFree(t *testing.T, value any, secrets ...string) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		text := fmt.Sprintf(verb, value)
		for _, secret := range secrets {
			assert.NotContains(t, text, secret, "%s of a %T", verb, value)
		}
	}
}
