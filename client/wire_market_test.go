package client_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// wireMarket is the one sandbox behind all proxies. It works nothing before the end, so that no call changes
// what another acts on, and it keeps what was accepted until then.
type wireMarket struct {
	*sandbox.Sandbox
	direct   *client.Client // Past the proxies.
	calls    map[gen.OperationID]func() wireCall
	unserved map[gen.OperationID]bool // What the sandbox answers 501: clienttest stands in for it.

	mu       sync.Mutex
	expected []func(*testing.T)
}

func openWireMarket(t *testing.T) *wireMarket {
	t.Helper()
	s, err := sandbox.New(sandbox.Options{APIKey: clienttest.APIKey, Token: clienttest.Token, Manual: true, Delay: -1})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	c, err := client.New(
		client.WithBaseURL("http://127.0.0.1"+sandbox.BasePath), client.WithAPIKey(s.APIKey()), client.WithToken(s.Token()),
		client.WithQuota(client.Unlimited), oneAttempt,
		client.WithHTTPClient(&http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r.Clone(r.Context())) // a handler may change its request, a transport may not
			return w.Result(), nil
		})}))
	require.NoError(t, err)
	m := &wireMarket{Sandbox: s, direct: c}
	m.calls = m.stock(t)
	m.unserved = m.probe(t)
	t.Logf("the sandbox serves %d of %d operations", len(m.calls)-len(m.unserved), len(m.calls))
	return m
}

// probe makes every call once, and finds the operations that the sandbox does not serve.
func (m *wireMarket) probe(t *testing.T) map[gen.OperationID]bool {
	t.Helper()
	unserved := map[gen.OperationID]bool{}
	for _, op := range gen.Operations() {
		require.Contains(t, m.calls, op.ID)
		call := m.calls[op.ID]()
		err := call.do(t.Context(), m.direct)
		if answered, ok := errors.AsType[*client.APIError](err); ok && answered.StatusCode == http.StatusNotImplemented {
			unserved[op.ID] = true
			continue
		}
		require.NoError(t, err, op.ID)
		m.expect("the call past the proxy", call, 1)
	}
	return unserved
}

// serve returns a call of the operation and the service that it shall reach so many times.
func (m *wireMarket) serve(t *testing.T, op gen.Operation, times int) (wireCall, *arrivals) {
	t.Helper()
	if !m.unserved[op.ID] {
		return m.calls[op.ID](), &arrivals{service: m}
	}
	srv := clienttest.New(t, clienttest.InProcess())
	if times > 0 {
		srv.Expect(op.ID).AnswerExample().Times(times)
	}
	at, err := url.Parse(strings.TrimSuffix(srv.BaseURL(), sandbox.BasePath))
	require.NoError(t, err)
	script := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }, Transport: srv.HTTPClient().Transport}
	return wireCall{do: wholeCalls(t)[op.ID]}, &arrivals{service: script}
}

// expect notes how often a call shall turn out to have been applied.
func (m *wireMarket) expect(what string, call wireCall, times int) {
	if call.applied == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expected = append(m.expected, func(t *testing.T) {
		t.Helper()
		assert.Equal(t, times, call.applied(t), "applied: %s", what)
	})
}

// assertApplied has the sandbox do all that it has accepted, and reads what became of every write.
func (m *wireMarket) assertApplied(t *testing.T) {
	t.Helper()
	require.NoError(t, m.Work(t.Context()))
	assert.NotEmpty(t, m.expected)
	for _, check := range m.expected {
		check(t)
	}
}

// wireCall is one call of an operation. What a write acts on is its own.
type wireCall struct {
	do func(context.Context, *client.Client) error
	// applied reads how often a write was applied; it is nil for a read, and for a write that nothing tells of.
	applied func(*testing.T) int
}

// arrivals counts what reaches a service, and what it takes.
type arrivals struct {
	service        http.Handler
	seen, accepted atomic.Int32
}

// ServeHTTP implements [http.Handler].
func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := httptest.NewRecorder()
	a.service.ServeHTTP(got, r)
	a.seen.Add(1)
	if got.Code < http.StatusMultipleChoices {
		a.accepted.Add(1)
	}
	maps.Copy(w.Header(), got.Header())
	w.WriteHeader(got.Code)
	_, _ = w.Write(got.Body.Bytes())
}
