package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/h2peer"
)

// http2Peer starts a peer of the service that ends the requests of trials.
func (s *socketService) http2Peer(t *testing.T, ending h2peer.Ending, settings ...http2.Setting) *h2peer.Peer {
	t.Helper()
	peer := h2peer.Start(s, func(r *http.Request) h2peer.Ending {
		trial := s.of(r)
		if trial == nil || !trial.arrive(r.Context()) {
			return h2peer.Ending{}
		}
		switch {
		case ending.Silent() && ending.Delivered():
			trial.silent.Store(true)
		case ending.Silent():
			trial.cancel()
		}
		return ending
	}, settings...)
	t.Cleanup(peer.Close)
	return peer
}

// TestHTTP2_WritesAreAppliedOnce has every write meet every ending of a stream: on a new connection
// and on one that was used before, alone and with others in flight on it, through the typed methods
// and through the generated client.
func TestHTTP2_WritesAreAppliedOnce(t *testing.T) {
	endings := h2peer.Endings()
	s := openSocketService(t, 6*len(endings))
	var cells atomic.Int32
	t.Run("endings", func(t *testing.T) {
		for _, ending := range endings {
			t.Run(ending.String(), func(t *testing.T) {
				t.Parallel()
				peer := s.http2Peer(t, ending)
				for _, warm := range []bool{false, true} {
					for _, call := range s.writes {
						s.writeAlone(t, peer, ending, warm, call())
						cells.Add(1)
					}
					s.writeTogether(t, peer, ending, warm, newBarrier(2*len(s.writes)))
					cells.Add(int32(2 * len(s.writes)))
				}
			})
		}
	})
	s.assertApplied(t)
	t.Logf("%d endings, %d cells", len(endings), cells.Load())
}

// writeAlone makes one write, whose outcome follows from the ending.
func (s *socketService) writeAlone(t *testing.T, peer *h2peer.Peer, ending h2peer.Ending, warm bool, call socketCall) {
	t.Helper()
	var attempts atomic.Int32
	c, done := s.http2Client(t, peer, warm, countAttempts(&attempts))
	defer done()
	trial := &trial{call: call, ending: ending, faults: 10}
	s.start(t, trial)

	err := trial.run(t.Context(), c)

	trial.assertReport(t, err)
	assert.EqualValues(t, 1, attempts.Load(), trial)
	assert.EqualValues(t, 1, trial.seen.Load(), trial)
	assert.Equal(t, ending.Delivered(), trial.applied.Load() == 1, trial)
	switch {
	case ending.Whole():
		assert.NoError(t, err, trial)
	case ending.Do == h2peer.Refuse:
		assert.True(t, isA[*client.APIError](err), "%s: %v", trial, err)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, trial)
	default:
		assert.ErrorIs(t, err, client.ErrOutcomeUnknown, trial)
		assert.Equal(t, ending.Silent(), errors.Is(err, context.Canceled), "%s: %v", trial, err)
	}
}

// writeTogether makes all writes at once, in both ways. None ends before the others have arrived,
// if they wait for each other.
func (s *socketService) writeTogether(t *testing.T, peer *h2peer.Peer, ending h2peer.Ending, warm bool, others *barrier) {
	t.Helper()
	c, done := s.http2Client(t, peer, warm)
	defer done()
	var calls sync.WaitGroup
	for _, call := range s.writes {
		for _, raw := range []bool{false, true} {
			trial := &trial{call: call(), ending: ending, raw: raw, faults: 10, others: others}
			s.start(t, trial)
			calls.Go(func() { trial.assertReport(t, trial.run(t.Context(), c)) })
		}
	}
	calls.Wait()
}

// http2Client returns a client with its own transport, and what closes that. If it is warm, its
// connection has been used before.
func (s *socketService) http2Client(
	t *testing.T, peer *h2peer.Peer, warm bool, opts ...client.Option,
) (*client.Client, func()) {
	t.Helper()
	transport := peer.Transport()
	c := socketClient(t, peer.URL(), transport, opts...)
	if warm {
		assert.NoError(t, s.reads[gen.OpGetListing]().typed(t.Context(), c))
	}
	return c, transport.CloseIdleConnections
}

