package recovery_test

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

func TestNotSeenNeverComesEarly(t *testing.T) {
	for why, row := range map[string]struct {
		age  time.Duration // of the attempt when it is recovered
		r    recovery.Options
		want time.Duration
	}{
		"the default settle time passes first":                    {0, recovery.Options{}, 10 * time.Minute},
		"or another one":                                          {0, recovery.Options{Settle: 90 * time.Second}, 90 * time.Second},
		"or one of a moment":                                      {0, recovery.Options{Settle: 1}, time.Millisecond},
		"below zero is the default":                               {0, recovery.Options{Settle: -1, Skew: -1}, 10 * time.Minute},
		"it may have been sent a moment ago":                      {30 * time.Minute, recovery.Options{}, 10 * time.Minute},
		"up to an hour after it was made":                         {time.Hour + 5*time.Minute, recovery.Options{}, 10 * time.Minute},
		"what cannot have been sent since has had a part of it":   {61 * time.Minute, recovery.Options{Skew: time.Second}, 9*time.Minute + time.Second},
		"a clock that may be apart makes it longer":               {70 * time.Minute, recovery.Options{Skew: 7 * time.Minute}, 7 * time.Minute},
		"after that there is nothing to wait for":                 {75 * time.Minute, recovery.Options{}, 0},
		"nor after a day":                                         {24 * time.Hour, recovery.Options{}, 0},
		"an attempt of a clock that is ahead waits as long again": {-time.Hour, recovery.Options{}, 10 * time.Minute},
	} {
		t.Run(why, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				attempt := newAttempt(t, one("76"))
				attempt.MadeAt = attempt.MadeAt.Add(-row.age)
				began := time.Now()

				v := s.recover(t, attempt, row.r)

				assert.Equal(t, recovery.NotSeen, v.Kind, v)
				assert.Equal(t, row.want, time.Since(began))
				assert.Equal(t, cmp.Or(max(row.r.Settle, 0), 10*time.Minute), v.Settle)
				assert.Equal(t, attempt.MadeAt.Add(-cmp.Or(max(row.r.Skew, 0), 5*time.Minute)), v.Since)
				assert.Equal(t, time.Now(), s.looks[len(s.looks)-1], "it looks once more when the time is over")
			})
		})
	}
}

func TestTimesWithoutBoundDecideNothingEarly(t *testing.T) {
	for _, r := range []recovery.Options{
		{Settle: math.MaxInt64},
		{Settle: math.MaxInt64, Skew: math.MaxInt64},
	} {
		bubble(t, func(t *testing.T, s *service) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*365*24*time.Hour)
			defer cancel()
			v, err := recovery.Recover(ctx, s.c, newAttempt(t, one("76")), r)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Empty(t, v.Kind)
		})
	}
}

func TestItLooksMoreAndMoreSeldom(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		attempt := newAttempt(t, one("76"))
		s.recover(t, attempt, recovery.Options{})
		var pauses []time.Duration
		for i := 1; i < len(s.looks); i++ {
			pauses = append(pauses, s.looks[i].Sub(s.looks[i-1]))
		}
		assert.Equal(t, []time.Duration{
			12 * time.Second, 18 * time.Second, 27 * time.Second, 40500 * time.Millisecond, 60750 * time.Millisecond,
			91125 * time.Millisecond, 2 * time.Minute, 2 * time.Minute, 110625 * time.Millisecond,
		}, pauses, "a fiftieth of the settle time, growing to a fifth; the last look is on time")
	})
}

