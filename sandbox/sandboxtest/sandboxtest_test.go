package sandboxtest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

var listing = gen.CreateListingRequest{VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: "200"}

// transports are the functions that start a sandbox. Tests must not be able to distinguish them.
func transports() map[string]func(testing.TB, ...func(*sandbox.Options)) *sandboxtest.Market {
	return map[string]func(testing.TB, ...func(*sandbox.Options)) *sandboxtest.Market{
		"socket": sandboxtest.New, "in process": sandboxtest.NewInProcess,
	}
}

func TestMarket_SellsOverBothTransports(t *testing.T) {
	for name, start := range transports() {
		t.Run(name, func(t *testing.T) {
			m := start(t)
			c := m.Client()
			op, err := c.Listings.Create(t.Context(), listing)
			require.NoError(t, err)
			require.NoError(t, m.Work(t.Context()))
			_, err = m.Buy(t.Context(), op.ListingID())
			require.NoError(t, err)
			sold, err := c.Listings.Get(t.Context(), op.ListingID())
			require.NoError(t, err)
			assert.Equal(t, "MATCHED", string(sold.Status))
			assert.Equal(t, sandbox.Counters{"CreateListing": {201: 1}, "GetListing": {200: 1}},
				m.Counters())
		})
	}
}

func TestMarket_LostResponseIsAnUnknownOutcome(t *testing.T) {
	for name, start := range transports() {
		for _, applied := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				m := start(t)
				c := m.Client()
				require.NoError(t, m.Fail(sandbox.Fault{
					Operation: "CreateListing", Kind: sandbox.FaultLost, Applied: applied,
				}))
				_, err := c.Listings.Create(t.Context(), listing)
				require.ErrorIs(t, err, client.ErrOutcomeUnknown)
				page, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
				require.NoError(t, err)
				assert.Len(t, page.Listings, map[bool]int{true: 1, false: 0}[applied],
					"applied: %t", applied)
				assert.Equal(t, map[int]int{0: 1}, m.Counters()["CreateListing"])
			})
		}
	}
}

// The delay is an hour, which the test does not wait for.
func TestMarket_CountsClientsThatDisconnectDuringADelay(t *testing.T) {
	for name, start := range transports() {
		for _, row := range []struct {
			applied, known bool
			made           int
			why            string
		}{
			{false, true, 0, "the handler is not called if the client is gone"},
			{true, true, 1, "the handler was called before"},
			{true, false, 0, "the call was refused before its body was read"},
		} {
			t.Run(name+": "+row.why, func(t *testing.T) {
				m := start(t)
				require.NoError(t, m.Fail(sandbox.Fault{
					Operation: "CreateListing", Kind: sandbox.FaultDelay, Delay: time.Hour,
					Applied: row.applied,
				}))
				ctx, disconnect := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- create(ctx, m, row.known) }()
				require.Eventually(t, func() bool { return len(m.Faults()) == 0 }, 10*time.Second, time.Millisecond)
				disconnect()
				require.ErrorIs(t, <-ended, context.Canceled)
				counted := func() bool { return m.Counters()["CreateListing"][0] == 1 }
				require.Eventually(t, counted, 10*time.Second, time.Millisecond)
				page, err := m.Client().Listings.ListPage(t.Context(), client.ListingFilter{})
				require.NoError(t, err)
				assert.Len(t, page.Listings, row.made)
			})
		}
	}
}

// create creates a listing, with an API key or without.
func create(ctx context.Context, m *sandboxtest.Market, known bool) error {
	body := strings.NewReader(`{"variantId":"` + listing.VariantID + `","amount":"200"}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+"/selling/listings", body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+m.Token())
	r.Header.Set("Content-Type", "application/json")
	if known {
		r.Header.Set("x-api-key", m.APIKey())
	}
	resp, err := m.HTTPClient().Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func TestMarket_ClosesDespiteADelayedCall(t *testing.T) {
	for name, start := range transports() {
		ended := make(chan error, 1)
		t.Run(name, func(t *testing.T) {
			m := start(t)
			require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultDelay, Delay: time.Hour}))
			go func() { ended <- create(context.WithoutCancel(t.Context()), m, true) }()
			require.Eventually(t, func() bool { return len(m.Faults()) == 0 }, 10*time.Second, time.Millisecond)
		})
		require.Error(t, <-ended, "%s: the connection is closed", name)
	}
}

func TestMarket_HeadHasNoBody(t *testing.T) {
	for name, start := range transports() {
		m := start(t)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, strings.TrimSuffix(m.URL, sandbox.BasePath)+sandbox.HealthPath, nil)
		require.NoError(t, err)
		resp, err := m.HTTPClient().Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Empty(t, body, name)
		assert.Equal(t, http.StatusOK, resp.StatusCode, name)
	}
}

func TestTransport_DelaysByTheClockOfTheBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t)
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultDelay, Delay: time.Hour, Times: 2}))
		start := time.Now()
		c := m.Client()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := c.Listings.Create(ctx, listing)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 10*time.Second, time.Since(start),
			"the client does not wait for the sandbox")
		synctest.Wait()
		assert.Equal(t, map[int]int{0: 1}, m.Counters()["CreateListing"],
			"the sandbox gives up the request")
	})
}

func TestMarket_InProcessReachesNoOtherHost(t *testing.T) {
	m := sandboxtest.NewInProcess(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://elsewhere.invalid/v2", nil)
	require.NoError(t, err)
	_, err = m.HTTPClient().Do(r) //nolint:bodyclose // there is no response
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func TestMarket_ChangesOptions(t *testing.T) {
	m := sandboxtest.New(t, func(o *sandbox.Options) { o.APIKey, o.Manual = "mine", true })
	assert.Equal(t, "mine", m.APIKey())
	op, err := m.Client().Listings.Create(t.Context(), listing)
	require.NoError(t, err)
	got, err := m.Client().Listings.Get(t.Context(), op.ListingID())
	require.NoError(t, err)
	assert.Equal(t, "INACTIVE", string(got.Status), "the work is manual")
}

// In the bubble only pauses take time. With the default quota and pauses it is half a minute.
func TestMarket_ClientDoesNotSlowDownATest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sandboxtest.NewInProcess(t).Client()
		begin := time.Now()
		makeThirty(t, c)
		assert.Less(t, time.Since(begin), time.Second)
	})
}

// makeThirty creates thirty listings one by one.
func makeThirty(tb testing.TB, c *client.Client) {
	tb.Helper()
	for range 30 {
		op, err := c.Listings.Create(tb.Context(), listing)
		require.NoError(tb, err)
		_, err = op.Wait(tb.Context())
		require.NoError(tb, err)
	}
}

func TestMarket_ClientTakesOptions(t *testing.T) {
	m := sandboxtest.New(t)
	c := m.Client(client.WithQuota(quota.Public), client.WithToken("another-token"))
	states, err := c.RemainingQuota(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, states)
	_, err = c.Listings.ListPage(t.Context(), client.ListingFilter{})
	require.ErrorIs(t, err, client.ErrUnauthorized)
}
