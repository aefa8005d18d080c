package client_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// countingClient returns a client of a server, and how many bytes it has read off its connections.
func countingClient(t *testing.T, handler http.Handler) (*client.Client, *atomic.Int64) {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	read := new(atomic.Int64)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &countedConn{conn, read}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(client.WithBaseURL(srv.URL+"/v2"), client.WithAPIKey(clienttest.APIKey), client.WithToken(clienttest.Token),
		client.WithQuota(quota.Unlimited), client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return c, read
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

// Read implements [net.Conn].
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}
