package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// slowBody is a body that yields one byte at a time until its request ends.
type slowBody struct {
	ctx   context.Context //nolint:containedctx // a body belongs to the request whose context this is
	every time.Duration
}

func (d *slowBody) Read(p []byte) (int, error) {
	select {
	case <-time.After(d.every):
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (*slowBody) Close() error { return nil }

// newSlowBodyClient returns a client of a service whose bodies do not end.
func newSlowBodyClient(t *testing.T, status int, every time.Duration, opts ...client.Option) *client.Client {
	t.Helper()
	srv := clienttest.New(t, clienttest.InProcess())
	transport := transportFunc(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).WroteHeaders()
		return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: &slowBody{r.Context(), every}}, nil
	})
	return srv.Client(append(opts, client.WithHTTPClient(&http.Client{Transport: transport}))...)
}

func TestSend_AttemptTimeoutCoversBody(t *testing.T) {
	for _, tc := range []struct {
		call     testCall
		attempts int
		unknown  bool
		why      string
	}{
		{readCall, 4, false, "a body without an end is retried like a cut one"},
		{writeCall, 1, true, "the write was applied"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			err := tc.call.do(t.Context(),
				newSlowBodyClient(t, http.StatusOK, 10*time.Second, client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1})))
			require.True(t, isA[*client.DecodeError](err), "%v", err)
			assert.Equal(t, tc.unknown, infoOf(t, err).OutcomeUnknown, tc.why)
			assert.Equal(t, tc.attempts, infoOf(t, err).Attempts, tc.why)
			assert.Equal(t, time.Duration(tc.attempts)*30*time.Second, time.Since(start),
				"30 s per attempt, although bytes arrive")
		})
	}
}

func TestSend_KeepsStatusOfErrorWithoutItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := writeCall.do(t.Context(), newSlowBodyClient(t, http.StatusConflict, time.Second))
		require.ErrorIs(t, err, client.ErrConflict, "the status is kept")
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	})
}

// closeCounter counts bodies that are closed.
type closeCounter struct {
	io.ReadCloser
	closed *int
}

func (c closeCounter) Close() error {
	*c.closed++
	return c.ReadCloser.Close()
}

func TestSend_ClosesEveryBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(readCall.op).Disconnect(clienttest.MidBody, "a body that broke off")
		srv.Expect(readCall.op).RespondExample()
		closed := 0
		c := srv.Client(withTransport(srv, func(inner http.RoundTripper) transportFunc {
			return func(r *http.Request) (*http.Response, error) {
				resp, err := inner.RoundTrip(r)
				if err == nil {
					resp.Body = closeCounter{resp.Body, &closed}
				}
				return resp, err
			}
		}))
		require.NoError(t, readCall.do(t.Context(), c))
		assert.Equal(t, 3, closed)
	})
}

func TestRaw_ReportsCutErrorBody(t *testing.T) {
	srv := clienttest.New(t)
	c := srv.Client(oneAttempt)
	for _, tc := range []struct {
		script func(*clienttest.Expectation)
		length int
		want   error
		why    string
	}{
		{func(e *clienttest.Expectation) {
			e.Raw(http.StatusForbidden, nil, bytes.Repeat([]byte("x"), 64<<10), "64 KiB")
		}, 64 << 10, nil, "whole"},
		{func(e *clienttest.Expectation) {
			e.Raw(http.StatusForbidden, nil, bytes.Repeat([]byte("x"), 64<<10+1), "a byte more")
		}, 64 << 10, client.ErrBodyTooLarge, "cut by the bound"},
	} {
		tc.script(srv.Expect(gen.OpGetListing))
		resp, err := c.Raw().GetListing(t.Context(), "98e2e748")
		require.NoError(t, err, tc.why)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		require.ErrorIs(t, err, tc.want, tc.why)
		assert.Len(t, body, tc.length, tc.why)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, tc.why)
	}
}

func TestSend_CutsLargeErrorBodies(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(gen.OpGetListing).
		Raw(http.StatusForbidden, nil, bytes.Repeat([]byte("x"), 1<<20), "a page of a mebibyte")
	_, err := srv.Client().Listings.Get(t.Context(), "98e2e748")
	var failed *client.APIError
	require.ErrorAs(t, err, &failed)
	assert.Len(t, failed.Body, 64<<10)
}

func TestSend_TakesWholeBodyOfBrokenConnection(t *testing.T) {
	for _, tc := range []struct {
		body    string
		missing int
		whole   bool
		why     string
	}{
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"}`, 10, true, "the document is complete"},
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"} ` + "\n", 1, true, "white space follows"},
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"`, 1, false, "a brace is missing"},
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"} x`, 1, false, "something else follows"},
		{`7`, 1, false, "a number may be cut"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(tc.body)+tc.missing))
			_, _ = io.WriteString(w, tc.body)
		}))
		op, err := newServerClient(t, srv).
			Listings.Deactivate(t.Context(), "98e2e748-8000-45bf-a624-5531d6a68318")
		srv.Close()
		if tc.whole {
			require.NoError(t, err, tc.why)
			assert.Equal(t, "o-1", op.ID(), tc.why)
			continue
		}
		require.ErrorIs(t, err, client.ErrOutcomeUnknown, tc.why)
		broken, ok := errors.AsType[*client.DecodeError](err)
		require.True(t, ok, tc.why)
		assert.Equal(t, tc.body, string(broken.Body), tc.why)
	}
}

