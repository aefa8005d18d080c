package client_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// After 101 the connection belongs to another protocol: net/http takes its deadlines off, and whoever reads on waits
// for ever.
func TestAnAnswerThatSwitchesProtocolsIsAnErrorAndNotRead(t *testing.T) {
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
				_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n")
				_, _ = io.Copy(io.Discard, conn) // and says nothing more
			}()
		}
	}()
	c, err := client.New(
		client.WithBaseURL("http://"+l.Addr().String()), client.WithAPIKey("key"), client.WithToken("token"),
		client.WithQuota(quota.Unlimited), client.WithRetry(client.RetryPolicy{AttemptTimeout: 5 * time.Second}),
	)
	require.NoError(t, err)

	_, read := c.Listings.Get(t.Context(), "a")
	_, write := c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: "v", Amount: "1"})
	document, stream := c.Orders.DownloadShippingDocument(t.Context(), "323314425-323214184", "b")

	assert.Nil(t, document)
	for _, err := range []error{read, write, stream} {
		var answered *client.APIError
		require.ErrorAs(t, err, &answered)
		assert.Equal(t, http.StatusSwitchingProtocols, answered.StatusCode)
	}
	assert.NotErrorIs(t, read, client.ErrOutcomeUnknown)
	assert.ErrorIs(t, write, client.ErrOutcomeUnknown, "nobody knows what the other protocol made of it")
	assert.Len(t, requests, 3, "none is sent again")
}
