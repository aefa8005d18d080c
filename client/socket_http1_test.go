package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// http1Writes and http1Reads are the kinds of calls that net/http distinguishes: with and without a
// body, by method. The simulated table has every operation.
var (
	http1Writes = []gen.OperationID{gen.OpCreateListing, gen.OpUpdateListing, gen.OpDeactivateListing, gen.OpDeleteListing}
	http1Reads  = []gen.OperationID{gen.OpGetListing, gen.OpListListings}
)

// http1Setting is the setting of an exchange.
type http1Setting struct {
	secure bool // Over TLS.
	warm   bool // On a connection that has been used before, with another one at hand.
	// key is whether there is an Idempotency-Key, which a middleware may add, and which makes
	// net/http repeat writes on connections that have been used before.
	key bool
}

func http1Settings() []http1Setting {
	var all []http1Setting
	for _, secure := range []bool{false, true} {
		for _, warm := range []bool{false, true} {
			all = append(all, http1Setting{secure: secure, warm: warm})
			if warm {
				all = append(all, http1Setting{secure, warm, true})
			}
		}
	}
	return all
}

// String names the setting.
func (s http1Setting) String() string {
	return fmt.Sprintf("TLS %t, warm %t, Idempotency-Key %t", s.secure, s.warm, s.key)
}

// http1Trial is a call to its own server.
type http1Trial struct {
	*trial
	setting   http1Setting
	server    *http1Server
	transport *http.Transport
	client    *client.Client
	current   atomic.Pointer[trial] // nil while the connection is warmed.
	attempts  atomic.Int32
	err       error
}

// prepareHTTP1 starts a server on which the trial's requests meet the ending, and a client of it.
// finish closes both.
func (s *socketService) prepareHTTP1(
	t *testing.T, ending http1Ending, setting http1Setting, tr *trial,
) *http1Trial {
	t.Helper()
	tr.ending = ending
	s.start(t, tr)
	run := &http1Trial{trial: tr, setting: setting}
	warming := newBarrier(2)
	next := func() http1Ending {
		running := run.current.Load()
		if running == nil {
			warming.wait(t.Context())
		}
		if running == nil || !running.arrive(t.Context()) {
			return wholeExchange
		}
		return ending
	}
	// There is nothing to wait for once an exchange stalls.
	began, stalled := func(*http.Request) {}, func(*http.Request) { tr.cancel() }
	run.server = startHTTP1Server(t, setting.secure, s, next, began, stalled)
	run.transport = run.server.transport()
	run.transport.ExpectContinueTimeout = time.Minute
	headers := client.WithMiddleware(run.addHeaders(ending))
	run.client = socketClient(t, run.server.url, run.transport, headers, countAttempts(&run.attempts))
	if setting.warm {
		var reads sync.WaitGroup
		for range 2 {
			reads.Go(func() { assert.NoError(t, s.reads[gen.OpGetListing]().typed(t.Context(), run.client)) })
		}
		reads.Wait()
	}
	run.current.Store(tr)
	return run
}

func (run *http1Trial) addHeaders(ending http1Ending) client.Middleware {
	return func(next client.Doer) client.Doer {
		return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			if run.setting.key {
				req.Header.Set("Idempotency-Key", "of the test")
			}
			if ending.expect {
				req.Header.Set("Expect", "100-continue")
			}
			return next.Do(req)
		})
	}
}

// finish makes the call and closes the server.
func (run *http1Trial) finish(ctx context.Context) {
	run.err = run.run(ctx, run.client)
	run.transport.CloseIdleConnections()
	run.server.close()
}

// TestHTTP1_WritesAreAppliedOnce has writes of every kind meet every ending of a connection.
func TestHTTP1_WritesAreAppliedOnce(t *testing.T) {
	endings, settings := http1Endings(), http1Settings()
	s := openSocketService(t, len(endings)*len(settings))
	t.Run("endings", func(t *testing.T) {
		for _, ending := range endings {
			t.Run(ending.name, func(t *testing.T) {
				t.Parallel()
				for _, setting := range settings {
					for _, op := range http1Writes {
						run := s.prepareHTTP1(t, ending, setting, &trial{call: s.writes[op](), faults: 10})
						run.finish(t.Context())
						run.assertWrite(t, ending)
					}
				}
			})
		}
	})
	s.assertApplied(t)
	t.Logf("%d endings, %d cells", len(endings), len(endings)*len(settings)*len(http1Writes))
}