// TestSend_SwitchingProtocolsIsAnError has a service switch protocols. net/http sets no deadline on
// such a connection, so that reading from it would block for ever.
func TestSend_SwitchingProtocolsIsAnError(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	requests := make(chan struct{}, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			requests <- struct{}{}
			go func() {
				defer conn.Close()
				_, _ = io.ReadAtLeast(conn, make([]byte, 4096), 16)
				_, _ = io.WriteString(conn,
					"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
				_, _ = io.Copy(io.Discard, conn) // and sends nothing more
			}()
		}
	}()
	c := newClient(t, "http://"+l.Addr().String(),
		client.WithRetry(client.RetryPolicy{AttemptTimeout: 5 * time.Second}))

	_, read := c.Listings.Get(t.Context(), "a")
	_, write := c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: "v", Amount: "1"})
	document, stream := c.Orders.DownloadShippingDocument(t.Context(), "323314425-323214184", "b")

	assert.Nil(t, document)
	for _, err := range []error{read, write, stream} {
		var failed *client.APIError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, http.StatusSwitchingProtocols, failed.StatusCode)
	}
	assert.NotErrorIs(t, read, client.ErrOutcomeUnknown)
	assert.ErrorIs(t, write, client.ErrOutcomeUnknown, "the other protocol may have applied the write")
	assert.Len(t, requests, 3, "no request is repeated")
}

func TestTransport_HTTPClientIsCopied(t *testing.T) {
	srv := httptest.NewServer(http.RedirectHandler("https://elsewhere.invalid/", http.StatusFound))
	defer srv.Close()
	asked := 0
	given := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { asked++; return nil }}
	require.Error(t, readCall.do(t.Context(), newClient(t, srv.URL, client.WithHTTPClient(given))))
	assert.Zero(t, asked, "the client has its own rule for redirects")
	assert.Nil(t, given.Transport)
	assert.Equal(t, time.Minute, given.Timeout)
	require.NoError(t, given.CheckRedirect(nil, nil))
	assert.Equal(t, 1, asked, "the given client keeps its rule")
}

func TestTransport_DefaultMayBeReplaced(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(readCall.op).RespondExample()
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = transportFunc(srv.HTTPClient().Transport.RoundTrip) // as tracers and mocks do
	require.NoError(t, readCall.do(t.Context(), srv.Client(client.WithHTTPClient(&http.Client{}))))
}

func TestTransport_KeepsConnectionsOfManyGoroutines(t *testing.T) {
	const goroutines, rounds = 64, 20
	var opened, closed atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(clienttest.ExampleOf(gen.OpGetListing))
	}))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened.Add(1)
		case http.StateClosed:
			closed.Add(1)
		default:
		}
	}
	srv.Start()
	defer srv.Close()
	c := newClient(t, srv.URL) // with its own transport
	var calls sync.WaitGroup
	for range goroutines {
		calls.Go(func() {
			for range rounds {
				assert.NoError(t, readCall.do(t.Context(), c))
			}
		})
	}
	calls.Wait()
	assert.LessOrEqual(t, closed.Load(), int32(goroutines/8),
		"net/http drops a connection only if its writer does not run for 50 ms")
	assert.LessOrEqual(t, opened.Load(), int32(2*goroutines),
		"net/http dials while it waits for a free connection, but not for each of %d requests",
		goroutines*rounds)
}

func TestTransport_DropsDeadHTTP2Connection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := startPipeService(t, true, serveExample)
		service.useByDefault(t)
		c := newClient(t, service.URL)
		require.NoError(t, readCall.do(t.Context(), c))
		require.Len(t, service.dialed, 1)

		service.dialed[0].dead.Store(true)
		start := time.Now()
		require.NoError(t, readCall.do(t.Context(), c), "the read is repeated on another connection")
		assert.GreaterOrEqual(t, time.Since(start), 15*time.Second,
			"10 s without a frame, and 5 s without one after a PING")
		assert.Less(t, time.Since(start), 16*time.Second, "before the attempt times out")
		require.Len(t, service.dialed, 2)
		assert.True(t, service.dialed[0].closed.Load())

		service.dialed[1].dead.Store(true)
		start = time.Now()
		require.ErrorIs(t, writeCall.do(t.Context(), c), client.ErrOutcomeUnknown)
		assert.Equal(t, 15*time.Second, time.Since(start))
		start = time.Now()
		require.NoError(t, writeCall.do(t.Context(), c), "the next write does not get the dead connection")
		assert.Zero(t, time.Since(start))
		assert.Len(t, service.dialed, 3)
		require.NoError(t, c.Close())
	})
}

func TestTransport_DropsIdleConnectionsBeforeServersDo(t *testing.T) {
	overBoth(t, serveExample, func(t *testing.T, service *pipeService) {
		service.useByDefault(t)
		require.NoError(t, readCall.do(t.Context(), newClient(t, service.URL)))
		<-time.After(29 * time.Second)
		assertConnections(t, service, 1, 1, "the connection may be used again")
		<-time.After(2 * time.Second)
		assertConnections(t, service, 0, 1, "the connection was idle for 30 s")
	})
}

func TestTransport_OfCallerIsNotChanged(t *testing.T) {
	overBoth(t, serveExample, func(t *testing.T, service *pipeService) {
		given := service.transport()
		defer given.CloseIdleConnections()
		c := newClient(t, service.URL, client.WithHTTPClient(&http.Client{Transport: given}))
		require.NoError(t, readCall.do(t.Context(), c))
		<-time.After(time.Hour)
		assertConnections(t, service, 1, 1,
			"the transport keeps idle connections as long as its owner wants")
		assert.Zero(t, given.IdleConnTimeout)
		assert.Zero(t, given.MaxIdleConnsPerHost)
		assert.Nil(t, given.HTTP2)
	})
}
