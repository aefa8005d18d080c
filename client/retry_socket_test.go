package client_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// These rows of the retry table depend on what net/http tells of a real connection.

// clientAt returns a client of an address, with made-up credentials and without a quota.
func clientAt(t *testing.T, address string, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(append([]client.Option{client.WithDefaults(
		client.WithBaseURL(address+"/v2"), client.WithAPIKey("key-of-the-test"), client.WithToken("token-of-the-test"),
		client.WithQuota(quota.Unlimited), brisk,
	)}, opts...)...)
	require.NoError(t, err)
	return c
}

// clientOf returns a client of a server that is not scripted.
func clientOf(t *testing.T, srv *httptest.Server, opts ...client.Option) *client.Client {
	t.Helper()
	return clientAt(t, srv.URL, append([]client.Option{client.WithHTTPClient(srv.Client())}, opts...)...)
}

func TestARefusedConnectionIsRetried(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	for _, call := range []aCall{aRead, aWrite} {
		err := call.do(t.Context(), clientAt(t, "http://"+listener.Addr().String()))
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nobody was there")
		assert.Equal(t, 4, infoOf(t, err).Attempts)
	}
}

func TestAFailedHandshakeIsRetried(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	for _, call := range []aCall{aRead, aWrite} {
		err := call.do(t.Context(), clientAt(t, srv.URL)) // which does not know the certificate
		require.True(t, isA[x509.UnknownAuthorityError](err), "%v", err)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "the request was not written")
		assert.Equal(t, 4, infoOf(t, err).Attempts)
	}
}

func TestABrokenConnectionIsRetriedForReadsOnly(t *testing.T) {
	for _, when := range []clienttest.Moment{clienttest.BeforeHeaders, clienttest.MidBody} {
		srv := clienttest.New(t)
		srv.Expect(aRead.op).Disconnect(when, "the network fails")
		srv.Expect(aRead.op).RespondExample()
		require.NoError(t, aRead.do(t.Context(), srv.Client(brisk)))

		srv.Expect(aWrite.op).Disconnect(when, "the network fails")
		err := aWrite.do(t.Context(), srv.Client(brisk))
		require.ErrorIs(t, err, client.ErrOutcomeUnknown)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Len(t, srv.Requests(aWrite.op), 1)
	}
}

func TestACancelOverASocketReachesTheService(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		arrived, gone := make(chan struct{}), make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(arrived)
			<-r.Context().Done()
			close(gone)
		}))
		defer srv.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		err := call.do(ctx, clientOf(t, srv))
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, call.op == aWrite.op, errors.Is(err, client.ErrOutcomeUnknown))
		<-gone
	}
}
