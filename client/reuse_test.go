package client_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTransport_OpensNoConnectionsInSteadyState makes 1,000 calls from 64 goroutines over TLS, with
// the transport that a client has by default. It runs on simulated time, because net/http does not
// use a connection again whose writer is slower than 50 ms.
func TestTransport_OpensNoConnectionsInSteadyState(t *testing.T) {
	const goroutines, calls = 64, 1000
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen atomic.Int32
				var warm sync.WaitGroup // Holds the first responses until all goroutines have a connection.
				warm.Add(goroutines)
				service := startPipeService(t, true, func(w http.ResponseWriter, r *http.Request) {
					assert.Equal(t, protocol, r.Proto)
					if seen.Add(1) <= goroutines {
						warm.Done()
						warm.Wait()
					}
					serveExample(w, r)
				})
				service.useByDefault(t)
				// The server offers both protocols, and the transport decides.
				http.DefaultTransport.(*http.Transport).ForceAttemptHTTP2 = http2
				c := newClient(t, service.URL)
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
				_, before := service.connections()
				require.Positive(t, before)
				run(calls/goroutines/2 + 1)
				_, after := service.connections()
				assert.Equal(t, before, after, "new connections in %d calls", calls)
			})
		})
	}
}
