package change_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/change"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestStops_EndsARunThatCannotSucceed(t *testing.T) {
	status := func(code int) error { return &client.APIError{StatusCode: code} }
	for _, row := range []struct {
		err  error
		want bool
		why  string
	}{
		{status(http.StatusBadRequest), false, "another change may be valid"},
		{status(http.StatusNotFound), false, "another listing may exist"},
		{status(http.StatusConflict), false, "another listing may be in another state"},
		{status(http.StatusUnauthorized), true, "the credentials are those of all changes"},
		{status(http.StatusForbidden), true, "so is what they may do"},
		{status(http.StatusTooManyRequests), true, "the quota is that of the account"},
		{status(http.StatusServiceUnavailable), true, "the service has a problem"},
		{&client.TransportError{Err: errors.New("refused")}, true, "there is no connection"},
		{&client.ArgumentError{}, true, "the input is invalid, and nothing should be sent"},
		{change.ErrDryRun, false, "a dry run shows all requests"},
	} {
		assert.Equal(t, row.want, change.Stops(t.Context(), row.err) != nil, row.why)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	assert.ErrorIs(t, change.Stops(ctx, status(http.StatusNotFound)), context.Canceled)
}

// settings returns the settings for a market, and the ids of active listings.
func settings(t *testing.T, listings int) (change.Settings, *sandboxtest.Market, []string) {
	t.Helper()
	m := sandboxtest.New(t)
	ids, err := m.AddListings(t.Context(), listings, sandbox.Listing{VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: "162"})
	require.NoError(t, err)
	return change.Settings{
		Client: m.Client(), Settle: 50 * time.Millisecond, Log: func(string, ...any) {},
	}, m, ids
}

func TestSettings_ReportBatchesThatAreNotWaitedFor(t *testing.T) {
	s, _, ids := settings(t, 2)
	s.NoWait = true
	var results []change.Result
	require.NoError(t, s.Delete(t.Context(), ids, func(r change.Result) error {
		results = append(results, r)
		return nil
	}))
	require.Len(t, results, 2)
	for i, r := range results {
		assert.Equal(t, ids[i], r.ListingID)
		assert.Equal(t, change.Submitted, r.Status)
		assert.Contains(t, r.Error, "sellside batches wait "+r.BatchID+" --kind delete", "what to do")
	}
}

// TestSettings_NeverReportALostBatchAsFailed loses a batch that was applied, and what could be read
// about it.
func TestSettings_NeverReportALostBatchAsFailed(t *testing.T) {
	s, m, ids := settings(t, 2)
	require.NoError(t, m.Fail(sandbox.Fault{
		Operation: string(gen.OpDeleteListingsBatch), Kind: sandbox.FaultStatus, Status: http.StatusBadGateway, Applied: true,
	}))
	require.NoError(t, m.Fail(sandbox.Fault{
		Operation: string(gen.OpListListingOperations), Kind: sandbox.FaultStatus, Status: http.StatusForbidden, Times: 100,
	}))
	var statuses []change.Status
	err := s.Delete(t.Context(), ids, func(r change.Result) error {
		statuses = append(statuses, r.Status)
		return nil
	})
	require.ErrorIs(t, err, client.ErrForbidden)
	assert.Equal(t, []change.Status{change.Unknown, change.Unknown}, statuses)
	assert.Equal(t, 1, m.Counters().Of(string(gen.OpDeleteListingsBatch)), "sent once")
}

func TestSettings_FindAListingByItsExpiry(t *testing.T) {
	s, m, _ := settings(t, 3) // others of the same terms, but for their expiry
	s.Settle = time.Minute
	require.NoError(t, m.Fail(sandbox.Fault{
		Operation: string(gen.OpCreateListing), Kind: sandbox.FaultLost, Applied: true,
	}))
	result, err := s.Create(t.Context(), gen.CreateListingRequest{
		VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: "162", CurrencyCode: "USD",
	})
	require.NoError(t, err)
	assert.Equal(t, change.Succeeded, result.Status, result.Error)
	listing, err := s.Client.Listings.Get(t.Context(), result.ListingID)
	require.NoError(t, err)
	days := time.Until(listing.Ask.AskExpiresAt.Time).Hours() / 24
	assert.Less(t, days, 998.0, "not one of the others, which end in 999 days")
}
