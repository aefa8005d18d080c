package clienttest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeTB is the test of a user. It records the failures of that test.
type fakeTB struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (tb *fakeTB) Helper() {}

func (tb *fakeTB) Cleanup(f func()) { tb.cleanups = append(tb.cleanups, f) }

func (tb *fakeTB) Errorf(format string, args ...any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.failures = append(tb.failures, fmt.Sprintf(format, args...))
}

// end ends the test and returns its failures.
func (tb *fakeTB) end() []string {
	for _, f := range tb.cleanups {
		f()
	}
	tb.cleanups = nil
	return tb.failures
}

// transports are the options for both transports. Rules must hold over each.
func transports() map[string][]clienttest.Option {
	return map[string][]clienttest.Option{
		"socket":     nil,
		"in process": {clienttest.InProcess()},
	}
}

// request makes a request with credentials, and a JSON body unless body is empty.
func request(t *testing.T, srv *clienttest.Server, method, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.BaseURL()+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+clienttest.Token)
	r.Header.Set("X-Api-Key", clienttest.APIKey)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// reply is a response that has been read.
type reply struct {
	status int
	header http.Header
	body   string
	path   string // Of the request, after redirects.
}

// call sends a request and reads the response.
func call(t *testing.T, srv *clienttest.Server, method, path, body string) reply {
	t.Helper()
	return send(t, srv, request(t, srv, method, path, body))
}

func send(t *testing.T, srv *clienttest.Server, r *http.Request) reply {
	t.Helper()
	resp, err := srv.HTTPClient().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return reply{resp.StatusCode, resp.Header, string(body), resp.Request.URL.Path}
}