// TestHTTP2_ReadsFollowRetryTable has reads meet every ending: once, so that a repeated call
// succeeds, and each time, so that its error is seen. Every request is reported as an attempt.
func TestHTTP2_ReadsFollowRetryTable(t *testing.T) {
	s := openSocketService(t, 1)
	for _, ending := range h2peer.Endings() {
		t.Run(ending.String(), func(t *testing.T) {
			t.Parallel()
			peer := s.http2Peer(t, ending)
			for _, call := range s.reads {
				for _, faults := range []int32{1, 2} {
					s.readThrough(t, peer, &trial{call: call(), ending: ending, faults: faults})
				}
			}
		})
	}
}

func (s *socketService) readThrough(t *testing.T, peer *h2peer.Peer, trial *trial) {
	t.Helper()
	ending := trial.ending.(h2peer.Ending)
	var attempts atomic.Int32
	c, done := s.http2Client(t, peer, trial.faults == 2, countAttempts(&attempts))
	defer done()
	s.start(t, trial)

	err := trial.run(t.Context(), c)

	streamed := trial.call.op.ID == gen.OpGetShippingDocument && ending.At >= h2peer.ResponseHeaders // the caller reads the document
	want := 2
	inOrder := ending.Do == h2peer.Continue || ending.Do == h2peer.Trailers || ending.Do == h2peer.GoAwayAbove
	switch {
	case ending.Whole() && (!streamed || inOrder):
		want = 1
		assert.NoError(t, err, trial)
	case ending.Do == h2peer.Refuse:
		want = 1
		assert.True(t, isA[*client.APIError](err), "%s: %v", trial, err)
	case ending.Silent():
		want = 1
		assert.ErrorIs(t, err, context.Canceled, trial)
	case streamed:
		want = 1
		assert.True(t, isA[*client.DecodeError](err), "%s: %v", trial, err)
	case trial.faults == 1:
		assert.NoError(t, err, trial)
	default:
		assert.True(t, isA[*client.TransportError](err) || isA[*client.DecodeError](err), "%s: %v",
			trial, err)
		assert.Equal(t, 2, infoOf(t, err).Attempts, trial)
	}
	assert.EqualValues(t, want, attempts.Load(), trial)
	assert.EqualValues(t, want, trial.seen.Load(), trial)
	assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, trial)
}

// TestHTTP2_SettingsDelayWrites has all writes at once meet what a server allows on a connection.
func TestHTTP2_SettingsDelayWrites(t *testing.T) {
	stall := h2peer.Ending{At: h2peer.Body, Do: h2peer.Stall}
	for _, tc := range []struct {
		setting http2.Setting
		ending  h2peer.Ending
		why     string
	}{
		{http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}, h2peer.Ending{}, "net/http opens more connections"},
		{http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}, stall, "headers arrive, and no body"},
	} {
		t.Run(tc.setting.String(), func(t *testing.T) {
			s := openSocketService(t, 2)
			s.writeTogether(t, s.http2Peer(t, tc.ending, tc.setting), tc.ending, false, nil)
			s.assertApplied(t)
		})
	}
}

// TestHTTP2_EndedConnectionIsNoProofOfUnsent ends a connection at the moment when a write gets it,
// be it a new one or one that is idle.
func TestHTTP2_EndedConnectionIsNoProofOfUnsent(t *testing.T) {
	ends := []h2peer.Action{h2peer.Close, h2peer.ResetConnection, h2peer.GoAway, h2peer.GoAwayClose}
	const times = 5
	s := openSocketService(t, len(ends)*2*times)
	t.Run("ends", func(t *testing.T) {
		for _, do := range ends {
			t.Run(do.String(), func(t *testing.T) {
				t.Parallel()
				peer := s.http2Peer(t, h2peer.Ending{})
				for _, warm := range []bool{false, true} {
					for _, call := range s.writes {
						for range times {
							s.writeAtTheEndHTTP2(t, peer, do, warm, call())
						}
					}
				}
			})
		}
	})
	s.assertApplied(t)
}

func (s *socketService) writeAtTheEndHTTP2(t *testing.T, peer *h2peer.Peer, do h2peer.Action, warm bool, call socketCall) {
	t.Helper()
	c, done := s.http2Client(t, peer, warm)
	defer done()
	trial := &trial{call: call, ending: do}
	s.start(t, trial)
	var ended sync.Once
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		ended.Do(func() { peer.End(do) })
	}})
	trial.assertReport(t, trial.run(ctx, c))
}

