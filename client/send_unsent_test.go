package client_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestAWriteThroughATransportThatReportsNothingIsNeverRepeated(t *testing.T) {
	sent := 0
	c, err := client.New(
		client.WithBaseURL("https://api.example.com/v2"), client.WithAPIKey("key"), client.WithToken("token"),
		client.WithQuota(quota.Unlimited), client.WithRetry(client.RetryPolicy{MinDelay: time.Millisecond}),
		client.WithHTTPClient(&http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			sent++
			_, _ = io.Copy(io.Discard, r.Body)
			return nil, errors.New("connection reset after send")
		})}))
	require.NoError(t, err)

	_, err = c.Batches.Create(t.Context(), []gen.CreateItem{{VariantID: "v", Amount: "162", Quantity: 1}})

	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Equal(t, 1, sent)
}
