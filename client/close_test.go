package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
)

func TestClose_RefusesCalls(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess()) // which fails the test if a request comes
	c := srv.Client(client.WithMiddleware(func(client.Doer) client.Doer {
		return client.DoerFunc(func(*http.Request) (*http.Response, error) {
			t.Error("a call has passed the closed client")
			return nil, http.ErrNotSupported
		})
	}))
	batch, operation := c.Batches.ResumeCreate(batchID), c.Listings.Operation(listingID, operationID)
	var closing sync.WaitGroup
	for range 8 {
		closing.Go(func() { assert.NoError(t, c.Close()) })
	}
	closing.Wait()
	require.NoError(t, c.Close())

	for what, call := range map[string]func(context.Context) error{
		"a read":              func(ctx context.Context) error { return readCall.do(ctx, c) },
		"a write":             func(ctx context.Context) error { return writeCall.do(ctx, c) },
		"a wait for a batch":  func(ctx context.Context) error { return failure(batch.Wait(ctx)) },
		"a wait for a change": func(ctx context.Context) error { return failure(operation.Wait(ctx)) },
		"a raw call": func(ctx context.Context) error {
			_, err := c.Raw().GetListing(ctx, listingID) //nolint:bodyclose // there is no response
			return err
		},
		"a list": func(ctx context.Context) error {
			for _, err := range c.Listings.List(ctx, client.ListingFilter{}) {
				return err
			}
			return nil
		},
	} {
		err := call(t.Context())
		require.ErrorIs(t, err, client.ErrClosed, what)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, what)
	}
	require.NoError(t, new(client.Client).Close(), "the zero Client has nothing to close")
}

func assertConnections(t *testing.T, service *pipeService, open, opened int, why string) {
	t.Helper()
	gotOpen, gotOpened := service.connections()
	assert.Equal(t, [2]int{open, opened}, [2]int{gotOpen, gotOpened}, why)
}

func TestClose_ClosesIdleConnections(t *testing.T) {
	for why, opts := range map[string][]client.Option{
		"the client made the transport":         nil,
		"the HTTP client was given without one": {client.WithHTTPClient(&http.Client{Timeout: time.Minute})},
	} {
		overBoth(t, serveExample, func(t *testing.T, service *pipeService) {
			service.useByDefault(t)
			c := newClient(t, service.URL, opts...)
			require.NoError(t, readCall.do(t.Context(), c))
			assertConnections(t, service, 1, 1, why)
			require.NoError(t, c.Close())
			assertConnections(t, service, 0, 1, why)
		})
	}
}

func TestClose_KeepsGivenTransportAndSource(t *testing.T) {
	overBoth(t, serveExample, func(t *testing.T, service *pipeService) {
		transport := service.transport()
		defer transport.CloseIdleConnections()
		source := &closableSource{}
		c := newClient(t, service.URL, client.WithHTTPClient(&http.Client{Transport: transport}),
			client.WithTokenSource(source))
		require.NoError(t, readCall.do(t.Context(), c))
		require.NoError(t, c.Close())
		assert.False(t, source.closed)
		assertConnections(t, service, 1, 1, "another client may use the connection")
	})
}

// closableSource is a token source that can be closed.
type closableSource struct {
	countingSource
	closed bool
}

func (s *closableSource) Close() error { s.closed = true; return nil }

func TestClose_LetsAttemptEnd(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		<-time.After(5 * time.Second)
		serveExample(w, r)
	}
	overBoth(t, slow, func(t *testing.T, service *pipeService) {
		service.useByDefault(t)
		c := newClient(t, service.URL)
		time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
		start := time.Now()
		require.NoError(t, readCall.do(t.Context(), c), "the attempt ends by itself")
		assert.Equal(t, 5*time.Second, time.Since(start))
		assertConnections(t, service, 0, 1, "the connection is closed when the attempt ends")
	})
}

func TestClose_LetsDocumentEnd(t *testing.T) {
	const half = 100 << 10
	slow := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF-1.7"+strings.Repeat(" ", half-8))
		_ = http.NewResponseController(w).Flush()
		<-time.After(5 * time.Second)
		_, _ = w.Write(make([]byte, half))
	}
	overBoth(t, slow, func(t *testing.T, service *pipeService) {
		service.useByDefault(t)
		c := newClient(t, service.URL)
		document, err := c.Orders.DownloadShippingDocument(t.Context(), "1-1", "2-2")
		require.NoError(t, err)
		require.NoError(t, c.Close())
		n, err := io.Copy(io.Discard, document)
		require.NoError(t, err)
		assert.EqualValues(t, 2*half, n)
		require.NoError(t, document.Close())
		assertConnections(t, service, 0, 1, "the connection is closed with the document")
	})
}

func TestClose_EndsRetries(t *testing.T) {
	for _, call := range []testCall{readCall, writeCall} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).RespondError(http.StatusTooManyRequests, "slow down").
				Header("Retry-After", "7")
			c := srv.Client()
			time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
			err := call.do(t.Context(), c)
			require.ErrorIs(t, err, client.ErrClosed)
			require.ErrorIs(t, err, client.ErrRateLimited, "the last response is kept")
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
		})
	}
}

func TestClose_EndsWaitForToken(t *testing.T) {
	never := make(chan struct{})
	for why, source := range map[string]oauth2.TokenSource{
		"a source without a context": sourceFunc(func() (*oauth2.Token, error) { <-never; return nil, errors.New("too late") }),
		"a source with a context": contextSource(func(ctx context.Context) (*oauth2.Token, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	} {
		synctest.Test(t, func(t *testing.T) {
			never = make(chan struct{})
			srv := clienttest.New(t, clienttest.InProcess())
			c := srv.Client(client.WithTokenSource(source))
			start := time.Now()
			time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
			err := writeCall.do(t.Context(), c)
			require.ErrorIs(t, err, client.ErrClosed, why)
			assert.False(t, isA[*token.Error](err), why)
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, why)
			assert.Equal(t, time.Second, time.Since(start), why)
			close(never) // ends the goroutine that asks the source
		})
	}
}

func TestClose_IsSafeBesideCalls(t *testing.T) {
	var served, ok atomic.Int32
	handler := func(w http.ResponseWriter, r *http.Request) {
		<-time.After(time.Duration(served.Add(1)) * time.Millisecond)
		serveExample(w, r)
	}
	overBoth(t, handler, func(t *testing.T, service *pipeService) {
		served.Store(0)
		ok.Store(0)
		service.useByDefault(t)
		c := newClient(t, service.URL)
		time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
		var calls sync.WaitGroup
		for range 16 {
			calls.Go(func() {
				for {
					if err := readCall.do(t.Context(), c); err != nil {
						assert.ErrorIs(t, err, client.ErrClosed)
						return
					}
					ok.Add(1)
				}
			})
		}
		calls.Wait()
		assert.Greater(t, ok.Load(), int32(16))
		assert.Equal(t, ok.Load(), served.Load(), "every request that was sent got its response")
		open, _ := service.connections()
		assert.Zero(t, open)
	})
}
