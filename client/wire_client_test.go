package client_test

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// wireClient returns a client with connections of its own, and what closes them.
func wireClient(t *testing.T, serverURL string, policy client.RetryPolicy, opts ...client.Option) (*client.Client, func()) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	c, err := client.New(append([]client.Option{client.WithDefaults(
		client.WithBaseURL(serverURL+"/v2"), client.WithAPIKey(clienttest.APIKey), client.WithToken(clienttest.Token),
		client.WithQuota(quota.Unlimited), client.WithHTTPClient(&http.Client{Transport: transport}), client.WithRetry(policy),
	)}, opts...)...)
	require.NoError(t, err)
	return c, transport.CloseIdleConnections
}

// twoTokens has the token that the sandbox accepts once the first is refused.
type twoTokens struct{ refused atomic.Bool }

func (s *twoTokens) Token() (*oauth2.Token, error) {
	if s.refused.Load() {
		return &oauth2.Token{AccessToken: clienttest.Token}, nil
	}
	return &oauth2.Token{AccessToken: "a-token-of-yesterday"}, nil
}

// Invalidate is what the client looks for in a source that it may ask for another token.
func (s *twoTokens) Invalidate(string) { s.refused.Store(true) }

// wholeCalls is typedCalls with a document that is read to its end.
func wholeCalls(t *testing.T) map[gen.OperationID]func(context.Context, *client.Client) error {
	t.Helper()
	calls := typedCalls(t)
	calls[gen.OpGetShippingDocument] = func(ctx context.Context, c *client.Client) error {
		return readDocument(ctx, c, orderID, "SHP-2041")
	}
	return calls
}

func readDocument(ctx context.Context, c *client.Client, orderNumber, shippingID string) error {
	document, err := c.Orders.DownloadShippingDocument(ctx, orderNumber, shippingID)
	if err != nil {
		return err
	}
	defer document.Close()
	_, err = io.Copy(io.Discard, document)
	return err
}

// patience is the policy of calls over sockets: one retry is enough to see whether there is one. A Retry-After of 7 s
// is beyond it, so that it is returned at once instead of being waited for.
func patience(attemptTimeout time.Duration) client.RetryPolicy {
	return client.RetryPolicy{MaxAttempts: 2, MinDelay: time.Millisecond, MaxDelay: time.Millisecond, MaxRetryAfter: time.Second, AttemptTimeout: attemptTimeout}
}
