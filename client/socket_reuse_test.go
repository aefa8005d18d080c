package client_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTransport_OpensNoConnectionsInSteadyState makes 1,000 calls from 64 goroutines over TLS, with
// the transport that a client has by default.
func TestTransport_OpensNoConnectionsInSteadyState(t *testing.T) {
	const goroutines, calls = 64, 1000
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			var opened atomic.Int32
			var warm sync.WaitGroup // Holds the first responses until all goroutines have a connection.
			warm.Add(goroutines)
			var seen atomic.Int32
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, protocol, r.Proto)
				if seen.Add(1) <= goroutines {
					warm.Done()
					warm.Wait()
				}
				serveExample(w, r)
			}))
			srv.EnableHTTP2 = http2
			srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					opened.Add(1)
				}
			}
			srv.StartTLS()
			t.Cleanup(srv.Close)
			before := http.DefaultTransport
			t.Cleanup(func() { http.DefaultTransport = before })
			http.DefaultTransport = srv.Client().Transport
			c := newClient(t, srv.URL)
			t.Cleanup(func() { assert.NoError(t, c.Close()) })

			run := func(perGoroutine int) {
				var all sync.WaitGroup
				for range goroutines {
					all.Go(func() {
						for range perGoroutine {
							assert.NoError(t, readCall.do(t.Context(), c))
							assert.NoError(t, writeCall.do(t.Context(), c))
						}
					})
				}
				all.Wait()
			}
			run(1)
			afterWarmUp := opened.Load()
			run(calls/goroutines/2 + 1)
			assert.Zero(t, opened.Load()-afterWarmUp, fmt.Sprintf("new connections in %d calls", calls))
			require.Positive(t, afterWarmUp)
		})
	}
}
