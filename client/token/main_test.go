package token_test

import (
	"bufio"
	"context"
	"encoding/base64"
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

	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tokenEndpoint answers grants one after the other, the last answer for ever, and notes their forms. It is served
// over HTTP, or is a transport itself where there are no sockets.
type tokenEndpoint struct {
	mu      sync.Mutex
	answers []http.HandlerFunc
	forms   []url.Values
}

func (e *tokenEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	e.mu.Lock()
	e.forms = append(e.forms, r.PostForm)
	answer := e.answers[min(len(e.forms), len(e.answers))-1]
	e.mu.Unlock()
	answer(w, r)
}

func (e *tokenEndpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	return (&inproc.Transport{Handler: e}).RoundTrip(r)
}

// sent returns the forms so far.
func (e *tokenEndpoint) sent() []url.Values {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]url.Values(nil), e.forms...)
}

// presented returns the refresh tokens of the forms so far.
func (e *tokenEndpoint) presented() []string {
	var tokens []string
	for _, form := range e.sent() {
		tokens = append(tokens, form.Get("refresh_token"))
	}
	return tokens
}

// answers makes an endpoint.
func answers(each ...http.HandlerFunc) *tokenEndpoint { return &tokenEndpoint{answers: each} }

// says answers with a body of JSON.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// grants answers with an access token and further members, such as `"expires_in":43200`.
func grants(accessToken string, members ...string) http.HandlerFunc {
	return says(http.StatusOK, "{"+strings.Join(append([]string{`"access_token":"` + accessToken + `"`}, members...), ",")+"}")
}

// gated answers when it is opened.
func gated(open <-chan struct{}, answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-open:
			answer(w, r)
		case <-r.Context().Done():
		}
	}
}

// redirects answers with a place to go to.
func redirects(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

// raw answers with bytes that need not be HTTP.
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

// transportFunc is a transport of one function.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pipe is a transport of real HTTP that needs no socket. Each request is answered by what writes to the connection,
// which is closed when that returns.
func pipe(t *testing.T, answer func(net.Conn)) *http.Transport {
	t.Helper()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if r, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				answer(far)
			}
		}()
		return near, nil
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// passing is a JWT whose exp has passed, in a bubble too, so that it is renewed after a minute.
var passing = jwt(`{"exp":900000000}`)

func jwt(claims string) string {
	return "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

// aConfig is complete; its secrets can be told from any other text.
func aConfig(tokenURL string) token.RefreshConfig {
	return token.RefreshConfig{TokenURL: tokenURL, ClientID: "seller-app", ClientSecret: "s3cret/+&=", RefreshToken: "refresh-1"}
}

// overHTTP returns a source of an endpoint behind a socket; both end with the test.
func overHTTP(t *testing.T, endpoint http.Handler, change ...func(*token.RefreshConfig)) *token.RefreshSource {
	t.Helper()
	srv := httptest.NewServer(endpoint)
	t.Cleanup(srv.Close)
	return sourceOf(t, aConfig(srv.URL+"/oauth/token"), change...)
}

// inBubble returns a source of an endpoint that is reached without a socket.
func inBubble(t *testing.T, transport http.RoundTripper, change ...func(*token.RefreshConfig)) *token.RefreshSource {
	t.Helper()
	config := aConfig("https://auth.invalid/oauth/token")
	config.HTTPClient = &http.Client{Transport: transport}
	return sourceOf(t, config, change...)
}

func sourceOf(t *testing.T, config token.RefreshConfig, change ...func(*token.RefreshConfig)) *token.RefreshSource {
	t.Helper()
	for _, set := range change {
		set(&config)
	}
	source, err := token.NewRefreshSource(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, source.Close()) })
	return source
}

// after lets the bubble's time pass, and everything that is due then happen.
func after(d time.Duration) {
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
	_ = tokenErrorOf(t, err)
}

// tokenErrorOf requires a *token.Error and returns it.
func tokenErrorOf(t *testing.T, err error) *token.Error {
	t.Helper()
	var failed *token.Error
	require.ErrorAs(t, err, &failed)
	return failed
}

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
