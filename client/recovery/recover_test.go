package recovery_test

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
)

func TestRecover_SaysNotSeenNeverEarly(t *testing.T) {
	for why, row := range map[string]struct {
		age  time.Duration // Of the submission when it is recovered.
		r    recovery.Options
		want time.Duration
	}{
		"the default settle time passes first":                  {0, recovery.Options{}, 10 * time.Minute},
		"or another one":                                        {0, recovery.Options{Settle: 90 * time.Second}, 90 * time.Second},
		"or one of a moment":                                    {0, recovery.Options{Settle: 1}, time.Millisecond},
		"below zero is the default":                             {0, recovery.Options{Settle: -1, Skew: -1}, 10 * time.Minute},
		"it may have been sent a moment ago":                    {30 * time.Minute, recovery.Options{}, 10 * time.Minute},
		"up to an hour after it was made":                       {time.Hour + 5*time.Minute, recovery.Options{}, 10 * time.Minute},
		"what cannot have been sent since has had a part of it": {61 * time.Minute, recovery.Options{Skew: time.Second}, 9*time.Minute + time.Second},
		"a clock that may be apart makes it longer":             {70 * time.Minute, recovery.Options{Skew: 7 * time.Minute}, 7 * time.Minute},
		"after that there is nothing to wait for":               {75 * time.Minute, recovery.Options{}, 0},
		"nor after a day":                                       {24 * time.Hour, recovery.Options{}, 0},
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76"))
				submission.MadeAt = submission.MadeAt.Add(-row.age)
				began := time.Now()

				v := m.recover(submission, row.r)

				assert.Equal(t, recovery.NotSeen, v.Kind, v)
				assert.Equal(t, row.want, time.Since(began))
				assert.Equal(t, cmp.Or(max(row.r.Settle, 0), 10*time.Minute), v.Settle)
				assert.Equal(t, submission.MadeAt.Add(-cmp.Or(max(row.r.Skew, 0), 5*time.Minute)), v.Since)
				assert.Equal(t, time.Now(), m.looks[len(m.looks)-1], "it looks once more when the time is over")
			})
		})
	}
}

func TestRecover_DecidesNothingEarlyByTimesWithoutBound(t *testing.T) {
	for _, r := range []recovery.Options{
		{Settle: math.MaxInt64},
		{Settle: math.MaxInt64, Skew: math.MaxInt64},
	} {
		inMarket(t, func(t *testing.T, m *market) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*365*24*time.Hour)
			defer cancel()
			m.respond = on("/listings", 200, `{"count":0,"pageNumber":1,"pageSize":100,"hasNextPage":false,"listings":[]}`) // tokens do not last so long
			v, err := recovery.Recover(ctx, m.c, newSubmission(t, one("76")), r)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Empty(t, v.Kind)
		})
	}
}

func TestRecover_LooksAtGrowingIntervals(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		m.recover(newSubmission(t, one("76")), recovery.Options{})
		var pauses []time.Duration
		for i := 1; i < len(m.looks); i++ {
			pauses = append(pauses, m.looks[i].Sub(m.looks[i-1]))
		}
		assert.Equal(t, []time.Duration{
			12 * time.Second, 18 * time.Second, 27 * time.Second, 40500 * time.Millisecond, 60750 * time.Millisecond,
			91125 * time.Millisecond, 2 * time.Minute, 2 * time.Minute, 110625 * time.Millisecond,
		}, pauses, "a fiftieth of the settle time, growing to a fifth; the last look is on time")
		assert.Len(t, m.reads, 4*len(m.looks), "four requests a look, as documented")
	})
}

func TestRecover_FindsABatchAsSoonAsItShows(t *testing.T) {
	for why, row := range map[string]struct {
		delay, settle time.Duration
		want          recovery.Kind
		most          time.Duration // That it takes.
	}{
		"it shows at once":                      {0, 0, recovery.Landed, 0},
		"it shows within the settle time":       {4 * time.Minute, 0, recovery.Landed, 6 * time.Minute},
		"it shows at the last moment":           {10 * time.Minute, 0, recovery.Landed, 10 * time.Minute},
		"what shows later is not seen":          {10*time.Minute + 1, 0, recovery.NotSeen, 10 * time.Minute},
		"a longer settle time sees it":          {11 * time.Minute, 15 * time.Minute, recovery.Landed, 14 * time.Minute},
		"a settle time of an hour is not short": {50 * time.Minute, time.Hour, recovery.Landed, time.Hour},
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76", quantity(40)))
				m.lose(lostResponse, submission)
				began := time.Now()
				first := m.listings()[0].ListingID
				m.edit = eachListing(func(l map[string]any) bool {
					return l["listingId"] == first && time.Since(began) >= row.delay // one listing is enough
				})

				v := m.recover(submission, recovery.Options{Settle: row.settle})

				require.Equal(t, row.want, v.Kind, v)
				assert.LessOrEqual(t, time.Since(began), row.most)
				assert.Equal(t, row.want == recovery.Landed, v.Batch != nil)
			})
		})
	}
}

