package client_test

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/h2peer"
)

// stressFor is 60 s in make stress.
var stressFor = flag.Duration("stress", time.Second, "how long TestStress writes over each protocol")

// TestStress_WritesAreAppliedOnce writes from many goroutines to servers that end one in four
// exchanges in some way, and compares what each call reports with what the server saw.
func TestStress_WritesAreAppliedOnce(t *testing.T) {
	t.Run("HTTP/2", func(t *testing.T) {
		s := &stress{}
		endings := h2peer.Endings()
		peer := h2peer.Start(s, func(r *http.Request) h2peer.Ending {
			s.see(r)
			if rand.IntN(4) > 0 {
				return h2peer.Ending{}
			}
			ending := endings[rand.IntN(len(endings))]
			switch trial := s.of(r); {
			case ending.Silent() && ending.Delivered():
				trial.silent.Store(true)
			case ending.Silent():
				trial.cancel()
			}
			return ending
		})
		defer peer.Close()
		s.run(t, peer.URL(), peer.Transport, peer.Close)
	})
	for name, secure := range map[string]bool{"HTTP/1 over TLS": true, "HTTP/1": false} {
		t.Run(name, func(t *testing.T) {
			s := &stress{}
			endings := http1Endings()
			server := startHTTP1Server(t, secure, s, func() http1Ending {
				if rand.IntN(4) > 0 {
					return wholeExchange
				}
				return endings[rand.IntN(len(endings))]
			}, s.see, func(r *http.Request) { s.of(r).cancel() })
			s.run(t, server.url, server.transport, server.close)
		})
	}
}

// stress is a service, and the writes to it.
type stress struct {
	trials
	mu   sync.Mutex
	made []stressWrite
}

// stressWrite is one write, and what the call reported.
type stressWrite struct {
	*trial
	reported report
}

// see counts a request that has arrived.
func (s *stress) see(r *http.Request) {
	if trial := s.of(r); trial != nil {
		trial.seen.Add(1)
	}
}

// ServeHTTP implements [http.Handler]. It applies every write.
func (s *stress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if trial := s.of(r); trial != nil {
		trial.applied.Add(1)
		if trial.silent.Load() {
			defer trial.cancel() // there is nothing to wait for
		}
	}
	op, _ := gen.MatchOperation(r.Method, strings.TrimPrefix(r.URL.Path, "/v2"))
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(clienttest.ExampleOf(op.ID))
}

// run writes from 64 goroutines with eight clients, and compares all reports once the server is
// closed.
func (s *stress) run(t *testing.T, url string, transport func() *http.Transport, closeServer func()) {
	t.Helper()
	const clients, goroutines = 8, 8
	var writes []socketCall
	for id, typed := range typedCalls(t) {
		if op, _ := gen.LookupOperation(id); !op.RetrySafe {
			writes = append(writes, socketCall{op: op, typed: typed})
		}
	}
	began := time.Now()
	var working sync.WaitGroup
	for i := range clients {
		transport := transport()
		transport.MaxIdleConnsPerHost = goroutines
		transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 100 * time.Millisecond, PingTimeout: 100 * time.Millisecond}
		defer transport.CloseIdleConnections()
		c := socketClient(t, url, transport, client.WithMiddleware(func(next client.Doer) client.Doer {
			return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
				if req = req.Clone(req.Context()); i%2 == 0 {
					req.Header.Set("Idempotency-Key", "of the test") // net/http repeats these over HTTP/1
				}
				return next.Do(req)
			})
		}))
		for range goroutines {
			working.Go(func() {
				for time.Since(began) < *stressFor {
					s.write(t, c, writes[rand.IntN(len(writes))])
				}
			})
		}
	}
	working.Wait()
	closeServer() // no request is in flight any more

	count, duplicates, wrongReports := map[report]int{}, 0, 0
	for _, write := range s.made {
		count[write.reported]++
		if write.applied.Load() > 1 {
			duplicates++
		}
		if wrong := write.wrongReport(write.reported); wrong != "" {
			wrongReports++
			if wrongReports < 10 {
				t.Logf("%s: %s: seen %d times, applied %d times", write.call.op.ID, wrong,
					write.seen.Load(), write.applied.Load())
			}
		}
	}
	t.Logf("%d goroutines, %s: writes %d (%v), duplicates %d, false reports %d",
		clients*goroutines, time.Since(began).Round(time.Second), len(s.made), count, duplicates, wrongReports)
	assert.NotZero(t, count[reportedDone])
	assert.NotZero(t, count[reportedUnknown])
	assert.Zero(t, duplicates)
	assert.Zero(t, wrongReports)
}

func (s *stress) write(t *testing.T, c *client.Client, call socketCall) {
	t.Helper()
	trial := &trial{call: call}
	s.add(trial)
	reported := reportOf(trial.run(t.Context(), c))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = append(s.made, stressWrite{trial, reported})
}