func TestABatchIsFoundAsSoonAsItShows(t *testing.T) {
	for why, row := range map[string]struct {
		delay, settle time.Duration
		want          recovery.Kind
		most          time.Duration // that it takes
	}{
		"it shows at once":                      {0, 0, recovery.Landed, 0},
		"it shows within the settle time":       {4 * time.Minute, 0, recovery.Landed, 6 * time.Minute},
		"it shows at the last moment":           {10 * time.Minute, 0, recovery.Landed, 10 * time.Minute},
		"what shows later is not seen":          {10*time.Minute + 1, 0, recovery.NotSeen, 10 * time.Minute},
		"a longer settle time sees it":          {11 * time.Minute, 15 * time.Minute, recovery.Landed, 14 * time.Minute},
		"a settle time of an hour is not short": {50 * time.Minute, time.Hour, recovery.Landed, time.Hour},
	} {
		t.Run(why, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				attempt := newAttempt(t, one("76", func(i *gen.CreateItem) { i.Quantity = 40 }))
				id := s.landAfter(row.delay, attempt.Items)
				for i := 1; i < len(s.listings); i++ {
					s.listings[i].from = s.listings[i].from.Add(time.Hour) // one listing is enough
				}
				began := time.Now()

				v := s.recover(t, attempt, recovery.Options{Settle: row.settle})

				require.Equal(t, row.want, v.Kind, v)
				assert.LessOrEqual(t, time.Since(began), row.most)
				if row.want == recovery.Landed {
					assert.Equal(t, id, v.Batch.ID())
				}
			})
		})
	}
}

func TestADoubtIsWaitedForAndMayPass(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		attempt := newAttempt(t, one("76"))
		id := s.land(attempt.Items)
		began := time.Now()
		s.fails = func(what string) int {
			if what == "items "+id && time.Since(began) < time.Minute {
				return http.StatusForbidden
			}
			return 0
		}
		v := s.recover(t, attempt, recovery.Options{})
		assert.Equal(t, recovery.Landed, v.Kind, v)
		assert.Less(t, time.Since(began), 2*time.Minute)
	})
}

func TestNothingIsDecidedByListingsThatCannotBeRead(t *testing.T) {
	for why, row := range map[string]struct {
		status int
		err    error
		down   time.Duration
		took   time.Duration
		want   recovery.Kind // none if that is the error
	}{
		"what passes is waited for":           {503, client.ErrServer, 5 * time.Minute, 7 * time.Minute, recovery.Landed},
		"but no longer than the settle time":  {503, client.ErrServer, time.Hour, 10 * time.Minute, ""},
		"what stays is not waited for at all": {403, client.ErrForbidden, time.Minute, 0, ""},
		"nor is a refusal of all listings":    {400, client.ErrBadRequest, time.Minute, 0, ""},
	} {
		t.Run(why, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				attempt := newAttempt(t, one("76"))
				s.land(attempt.Items)
				began := time.Now()
				s.fails = func(what string) int {
					if what == "listings" && time.Since(began) < row.down {
						return row.status
					}
					return 0
				}

				v, err := recovery.Recover(t.Context(), s.c, attempt, recovery.Options{})

				assert.LessOrEqual(t, time.Since(began), row.took)
				assert.Equal(t, row.want, v.Kind)
				if row.want != "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, row.err)
				assert.ErrorContains(t, err, attempt.ID)
			})
		})
	}
}

func TestNothingIsDecidedWhenTheContextEnds(t *testing.T) {
	for why, row := range map[string]struct {
		landed bool
		fails  func(what string) int
		within time.Duration
	}{
		"before it begins":             {true, nil, 0},
		"while it waits":               {false, nil, time.Minute},
		"while the service is down":    {false, func(string) int { return 503 }, time.Minute},
		"while a batch cannot be read": {true, func(what string) int { return map[string]int{"batch b1": 503}[what] }, time.Minute},
	} {
		t.Run(why, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				attempt := newAttempt(t, one("76"))
				if row.landed {
					s.land(attempt.Items)
				}
				if row.fails != nil {
					s.fails = row.fails
				}
				ctx, cancel := context.WithTimeout(t.Context(), row.within)
				defer cancel()

				v, err := recovery.Recover(ctx, s.c, attempt, recovery.Options{})

				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.ErrorContains(t, err, attempt.ID)
				assert.Equal(t, recovery.Verdict{}, v, "no verdict is no permission")
			})
		})
	}
}

func TestADoubtThatTheEndOfTheContextLeavesIsNoVerdict(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		attempt := newAttempt(t, one("76"))
		s.land(attempt.Items)
		pass(24 * time.Hour) // so that the first look is the last
		ctx, cancel := context.WithCancel(t.Context())
		s.fails = func(what string) int {
			if what == "batch b1" {
				cancel()
				return http.StatusServiceUnavailable
			}
			return 0
		}
		v, err := recovery.Recover(ctx, s.c, attempt, recovery.Options{})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, recovery.Verdict{}, v)
	})
}
