package client_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// throttle has a client answered 429 with a Retry-After of ten seconds, once.
func throttle(t *testing.T, srv *clienttest.Server, c *client.Client) {
	t.Helper()
	srv.Expect(aWrite.op).AnswerError(http.StatusTooManyRequests, "slow down").Header("Retry-After", "10")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // so that it does not wait itself
	defer cancel()
	require.ErrorIs(t, aWrite.do(ctx, c), client.ErrRateLimited)
}

func TestA429HoldsBackEveryGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		var mu sync.Mutex
		waits := 0
		c := srv.Client(client.WithObserver(func(e client.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Kind == client.EventWait {
				waits++
			}
		}))
		start := time.Now()
		throttle(t, srv, c)

		var arrivals clock
		srv.Expect(aRead.op).Times(8).Check(arrivals.tick).AnswerExample()
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() { assert.NoError(t, aRead.do(t.Context(), c)) })
		}
		calls.Wait()
		together := true
		for _, at := range arrivals.at {
			assert.GreaterOrEqual(t, at.Sub(start), 10*time.Second, "not before the service wants to be asked again")
			assert.LessOrEqual(t, at.Sub(start), 12*time.Second, "and not much later")
			together = together && at.Equal(arrivals.at[0])
		}
		assert.False(t, together, "they do not come back all at once")
		assert.Equal(t, 8, waits, "each is told of")
	})
}

func TestOneClientsGateIsNotAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		throttle(t, srv, srv.Client())
		srv.Expect(aRead.op).AnswerExample()
		start := time.Now()
		require.NoError(t, aRead.do(t.Context(), srv.Client()))
		assert.Zero(t, time.Since(start))
	})
}

func TestCooldown_LastsAsLongAsTheServiceAsked(t *testing.T) {
	for _, tc := range []struct {
		asked, want time.Duration
		why         string
	}{
		{10 * time.Second, 10 * time.Second, "seconds"},
		{2 * time.Hour, 2 * time.Hour, "longer than any call waits"},
		{48 * time.Hour, 24 * time.Hour, "a day at most"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			c := srv.Client()
			srv.Expect(aWrite.op).AnswerError(http.StatusTooManyRequests, "slow down").Header("Retry-After", strconv.Itoa(int(tc.asked.Seconds())))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // so that it does not wait itself
			defer cancel()
			require.ErrorIs(t, aWrite.do(ctx, c), client.ErrRateLimited)
			ends := time.Now().Add(tc.want)

			<-time.After(tc.want - 2*time.Second)
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			throttled, ok := errors.AsType[*client.ThrottledError](aRead.do(short, c))
			require.True(t, ok, tc.why)
			assert.Equal(t, ends, throttled.Until, tc.why)

			srv.Expect(aRead.op).AnswerExample()
			require.NoError(t, aRead.do(t.Context(), c), "what is left of it is short enough to wait for: %s", tc.why)
			assert.False(t, time.Now().Before(ends), tc.why)
		})
	}
}

func TestCooldown_LongerThanMaxRetryAfterFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithRetry(client.RetryPolicy{MaxRetryAfter: 8 * time.Second}))
		start := time.Now()
		throttle(t, srv, c)
		throttled, ok := errors.AsType[*client.ThrottledError](aRead.do(t.Context(), c))
		require.True(t, ok)
		assert.Equal(t, start.Add(10*time.Second), throttled.Until)
		assert.Zero(t, time.Since(start), "no deadline, and still no wait")
	})
}

func TestACallThatIsHeldBackObeysItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		throttle(t, srv, c)
		for _, call := range []aCall{aRead, aWrite} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(500*time.Millisecond, cancel)
			err := call.do(ctx, c)
			require.ErrorIs(t, err, context.Canceled)
			require.EqualError(t, err, string(call.op)+": not sent: context canceled")
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
			assert.Zero(t, infoOf(t, err).Attempts)
		}
	})
}

// meter is a limiter that lets everything pass and notes what it was asked for.
type meter struct {
	items []int
}

func (m *meter) Wait(_ context.Context, items int) error {
	m.items = append(m.items, items)
	return nil
}

func (*meter) CountsItems() bool { return true }

func TestEveryAttemptCountsWithItsListings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		m := &meter{}
		c := srv.Client(client.WithLimiter(m))
		srv.Expect(gen.OpCreateListingsBatch).AnswerError(http.StatusTooManyRequests, "slow down")
		srv.Expect(gen.OpCreateListingsBatch).AnswerExample()
		srv.Expect(gen.OpUpdateListingsBatch).AnswerExample()
		srv.Expect(gen.OpDeleteListingsBatch).AnswerExample()
		srv.Expect(aRead.op).AnswerExample()

		_, err := c.Batches.Create(t.Context(), []gen.CreateItem{{VariantID: "1", Amount: "162", Quantity: 2}, {VariantID: "2", Amount: "170", Quantity: 3}})
		require.NoError(t, err)
		_, err = c.Batches.Update(t.Context(), []gen.UpdateItem{{ListingID: "1", Amount: "160"}, {ListingID: "2", Amount: "160"}})
		require.NoError(t, err)
		_, err = c.Batches.Delete(t.Context(), []string{"1"})
		require.NoError(t, err)
		require.NoError(t, aRead.do(t.Context(), c))
		assert.Equal(t, []int{5, 5, 2, 1, 0}, m.items, "items are listings, and a repeated request is a request")
	})
}

func TestTheDefaultQuotaIsThePublicOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c, err := client.New(client.WithBaseURL(srv.BaseURL()), client.WithHTTPClient(srv.HTTPClient()),
			client.WithAPIKey(clienttest.APIKey), client.WithToken(clienttest.Token))
		require.NoError(t, err)
		var arrivals clock
		srv.Expect(aRead.op).Times(3).Check(arrivals.tick).AnswerExample()
		for range 3 {
			require.NoError(t, aRead.do(t.Context(), c))
		}
		assert.Equal(t, []time.Duration{time.Second, time.Second}, arrivals.pauses())
	})
}

func TestAQuotaBeyondTheDeadlineIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithQuota(client.Quota{RequestsPerDay: 1}))
		srv.Expect(aRead.op).AnswerExample()
		require.NoError(t, aRead.do(t.Context(), c))

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		err := aWrite.do(ctx, c)
		var refused *client.QuotaError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, client.QuotaError{Limit: 1, Per: 24 * time.Hour, Unit: "requests", Wait: 24 * time.Hour}, *refused)
		assert.ErrorContains(t, err, "CreateListing: the quota of 1 requests in 24h0m0s is used up")
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
		assert.Zero(t, time.Since(start))
	})
}

func TestWithQuota_FillsZeroFieldsFromPublicQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		onlyDays := client.Unlimited
		onlyDays.RequestsPerDay = 5_000
		for _, tc := range []struct {
			q    client.Quota
			took time.Duration
			why  string
		}{
			{client.Quota{}, time.Second, "nothing is set"},
			{client.Quota{RequestsPerDay: 5_000}, time.Second, "another field is set"},
			{client.Unlimited, 0, "no limit is not a missing one"},
			{onlyDays, 0, "nor beside a limit"},
		} {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(aRead.op).Times(2).AnswerExample()
			c, start := srv.Client(client.WithQuota(tc.q)), time.Now()
			for range 2 {
				require.NoError(t, aRead.do(t.Context(), c))
			}
			assert.Equal(t, tc.took, time.Since(start), tc.why)
		}
	})
}
