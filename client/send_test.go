package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// drip is a body that yields one byte at a time and never ends, until its request does.
type drip struct {
	ctx   context.Context //nolint:containedctx // a body belongs to the request whose context this is
	every time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(d.every):
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (*drip) Close() error { return nil }

// drippingClient returns a client of a service whose answers never end.
func drippingClient(t *testing.T, status int, every time.Duration, opts ...client.Option) *client.Client {
	t.Helper()
	srv := clienttest.New(t, clienttest.InProcess())
	transport := transportFunc(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).WroteHeaders()
		return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: &drip{r.Context(), every}}, nil
	})
	return srv.Client(append(opts, client.WithHTTPClient(&http.Client{Transport: transport}))...)
}

func TestTheAttemptTimeoutCoversTheBody(t *testing.T) {
	for _, tc := range []struct {
		call     aCall
		attempts int
		unknown  bool
		why      string
	}{
		{aRead, 4, false, "a body that does not end is retried like one that broke off"},
		{aWrite, 1, true, "a write has been applied"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			err := tc.call.do(t.Context(), drippingClient(t, http.StatusOK, 10*time.Second, client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1})))
			require.True(t, isA[*client.DecodeError](err), "%v", err)
			assert.Equal(t, tc.unknown, infoOf(t, err).OutcomeUnknown, tc.why)
			assert.Equal(t, tc.attempts, infoOf(t, err).Attempts, tc.why)
			assert.Equal(t, time.Duration(tc.attempts)*30*time.Second, time.Since(start), "30 s an attempt, though bytes kept coming")
		})
	}
}

func TestTheStatusOfAnErrorOutlivesItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := aWrite.do(t.Context(), drippingClient(t, http.StatusConflict, time.Second))
		require.ErrorIs(t, err, client.ErrConflict, "a body that does not end hides no status")
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	})
}

// closing notes whether a body was closed.
type closing struct {
	io.ReadCloser
	closed *int
}

func (c closing) Close() error {
	*c.closed++
	return c.ReadCloser.Close()
}

func TestEveryBodyIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(aRead.op).Disconnect(clienttest.MidBody, "a body that broke off")
		srv.Expect(aRead.op).RespondExample()
		closed := 0
		c := srv.Client(withTransport(srv, func(inner http.RoundTripper) transportFunc {
			return func(r *http.Request) (*http.Response, error) {
				resp, err := inner.RoundTrip(r)
				if err == nil {
					resp.Body = closing{resp.Body, &closed}
				}
				return resp, err
			}
		}))
		require.NoError(t, aRead.do(t.Context(), c))
		assert.Equal(t, 3, closed)
	})
}

func TestBodiesAreBoundedAfterDecompression(t *testing.T) {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = zip.Write(make([]byte, 16<<20+1))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	defer srv.Close()
	err = aRead.do(t.Context(), clientOf(t, srv))
	require.ErrorIs(t, err, client.ErrBodyTooLarge, "%d bytes came over the wire", packed.Len())
	assert.Equal(t, 1, infoOf(t, err).Attempts, "it would be as large the next time")
}

func TestLow_ReportsThatAnErrorBodyIsNotWhole(t *testing.T) {
	srv := clienttest.New(t)
	c := srv.Client(oneAttempt)
	for _, tc := range []struct {
		script func(*clienttest.Expectation)
		length int
		want   error
		why    string
	}{
		{func(e *clienttest.Expectation) {
			e.Raw(http.StatusForbidden, nil, bytes.Repeat([]byte("x"), 64<<10), "as much as is kept")
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

func TestHugeErrorBodiesAreCut(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(gen.OpGetListing).Raw(http.StatusForbidden, nil, bytes.Repeat([]byte("x"), 1<<20), "a page of a mebibyte")
	_, err := srv.Client().Listings.Get(t.Context(), "98e2e748")
	var answered *client.APIError
	require.ErrorAs(t, err, &answered)
	assert.Len(t, answered.Body, 64<<10)
}

func TestAttempt_TakesAWholeBodyThoughTheConnectionBroke(t *testing.T) {
	for _, tc := range []struct {
		body    string
		missing int
		whole   bool
		why     string
	}{
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"}`, 10, true, "the document is complete, whatever the header says"},
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"} ` + "\n", 1, true, "white space follows"},
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"`, 1, false, "a brace is missing"},
		{`{"listingId":"98e2e748-8000-45bf-a624-5531d6a68318","operationId":"o-1"} x`, 1, false, "something else follows"},
		{`7`, 1, false, "a number may go on"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(tc.body)+tc.missing))
			_, _ = io.WriteString(w, tc.body)
		}))
		op, err := clientOf(t, srv).Listings.Deactivate(t.Context(), "98e2e748-8000-45bf-a624-5531d6a68318")
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
