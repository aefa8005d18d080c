package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

// recordingLimiter is a limiter that lets every call pass and records its items.
type recordingLimiter struct {
	mu       sync.Mutex
	items    []int
	outcomes []quota.Outcome
}

func (m *recordingLimiter) Acquire(_ context.Context, items int) (quota.Release, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.items = append(m.items, items)
	return func(o quota.Outcome) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.outcomes = append(m.outcomes, o)
	}, nil
}

func (*recordingLimiter) Remaining(context.Context) ([]quota.WindowState, error) { return nil, nil }
func (*recordingLimiter) CountsItems() bool                                      { return true }

func TestAdmission_CountsListingsOfEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		m := &recordingLimiter{}
		c := srv.Client(client.WithLimiter(m))
		srv.Expect(gen.OpCreateListingsBatch).RespondError(http.StatusTooManyRequests, "slow down")
		srv.Expect(gen.OpCreateListingsBatch).RespondExample()
		srv.Expect(gen.OpUpdateListingsBatch).RespondExample()
		srv.Expect(gen.OpDeleteListingsBatch).RespondExample()
		srv.Expect(readCall.op).RespondExample()

		_, err := c.Batches.Create(t.Context(),
			[]gen.CreateItem{{VariantID: "1", Amount: "162", Quantity: 2}, {VariantID: "2", Amount: "170", Quantity: 3}})
		require.NoError(t, err)
		_, err = c.Batches.Update(t.Context(),
			[]gen.UpdateItem{{ListingID: "1", Amount: "160", CurrencyCode: "USD"}, {ListingID: "2", Amount: "160", CurrencyCode: "USD"}})
		require.NoError(t, err)
		_, err = c.Batches.Delete(t.Context(), []string{"1"})
		require.NoError(t, err)
		require.NoError(t, readCall.do(t.Context(), c))
		assert.Equal(t, []int{5, 5, 2, 1, 0}, m.items, "items count as listings, and a retry counts again")
	})
}

func TestAdmission_QuotaBeyondDeadlineFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerDay: 1}))
		srv.Expect(readCall.op).RespondExample()
		require.NoError(t, readCall.do(t.Context(), c))

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		err := writeCall.do(ctx, c)
		var refused *quota.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t,
			quota.Error{Limit: 1, Per: 24 * time.Hour, Unit: "requests", Wait: 24 * time.Hour},
			*refused)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
		assert.Zero(t, time.Since(start))
	})
}

func TestAdmission_ReportsOutcomeToLimiter(t *testing.T) {
	elsewhere := client.WithBaseURL("https://elsewhere.invalid/v2")
	for name, tc := range map[string]struct {
		script func(*clienttest.Server)
		option client.Option
		want   quota.Outcome
	}{
		"a response":        {func(s *clienttest.Server) { s.Expect(readCall.op).RespondExample() }, oneAttempt, quota.Sent},
		"an error response": {func(s *clienttest.Server) { s.Expect(readCall.op).RespondError(404, "none") }, oneAttempt, quota.Sent},
		"a 429":             {func(s *clienttest.Server) { s.Expect(readCall.op).RespondError(429, "slow down") }, oneAttempt, quota.Refused},
		"the connection breaks": {func(s *clienttest.Server) {
			s.Expect(readCall.op).Disconnect(clienttest.BeforeHeaders, "the network fails")
		}, oneAttempt, quota.Sent},
		"no response in time": {func(s *clienttest.Server) { s.Expect(readCall.op).RespondExample().Delay(time.Minute) }, oneAttempt, quota.Sent},
		"no connection":       {func(*clienttest.Server) {}, elsewhere, quota.NotSent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, m := clienttest.New(t, clienttest.InProcess()), &recordingLimiter{}
				tc.script(srv)
				_ = readCall.do(t.Context(), srv.Client(oneAttempt, client.WithLimiter(m), tc.option))
				<-time.After(time.Minute)
				m.mu.Lock()
				defer m.mu.Unlock()
				require.NotEmpty(t, m.outcomes)
				assert.Equal(t, tc.want, m.outcomes[len(m.outcomes)-1])
			})
		})
	}
}

// TestAdmission_KeepsPlaceOfAbandonedRequest cancels a call whose request is in flight. The
// request may arrive at any moment.
func TestAdmission_KeepsPlaceOfAbandonedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1}))
		srv.Expect(readCall.op).RespondExample().Delay(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, readCall.do(ctx, c), context.DeadlineExceeded)
		srv.Expect(readCall.op).RespondExample()
		require.NoError(t, readCall.do(t.Context(), c))
		took := time.Since(start)
		assert.GreaterOrEqual(t, took, 3*time.Second, "2 s for it to arrive, and a window")
		assert.LessOrEqual(t, took, 3100*time.Millisecond)
	})
}

func TestAdmission_ReleasesPlaceOfUnsentCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		asked := 0
		tokens := client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) {
			if asked++; asked == 1 {
				return nil, errors.New("down")
			}
			return &oauth2.Token{AccessToken: clienttest.Token}, nil
		}))
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1}), tokens)
		require.True(t, isA[*token.Error](readCall.do(t.Context(), c)))
		srv.Expect(readCall.op).RespondExample()
		start := time.Now()
		require.NoError(t, readCall.do(t.Context(), c))
		assert.Zero(t, time.Since(start))
	})
}

// placeless is a limiter that returns neither a place nor an error.
type placeless struct{ quota.Limiter }

func (placeless) Acquire(context.Context, int) (quota.Release, error) { return nil, nil }

