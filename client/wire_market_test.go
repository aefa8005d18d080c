package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
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
	direct  *client.Client // Past the proxies.
	calls   map[gen.OperationID]func() wireCall
	failing sync.RWMutex // Held by the request that meets a fault of the sandbox, so that no other takes it.

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
	for _, op := range gen.Operations() {
		require.Contains(t, m.calls, op.ID)
		call := m.calls[op.ID]()
		require.NoError(t, call.do(t.Context(), m.direct), op.ID)
		m.expect("the call past the proxy", call, 1)
	}
	return m
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
