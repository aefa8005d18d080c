package faultproxy_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wholeResponse = "0123456789"

// exchange is the result of one POST through a proxy that injects a fault.
type exchange struct {
	delivered string // The body that the target got.
	status    int
	header    http.Header
	body      string
	failed    error // The error of the call, or of reading the body.
}

func post(t *testing.T, f faultproxy.Fault, timeout time.Duration) exchange {
	t.Helper()
	var got exchange
	var seen atomic.Value
	target := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		seen.Store(string(body))
		if f.Kind != faultproxy.None {
			assert.Nil(t, r.Context().Done(), "a delivered request is handled even if the client disconnects")
		}
		w.Header().Set("X-Target", "yes")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, wholeResponse)
	})
	p := start(t, target, func(r *http.Request) faultproxy.Fault {
		assert.Equal(t, "/v2/sell", r.URL.Path)
		return f
	})
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL()+"/v2/sell", strings.NewReader("a listing"))
	require.NoError(t, err)
	hc := &http.Client{Transport: &http.Transport{}}
	defer hc.CloseIdleConnections()
	resp, err := hc.Do(r)
	if got.failed = err; err == nil {
		defer resp.Body.Close()
		var body []byte
		body, got.failed = io.ReadAll(resp.Body)
		got.status, got.header, got.body = resp.StatusCode, resp.Header, string(body)
	}
	got.delivered, _ = seen.Load().(string)
	assert.Equal(t, 1, p.Requests())
	return got
}

func start(t *testing.T, target http.Handler, decide func(*http.Request) faultproxy.Fault) *faultproxy.Proxy {
	t.Helper()
	p, err := faultproxy.Start(target, decide)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		require.NoError(t, p.Close(), "a second time")
	})
	return p
}

func TestProxy_InjectsEachKindOfFault(t *testing.T) {
	for _, row := range []struct {
		fault  faultproxy.Fault
		status int
		body   string
		failed error
	}{
		{faultproxy.Fault{}, 201, wholeResponse, nil},
		{faultproxy.Fault{Kind: faultproxy.Latency, Delay: time.Millisecond}, 201, wholeResponse, nil},
		{faultproxy.Fault{Kind: faultproxy.LostResponse}, 0, "", syscall.ECONNRESET},
		{faultproxy.Fault{Kind: faultproxy.ResetAfterHeaders}, 201, "", syscall.ECONNRESET},
		{faultproxy.Fault{Kind: faultproxy.CutMidBody}, 201, "01234", io.ErrUnexpectedEOF},
		{faultproxy.Fault{Kind: faultproxy.Stall}, 0, "", context.DeadlineExceeded},
		{faultproxy.Fault{Kind: faultproxy.Reset}, 0, "", syscall.ECONNRESET},
	} {
		t.Run(row.fault.Kind.String(), func(t *testing.T) {
			timeout := 10 * time.Second
			if row.fault.Kind == faultproxy.Stall {
				timeout = 100 * time.Millisecond
			}
			got := post(t, row.fault, timeout)

			assert.Equal(t, row.status, got.status)
			assert.Equal(t, row.body, got.body)
			assert.ErrorIs(t, got.failed, row.failed)
			assert.Equal(t, row.status != 0, got.header.Get("X-Target") != "", "the headers come with the status")
			if row.fault.Kind.Delivered() {
				assert.Equal(t, "a listing", got.delivered)
			} else {
				assert.Empty(t, got.delivered, "the target did not get it")
			}
		})
	}
}

func TestProxy_CloseEndsStalledRequests(t *testing.T) {
	arrived := make(chan struct{})
	p := start(t, http.NotFoundHandler(), func(*http.Request) faultproxy.Fault {
		close(arrived)
		return faultproxy.Fault{Kind: faultproxy.Stall}
	})
	failed := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL(), http.NoBody)
		if err == nil {
			hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			_, err = hc.Do(r) //nolint:bodyclose // there is no response
		}
		failed <- err
	}()
	<-arrived

	require.NoError(t, p.Close())

	require.Error(t, <-failed)
}

func TestProxy_CloseWaitsForTheTarget(t *testing.T) {
	disconnected := make(chan struct{})
	var handled atomic.Bool
	target := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-disconnected
		handled.Store(true)
	})
	arrived := make(chan struct{})
	p := start(t, target, func(*http.Request) faultproxy.Fault {
		close(arrived)
		return faultproxy.Fault{Kind: faultproxy.LostResponse}
	})
	go func() {
		defer close(disconnected)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL(), http.NoBody)
		if assert.NoError(t, err) {
			hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			_, err = hc.Do(r) //nolint:bodyclose // there is no response
			assert.Error(t, err)
		}
	}()
	<-arrived

	require.NoError(t, p.Close())

	assert.True(t, handled.Load())
}