func TestAdmission_LimiterWithoutPlaceIsAnError(t *testing.T) {
	err := writeCall.do(t.Context(),
		clienttest.New(t).Client(client.WithLimiter(placeless{Limiter: quota.NewLimiter(quota.Unlimited)})))
	require.Error(t, err)
	assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
}

func TestWithLimiter_IsSharedByClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		var arrivals clock
		srv.Expect(readCall.op).Times(4).Check(arrivals.tick).RespondExample()
		limiter := client.WithLimiter(quota.NewLimiter(quota.Quota{RequestsPerSecond: 1}))
		shop, tools := srv.Client(limiter), srv.Client(limiter)
		var calls sync.WaitGroup
		for _, c := range []*client.Client{shop, tools} {
			calls.Go(func() {
				for range 2 {
					assert.NoError(t, readCall.do(t.Context(), c))
				}
			})
		}
		calls.Wait()
		assert.Equal(t, []time.Duration{time.Second, time.Second, time.Second}, arrivals.pauses())
	})
}

func TestWithQuota_IsNotSharedByClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).Times(2).RespondExample()
		option, start := client.WithQuota(quota.Quota{RequestsPerSecond: 1}), time.Now()
		for range 2 {
			require.NoError(t, readCall.do(t.Context(), srv.Client(option)))
		}
		assert.Zero(t, time.Since(start), "clients with the same option have a limiter each")
	})
}

func TestWithQuota_FillsZeroFieldsFromPublicQuota(t *testing.T) {
	limits := func(opts ...client.Option) map[quota.Window]int {
		t.Helper()
		c, err := client.New(append([]client.Option{validOptions}, opts...)...)
		require.NoError(t, err)
		states, err := c.RemainingQuota(t.Context())
		require.NoError(t, err)
		limits := map[quota.Window]int{}
		for _, state := range states {
			limits[state.Window] = state.Left()
		}
		return limits
	}
	public := map[quota.Window]int{quota.RequestsPerSecond: 1, quota.RequestsPerDay: 25_000, quota.ItemsPerWindow: 500, quota.ItemsPerDay: 50_000}
	assert.Equal(t, public, limits(), "the default")
	assert.Equal(t, public, limits(client.WithQuota(quota.Quota{})))
	assert.Empty(t, limits(client.WithQuota(quota.Unlimited)))

	part := map[quota.Window]int{quota.RequestsPerSecond: 1, quota.RequestsPerDay: 5_000, quota.ItemsPerWindow: 500, quota.ItemsPerDay: 50_000}
	assert.Equal(t, part, limits(client.WithQuota(quota.Quota{RequestsPerDay: 5_000})))

	onlyDays := quota.Unlimited
	onlyDays.RequestsPerDay = 5_000
	assert.Equal(t, map[quota.Window]int{quota.RequestsPerDay: 5_000}, limits(client.WithQuota(onlyDays)))
	assert.Equal(t, map[quota.Window]int{quota.RequestsPerDay: 5_000},
		limits(client.WithLimiter(quota.NewLimiter(quota.Quota{RequestsPerDay: 5_000}))), "a zero field of a limiter sets no limit")
}

func TestClient_RemainingQuotaCountsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpDeleteListingsBatch).RespondExample()
		c := srv.Client(client.WithQuota(quota.Public))
		require.NoError(t, failure(c.Batches.Delete(t.Context(), []string{"l1", "l2"})))
		states, err := c.RemainingQuota(t.Context())
		require.NoError(t, err)
		used := map[quota.Window]int{}
		for _, state := range states {
			used[state.Window] = state.Used
			assert.Equal(t, state.Per, state.NextFree, state.Window)
		}
		assert.Equal(t,
			map[quota.Window]int{quota.RequestsPerSecond: 1, quota.RequestsPerDay: 1, quota.ItemsPerWindow: 2, quota.ItemsPerDay: 2},
			used)
	})
}

// expiringSource is a source whose tokens expire after a time, which is negative if they are
// expired from the beginning.
type expiringSource struct {
	each  time.Duration
	given int
}

func (l *expiringSource) Token() (*oauth2.Token, error) {
	l.given++
	return &oauth2.Token{AccessToken: fmt.Sprintf("token-%d", l.given), Expiry: time.Now().Add(l.each)}, nil
}

func TestAdmission_TokenIsFreshAfterWaitForQuota(t *testing.T) {
	for _, tc := range []struct {
		each time.Duration
		want []string
		why  string
	}{
		{time.Hour, []string{"Bearer token-1", "Bearer token-2"}, "the token is still fresh after the wait"},
		{30 * time.Second, []string{"Bearer token-1", "Bearer token-3"}, "the token expires during the wait"},
		{-time.Second, []string{"Bearer token-1", "Bearer token-2"}, "a source of expired tokens is asked once"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(readCall.op).Times(2).RespondExample()
			limiter := quota.NewLimiter(quota.Quota{ItemsPerWindow: 1, ItemsWindow: time.Minute})
			c := srv.Client(client.WithTokenSource(&expiringSource{each: tc.each}),
				client.WithLimiter(limiter))
			for range 2 {
				resp, err := c.Raw().
					GetListing(client.WithItemCount(t.Context(), 1), "98e2e748-8000-45bf-a624-5531d6a68318")
				require.NoError(t, err, tc.why)
				_ = resp.Body.Close()
			}
			for i, request := range srv.Requests(readCall.op) {
				assert.Equal(t, tc.want[i], request.Header.Get("Authorization"), tc.why)
			}
		})
	}
}