func (run *http1Trial) assertWrite(t *testing.T, ending http1Ending) {
	t.Helper()
	run.assertReport(t, run.err)
	what := fmt.Sprintf("%s, %s: %v", run.trial, run.setting, run.err)
	assert.EqualValues(t, 1, run.attempts.Load(), what)
	assert.EqualValues(t, 1, run.seen.Load(), what)
	assert.Equal(t, ending.delivered, run.applied.Load() == 1, what)
	switch ending.status {
	case http.StatusOK:
		assert.NoError(t, run.err, what)
	case 0:
		assert.ErrorIs(t, run.err, client.ErrOutcomeUnknown, what)
		assert.Equal(t, ending.silent, errors.Is(run.err, context.Canceled), what)
	default:
		assert.True(t, isA[*client.APIError](run.err), what)
		assert.Equal(t, ending.status == http.StatusRequestTimeout,
			errors.Is(run.err, client.ErrOutcomeUnknown), what)
	}
}

// TestHTTP1_ReadsFollowRetryTable has reads meet every ending: once, so that a repeated call
// succeeds, and each time, so that its error is seen. Every request is reported as an attempt.
func TestHTTP1_ReadsFollowRetryTable(t *testing.T) {
	s := openSocketService(t, 1)
	for _, ending := range http1Endings() {
		t.Run(ending.name, func(t *testing.T) {
			t.Parallel()
			for _, setting := range http1Settings() {
				for _, op := range http1Reads {
					for _, faults := range []int32{1, 2} {
						run := s.prepareHTTP1(t, ending, setting,
							&trial{call: s.reads[op](), faults: faults})
						run.finish(t.Context())
						run.assertRead(t, ending)
					}
				}
			}
		})
	}
}

func (run *http1Trial) assertRead(t *testing.T, ending http1Ending) {
	t.Helper()
	what := fmt.Sprintf("%s, %s: %v", run.trial, run.setting, run.err)
	want := 2
	switch {
	case ending.silent:
		want = 1
		assert.ErrorIs(t, run.err, context.Canceled, what)
	case ending.status == http.StatusOK:
		want = 1
		assert.NoError(t, run.err, what)
	case ending.status != 0 && ending.status != http.StatusRequestTimeout:
		want = 1
		assert.True(t, isA[*client.APIError](run.err), what)
	case ending.endless:
		want = 1
		assert.True(t, isA[*client.DecodeError](run.err), what)
	case run.faults == 1:
		assert.NoError(t, run.err, what)
	default:
		assert.Error(t, run.err, what)
		assert.Equal(t, 2, infoOf(t, run.err).Attempts, what)
	}
	assert.EqualValues(t, want, run.attempts.Load(), what)
	assert.EqualValues(t, want, run.seen.Load(), what)
	assert.NotErrorIs(t, run.err, client.ErrOutcomeUnknown, what)
}

// TestHTTP1_EndedIdleConnectionIsNoProofOfUnsent ends a connection at the moment when a write gets
// it.
func TestHTTP1_EndedIdleConnectionIsNoProofOfUnsent(t *testing.T) {
	ends := map[string]func(*http1Exchange){
		"close": (*http1Exchange).close,
		"reset": (*http1Exchange).reset,
		"cut":   (*http1Exchange).cut,
		"408": func(x *http1Exchange) {
			x.send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			x.close()
		},
	}
	const times = 5
	s := openSocketService(t, len(ends)*4*times)
	t.Run("ends", func(t *testing.T) {
		for name, end := range ends {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, setting := range http1Settings() {
					if !setting.warm {
						continue
					}
					for _, op := range http1Writes {
						for range times {
							s.writeAtTheEnd(t, setting, end, s.writes[op]())
						}
					}
				}
			})
		}
	})
	s.assertApplied(t)
}

func (s *socketService) writeAtTheEnd(t *testing.T, setting http1Setting, end func(*http1Exchange), call socketCall) {
	t.Helper()
	run := s.prepareHTTP1(t, wholeExchange, setting, &trial{call: call})
	var ended sync.Once
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		ended.Do(func() { run.server.endAll(end) })
	}})
	run.finish(ctx)
	run.assertReport(t, run.err)
}

// TestHTTP1_DialErrorIsNoProofOfUnsent has net/http dial once more for a write that was applied.
// The dial fails, and does not show that the write was not sent.
func TestHTTP1_DialErrorIsNoProofOfUnsent(t *testing.T) {
	s := openSocketService(t, 2)
	for _, secure := range []bool{false, true} {
		for _, op := range http1Writes {
			ending := http1Ending{name: "close", delivered: true, end: thenClose((*http1Exchange).apply)}
			setting := http1Setting{secure: secure, warm: true, key: true}
			run := s.prepareHTTP1(t, ending, setting, &trial{call: s.writes[op](), faults: 1})
			require.NoError(t, run.server.listener.Close())
			run.finish(t.Context())
			run.assertWrite(t, ending)
		}
	}
	s.assertApplied(t)
}
