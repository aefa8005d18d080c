package sandboxtest_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// refreshing returns a client that refreshes its access token.
func refreshing(
	t *testing.T, m *sandboxtest.Market, refreshToken string, onRotate func(context.Context, string) error,
) *client.Client {
	t.Helper()
	source, err := token.NewRefreshSource(token.RefreshConfig{
		TokenURL: m.TokenURL, ClientID: "test", Audience: "gateway.example.com", RefreshToken: refreshToken,
		HTTPClient: m.HTTPClient(), OnRotate: onRotate,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	c, err := client.New(
		client.WithBaseURL(m.URL), client.WithHTTPClient(m.HTTPClient()),
		client.WithAPIKey(m.APIKey()), client.WithTokenSource(source), client.WithQuota(quota.Unlimited),
	)
	require.NoError(t, err)
	return c
}

func read(t *testing.T, c *client.Client) error {
	t.Helper()
	_, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
	return err
}

func TestRefresh_AfterA401(t *testing.T) {
	m := sandboxtest.New(t)
	c := refreshing(t, m, m.RefreshToken(), nil)
	require.NoError(t, read(t, c))
	require.NoError(t, read(t, c))
	assert.Equal(t, 1, m.Counters().Of("token"), "one token is enough")
	// The clock of the client does not advance.
	require.NoError(t, m.Advance(t.Context(), 12*time.Hour+time.Second))
	require.NoError(t, read(t, c))
	assert.Equal(t, map[int]int{200: 2}, m.Counters()["token"])
	assert.Equal(t, map[int]int{200: 3, 401: 1}, m.Counters()["ListListings"],
		"one call was refused and repeated")
}

func TestRefresh_AfterA401WithANewToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where both grants are in the same second
		m := sandboxtest.NewInProcess(t)
		c := refreshing(t, m, m.RefreshToken(), nil)
		require.NoError(t, m.Fail(sandbox.Fault{
			Operation: "ListListings", Kind: sandbox.FaultStatus, Status: http.StatusUnauthorized,
		}))
		require.NoError(t, read(t, c))
		assert.Equal(t, sandbox.Counters{"ListListings": {200: 1, 401: 1}, "token": {200: 2}}, m.Counters())
	})
}

func TestRefresh_BeforeTheTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t)
		c := refreshing(t, m, m.RefreshToken(), nil)
		for range 4 {
			require.NoError(t, read(t, c))
			<-time.After(12*time.Hour - time.Minute)
		}
		assert.Zero(t, m.Counters()["ListListings"][401])
		assert.Equal(t, 4, m.Counters().Of("token"))
	})
}

func TestRefresh_WithRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.RotateRefreshTokens = true })
		first := m.RefreshToken()
		var saved []string
		c := refreshing(t, m, first, func(_ context.Context, refreshToken string) error {
			saved = append(saved, refreshToken)
			return nil
		})
		for range 3 {
			require.NoError(t, read(t, c))
			<-time.After(12 * time.Hour)
		}
		require.Len(t, saved, 3)
		assert.Equal(t, m.RefreshToken(), saved[2])
		require.ErrorIs(t, read(t, refreshing(t, m, first, nil)), token.ErrReauthRequired,
			"the old one is not valid")
	})
}

func TestRefresh_AfterAFailedGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t)
		c := refreshing(t, m, m.RefreshToken(), nil)
		require.NoError(t, m.Fail(sandbox.Fault{Operation: "token", Kind: sandbox.FaultHTML, Status: 503}))
		require.ErrorContains(t, read(t, c), "503")
		require.NoError(t, read(t, c), "after a pause")
	})
}
