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

// verdict stands in for the test of a user: it keeps what would have failed that test.
type verdict struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (v *verdict) Helper() {}

func (v *verdict) Cleanup(f func()) { v.cleanups = append(v.cleanups, f) }

func (v *verdict) Errorf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failures = append(v.failures, fmt.Sprintf(format, args...))
}

// end ends the user's test and returns why it failed.
func (v *verdict) end() []string {
	for _, f := range v.cleanups {
		f()
	}
	v.cleanups = nil
	return v.failures
}

// transports are the two ways to a server; a rule must hold over both.
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

// reply is an answer that has been read in full.
type reply struct {
	status int
	header http.Header
	body   string
	path   string // of the request that was answered, after redirects
}

// call sends a request and reads its answer.
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