func TestRecover_WaitsForADoubtToPass(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		submission := newSubmission(t, one("76"))
		m.lose(lostResponse, submission)
		began := time.Now()
		m.respond = func(r *http.Request) (int, string) {
			if strings.HasSuffix(r.URL.Path, "/items") && time.Since(began) < time.Minute {
				return http.StatusForbidden, ""
			}
			return 0, ""
		}
		v := m.recover(submission, recovery.Options{})
		assert.Equal(t, recovery.Landed, v.Kind, v)
		assert.Less(t, time.Since(began), 2*time.Minute)
	})
}

func TestRecover_DecidesNothingByListingsThatCannotBeRead(t *testing.T) {
	for why, row := range map[string]struct {
		status int
		err    error
		down   time.Duration
		took   time.Duration
		want   recovery.Kind // None if that is the error.
	}{
		"what passes is waited for":           {503, client.ErrServer, 5 * time.Minute, 7 * time.Minute, recovery.Landed},
		"but no longer than the settle time":  {503, client.ErrServer, time.Hour, 10 * time.Minute, ""},
		"what stays is not waited for at all": {403, client.ErrForbidden, time.Minute, 0, ""},
		"nor is a refusal of all listings":    {400, client.ErrBadRequest, time.Minute, 0, ""},
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76"))
				m.lose(lostResponse, submission)
				began := time.Now()
				m.respond = func(r *http.Request) (int, string) {
					if strings.HasSuffix(r.URL.Path, "/listings") && time.Since(began) < row.down {
						return row.status, ""
					}
					return 0, ""
				}

				v, err := recovery.Recover(t.Context(), m.c, submission, recovery.Options{})

				assert.LessOrEqual(t, time.Since(began), row.took)
				assert.Equal(t, row.want, v.Kind)
				if row.want != "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, row.err)
				assert.ErrorContains(t, err, submission.ID)
			})
		})
	}
}

func TestRecover_DecidesNothingWhenTheContextEnds(t *testing.T) {
	batchOf := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/batch/") }
	for why, row := range map[string]struct {
		how    loss
		fails  func(r *http.Request) bool
		within time.Duration
	}{
		"before it begins":             {lostResponse, nil, 0},
		"while it waits":               {lostRequest, nil, time.Minute},
		"while the service is down":    {lostRequest, func(*http.Request) bool { return true }, time.Minute},
		"while a batch cannot be read": {lostResponse, batchOf, time.Minute},
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76"))
				m.lose(row.how, submission)
				m.respond = func(r *http.Request) (int, string) {
					if row.fails != nil && row.fails(r) {
						return http.StatusServiceUnavailable, ""
					}
					return 0, ""
				}
				ctx, cancel := context.WithTimeout(t.Context(), row.within)
				defer cancel()

				v, err := recovery.Recover(ctx, m.c, submission, recovery.Options{})

				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.ErrorContains(t, err, submission.ID)
				assert.Equal(t, recovery.Verdict{}, v, "no verdict is no permission")
			})
		})
	}
}

func TestRecover_GivesNoVerdictOnADoubtThatTheEndOfTheContextLeaves(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		submission := newSubmission(t, one("76"))
		m.lose(lostResponse, submission)
		pass(2 * time.Hour) // so that the first look is the last
		ctx, cancel := context.WithCancel(t.Context())
		m.respond = func(r *http.Request) (int, string) {
			if strings.Contains(r.URL.Path, "/batch/") {
				cancel()
				return http.StatusServiceUnavailable, ""
			}
			return 0, ""
		}
		v, err := recovery.Recover(ctx, m.c, submission, recovery.Options{})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, recovery.Verdict{}, v)
	})
}

func TestRecover_RefusesAZeroSubmission(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		_, err := recovery.Recover(t.Context(), m.c, recovery.Submission{}, recovery.Options{})
		require.ErrorIs(t, err, client.ErrInvalidArgument)
		assert.Empty(t, m.reads, "before any I/O")
	})
}
