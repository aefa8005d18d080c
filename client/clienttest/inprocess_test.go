package clienttest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// traced makes the request count as sent in the test's eyes once its headers are written.
func traced(r *http.Request, sent *bool) *http.Request {
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteHeaders: func() { *sent = true },
	}))
}

func TestInProcessSendsNothingForADeadContext(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller thought better of it")
	cancel(why)
	var sent bool
	_, err := srv.HTTPClient().Do(traced(request(t, srv, http.MethodGet, listing, "").WithContext(ctx), &sent)) //nolint:bodyclose // there is no response
	require.ErrorIs(t, err, why)
	assert.False(t, sent)
}

func TestInProcessRefusesConnections(t *testing.T) {
	t.Run("to another host", func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		r := request(t, srv, http.MethodGet, listing, "")
		r.URL.Host = "elsewhere.invalid"
		var sent bool
		_, err := srv.HTTPClient().Do(traced(r, &sent)) //nolint:bodyclose // there is no response
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.False(t, sent)
	})
	t.Run("after the test", func(t *testing.T) {
		v := &verdict{TB: t}
		srv := clienttest.New(v, clienttest.InProcess())
		require.Empty(t, v.end())
		_, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, "")) //nolint:bodyclose // there is no response
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

// closer is a request body that knows whether it was closed, as a transport must.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error {
	c.closed = true
	return nil
}

func TestInProcessClosesTheRequestBody(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(gen.OpUpdateListing).BodyJSON(`{"amount":"162"}`).RespondExample()
	r := request(t, srv, http.MethodPatch, listing, `{"amount":"162"}`)
	body := &closer{Reader: bytes.NewReader([]byte(`{"amount":"162"}`))}
	r.Body = body
	send(t, srv, r)
	assert.True(t, body.closed)
}

func TestInProcessBodiesCannotBeReadAfterTheContext(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(gen.OpGetListing).RespondExample()
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, "").WithContext(ctx))
	require.NoError(t, err)
	defer resp.Body.Close()
	cancel()
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAnUnfinishedBodyIsABrokenConnection(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Raw(http.StatusOK, http.Header{"Content-Length": {"10"}}, []byte("{}"), "cut after two bytes")
			resp, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, ""))
			require.NoError(t, err)
			defer resp.Body.Close()
			_, err = io.ReadAll(resp.Body)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		})
	}
}