// TestHTTP2_DialErrorIsNoProofOfUnsent has net/http dial once more for a write that was applied.
// The dial fails, and does not show that the write was not sent.
func TestHTTP2_DialErrorIsNoProofOfUnsent(t *testing.T) {
	endings := []h2peer.Ending{
		{At: h2peer.Applied, Do: h2peer.GoAway},
		{At: h2peer.Applied, Do: h2peer.GoAwayClose},
		{At: h2peer.Applied, Do: h2peer.ResetStream, Code: http2.ErrCodeProtocol},
	}
	s := openSocketService(t, len(endings))
	for _, ending := range endings {
		t.Run(ending.String(), func(t *testing.T) {
			peer := s.http2Peer(t, ending)
			for _, call := range s.writes {
				transport := peer.Transport()
				var dials atomic.Int32
				transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					if dials.Add(1) == 2 {
						return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
					}
					return new(net.Dialer).DialContext(ctx, network, address)
				}
				trial := &trial{call: call(), ending: ending, faults: 1}
				s.start(t, trial)

				err := trial.run(t.Context(), socketClient(t, peer.URL(), transport))

				trial.assertReport(t, err)
				assert.ErrorIs(t, err, client.ErrOutcomeUnknown, trial)
				assert.EqualValues(t, 1, trial.seen.Load(), trial)
				transport.CloseIdleConnections()
			}
		})
	}
	s.assertApplied(t)
}

// TestHTTP2_BrokenConnectionIsReportedCorrectly has writes meet servers that end a connection before
// they read anything.
func TestHTTP2_BrokenConnectionIsReportedCorrectly(t *testing.T) {
	for what, greet := range map[string]func(net.Conn){
		"close": func(conn net.Conn) {},
		"HTTP/1": func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
		},
		"GOAWAY":        func(conn net.Conn) { _ = http2.NewFramer(conn, nil).WriteGoAway(0, http2.ErrCodeNo, nil) },
		"SETTINGS only": func(conn net.Conn) { _ = http2.NewFramer(conn, nil).WriteSettings() },
	} {
		t.Run(what, func(t *testing.T) {
			s := openSocketService(t, 1)
			server, config := h2peer.TLS()
			server.NextProtos = []string{"h2"}
			listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
			require.NoError(t, err)
			var accepting sync.WaitGroup
			accepting.Go(func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					if conn.(*tls.Conn).HandshakeContext(t.Context()) == nil {
						greet(conn)
					}
					_ = conn.Close()
				}
			})
			transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
			c := socketClient(t, "https://"+listener.Addr().String(), transport)
			for _, call := range s.writes {
				trial := &trial{call: call(), ending: h2peer.Close}
				s.start(t, trial)
				err := trial.run(t.Context(), c)
				assert.Error(t, err)
				trial.assertReport(t, err)
			}
			transport.CloseIdleConnections()
			require.NoError(t, listener.Close())
			accepting.Wait()
			s.assertApplied(t)
		})
	}
}

// blockingConn is a connection whose writes do not return once it is armed, although they arrive.
type blockingConn struct {
	net.Conn
	armed   *atomic.Bool
	release chan struct{}
}

// Write implements [net.Conn].
func (c *blockingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if c.armed.Load() {
		<-c.release
	}
	return n, err
}

// TestHTTP2_UnreportedWriteIsNoProofOfUnsent has writes arrive and be applied while net/http is
// still writing them, so that it has not yet reported that their headers are written when the
// caller goes away.
func TestHTTP2_UnreportedWriteIsNoProofOfUnsent(t *testing.T) {
	ending := h2peer.Ending{At: h2peer.Applied, Do: h2peer.Stall}
	s := openSocketService(t, 1)
	peer := s.http2Peer(t, ending)
	for _, op := range []gen.OperationID{gen.OpDeactivateListing, gen.OpDeleteListing} {
		t.Run(string(op), func(t *testing.T) {
			var armed atomic.Bool
			release := make(chan struct{})
			transport := peer.Transport()
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				return &blockingConn{conn, &armed, release}, err
			}
			c := socketClient(t, peer.URL(), transport)
			require.NoError(t, s.reads[gen.OpGetListing]().typed(t.Context(), c))
			armed.Store(true)
			trial := &trial{call: s.writes[op](), ending: ending, faults: 1}
			s.start(t, trial)

			err := trial.run(t.Context(), c)

			trial.assertReport(t, err)
			assert.ErrorIs(t, err, client.ErrOutcomeUnknown)
			armed.Store(false)
			close(release)
			transport.CloseIdleConnections()
		})
	}
	s.assertApplied(t)
}
