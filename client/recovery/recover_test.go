package recovery_test

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestRecover_ReturnsNotSeenAfterTheSettleTime(t *testing.T) {
	for why, row := range map[string]struct {
		age  time.Duration // Of the submission when it is recovered.
		r    recovery.Options
		want time.Duration
	}{
		"the default settle time passes first":           {0, recovery.Options{}, 10 * time.Minute},
		"or another one":                                 {0, recovery.Options{Settle: 90 * time.Second}, 90 * time.Second},
		"or a very short one":                            {0, recovery.Options{Settle: 1}, time.Millisecond},
		"below zero is the default":                      {0, recovery.Options{Settle: -1, Skew: -1}, 10 * time.Minute},
		"it may have been sent a moment ago":             {30 * time.Minute, recovery.Options{}, 10 * time.Minute},
		"up to an hour after it was made":                {time.Hour + 5*time.Minute, recovery.Options{}, 10 * time.Minute},
		"a part of it has passed since it could be sent": {61 * time.Minute, recovery.Options{Skew: time.Second}, 9*time.Minute + time.Second},
		"a larger skew makes it longer":                  {70 * time.Minute, recovery.Options{Skew: 7 * time.Minute}, 7 * time.Minute},
		"after that there is no wait":                    {75 * time.Minute, recovery.Options{}, 0},
		"nor after a day":                                {24 * time.Hour, recovery.Options{}, 0},
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
				assert.Equal(t, time.Now(), m.looks[len(m.looks)-1], "the last look is at the end")
			})
		})
	}
}

func TestRecover_AcceptsUnboundedDurations(t *testing.T) {
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
		"it shows in the first look":            {0, 0, recovery.Landed, 0},
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
		"a transient failure":               {503, client.ErrServer, 5 * time.Minute, 7 * time.Minute, recovery.Landed},
		"one that outlasts the settle time": {503, client.ErrServer, time.Hour, 10 * time.Minute, ""},
		"a permanent failure":               {403, client.ErrForbidden, time.Minute, 0, ""},
		"a refusal of all listings":         {400, client.ErrBadRequest, time.Minute, 0, ""},
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
				assert.Equal(t, recovery.Verdict{}, v, "no verdict")
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

func TestRecover_TakesACertainBatchBeforeADoubtfulOne(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		doubtful := m.create(one("76"))
		m.respond = on(doubtful+"/items", http.StatusForbidden, "")
		submission := newSubmission(t, one("76"))
		m.lose(lostResponse, submission)
		v := m.recover(submission, recovery.Options{})
		assert.Equal(t, recovery.Landed, v.Kind, v)
		assert.NotEqual(t, doubtful, v.Batch.ID())
	})
}

func TestRecover_NamesAllCandidates(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		a, b := m.create(one("76")), m.create(one("76"))
		m.respond = on("/items", http.StatusForbidden, "")
		v := m.recover(newSubmission(t, one("76")), recovery.Options{})
		assert.Equal(t, recovery.CannotTell, v.Kind)
		assert.ElementsMatch(t, []string{a, b}, v.Candidates)
		assert.Contains(t, v.Reason, a)
		assert.Contains(t, v.Reason, b)
	})
	inMarket(t, func(t *testing.T, m *market) {
		for range 30 {
			m.create(one("76"))
		}
		v := m.recover(newSubmission(t, one("76")), recovery.Options{})
		assert.Len(t, v.Candidates, 30)
		assert.Equal(t, 10, strings.Count(v.Reason, "batch "), "a bounded length")
	})
}

func TestRecover_DistinguishesEqualSubmissions(t *testing.T) {
	bare := recovery.WithoutMark()
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("unmarked: one landed and is known, the other did not")
		known, lost := m.create(one("76")), newSubmission(t, one("76"), bare)
		assert.Equal(t, recovery.NotSeen, m.recover(lost, recovery.Options{Known: []string{known}}).Kind)
		assert.Equal(t, recovery.CannotTell, m.recover(lost, recovery.Options{Known: []string{strings.ToUpper(known)}}).Kind, "another case may be another id")
	})
	inMarket(t, func(t *testing.T, m *market) {
		lost := newSubmission(t, one("76"), bare)
		known := m.create(one("76"))
		assert.Equal(t, known, m.recover(lost, recovery.Options{}).Batch.ID(), "an equal batch that is not known is taken for it")
	})
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("unmarked: both landed, and are interchangeable")
		a, b := m.create(one("76")), m.create(one("76"))
		submission := newSubmission(t, one("76"), bare)
		v := m.recover(submission, recovery.Options{})
		assert.Equal(t, recovery.CannotTell, v.Kind)
		assert.ElementsMatch(t, []string{a, b}, v.Candidates)
		assert.Equal(t, b, m.recover(submission, recovery.Options{Known: []string{a}}).Batch.ID())
	})
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("marked: each matches its own batch; one that did not land is NotSeen once the others are known")
		submissions := []recovery.Submission{newSubmission(t, one("76")), newSubmission(t, one("76")), newSubmission(t, one("76"))}
		b1, b2 := m.create(submissions[0].Items), m.create(submissions[1].Items)
		assert.Equal(t, b2, m.recover(submissions[1], recovery.Options{}).Batch.ID())
		assert.Equal(t, b1, m.recover(submissions[0], recovery.Options{}).Batch.ID())
		assert.Equal(t, recovery.CannotTell, m.recover(submissions[2], recovery.Options{}).Kind, "another expiry alone proves nothing")
		assert.Equal(t, recovery.NotSeen, m.recover(submissions[2], recovery.Options{Known: []string{b1, b2}}).Kind)
	})
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("marked, and the service truncates the mark")
		submission := newSubmission(t, one("76"))
		m.lose(lostResponse, submission)
		m.edit = eachInput(func(in map[string]any) { in["expiresAt"] = submission.Items[0].ExpiresAt.Format(time.RFC3339) })
		assert.Equal(t, recovery.CannotTell, m.recover(submission, recovery.Options{}).Kind)
	})
}

// withDelay gives the sandbox its default delay.
func withDelay(o *sandbox.Options) { o.Delay = 0 }

// lost is a submission without a response.
type lost struct {
	recovery.Submission
	how loss
}

// TestRecover_AgreesWithTheTruth tests that nothing is lost and nothing is made twice, whatever is
// lost on the way.
func TestRecover_AgreesWithTheTruth(t *testing.T) {
	for seed := range uint64(3) {
		inMarket(t, func(t *testing.T, m *market) {
			rng := rand.New(rand.NewPCG(seed, 3))
			var known []string
			var open []lost
			want := 0
			for range 12 {
				submission := newSubmission(t, randomItems(rng))
				want += count(submission)
				switch how := []loss{noLoss, lostRequest, lostResponse}[rng.IntN(3)]; how {
				case noLoss:
					known = append(known, m.create(submission.Items))
				default:
					m.lose(how, submission)
					open = append(open, lost{submission, how})
				}
				pass(time.Duration(rng.Int64N(int64(20 * time.Second))))
			}
			if seed%3 > 0 {
				pass(2 * time.Hour) // until the last one cannot have been sent since
			}
			for rounds := 0; len(open) > 0; rounds++ {
				require.Less(t, rounds, 2, "seed %d: the doubts end once the other batches are known", seed)
				var left []lost
				for _, l := range open {
					v := m.recover(l.Submission, recovery.Options{Known: known, Settle: time.Minute})
					switch {
					case v.Kind == recovery.CannotTell:
						require.Equal(t, lostRequest, l.how, "seed %d: %s", seed, v)
						left = append(left, l)
					case l.how == lostRequest:
						require.Equal(t, recovery.NotSeen, v.Kind, "seed %d: %s", seed, v)
						again := newSubmission(t, l.Items)
						known = append(known, m.create(again.Items))
					default:
						require.Equal(t, recovery.Landed, v.Kind, "seed %d: %s", seed, v)
						require.NotContains(t, known, v.Batch.ID(), "seed %d", seed)
						known = append(known, v.Batch.ID())
					}
				}
				open = left
			}
			pass(time.Minute)
			require.Len(t, m.listings(), want, "seed %d", seed)
		}, withDelay)
	}
}

// randomItems draws from few values, so that submissions of equal items are common.
func randomItems(rng *rand.Rand) []gen.CreateItem {
	items := make([]gen.CreateItem, 1+rng.IntN(3))
	for n := range items {
		items[n] = gen.CreateItem{
			VariantID: size(rng.IntN(2)), Amount: []gen.Amount{"76", "76.00", "77.5"}[rng.IntN(3)], Quantity: gen.Int(1 + rng.IntN(2)),
			CurrencyCode: []gen.CurrencyCode{"", "USD", "EUR"}[rng.IntN(3)], Active: []*bool{nil, new(true), new(false)}[rng.IntN(3)],
		}
	}
	return items
}

func count(a recovery.Submission) (n int) {
	for _, i := range a.Items {
		n += int(i.Quantity)
	}
	return n
}

func TestSubmission_IsRecoveredByTheNextProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.db")
	inFile := func(o *sandbox.Options) { o.DB, o.Delay = file, 0 }
	synctest.Test(t, func(t *testing.T) {
		submission := newSubmission(t, one("76.0000", quantity(3)))
		saved, err := json.Marshal(submission)
		require.NoError(t, err)
		first := newMarket(t, inFile)
		first.lose(lostResponse, submission)
		require.NoError(t, first.Close())

		pass(time.Hour)
		var restored recovery.Submission
		require.NoError(t, json.Unmarshal(saved, &restored))
		second := newMarket(t, inFile)
		v := second.recover(restored, recovery.Options{})

		require.Equal(t, recovery.Landed, v.Kind, v)
		items, err := second.c.Batches.ResumeCreate(v.Batch.ID()).Wait(t.Context())
		require.NoError(t, err)
		assert.Len(t, items, 3)
	})
}

func TestRecover_IsNotMisledByFailedItems(t *testing.T) {
	const unknown = "00000000-0000-4000-8000-000000000000"
	failing := gen.CreateItem{VariantID: unknown, Amount: "80", Quantity: 2}
	inMarket(t, func(t *testing.T, m *market) {
		submission := newSubmission(t, append(one("76"), failing))
		m.lose(lostResponse, submission)
		v := m.recover(submission, recovery.Options{})
		require.Equal(t, recovery.Landed, v.Kind)
		results, err := v.Batch.Wait(t.Context())
		var failed *client.BatchError
		require.ErrorAs(t, err, &failed)
		assert.Len(t, failed.Failed, 2)
		assert.Len(t, results, 3)
	})
	inMarket(t, func(t *testing.T, m *market) {
		submission := newSubmission(t, []gen.CreateItem{failing})
		m.lose(lostResponse, submission)
		assert.Equal(t, recovery.NotSeen, m.recover(submission, recovery.Options{}).Kind, "a batch without listings is not seen")
		assert.Empty(t, m.listings())
	})
}

func TestRecover_LooksOnceAfterTheSettleTime(t *testing.T) {
	for why, row := range map[string]struct {
		sentBy time.Duration // Before the call.
		want   time.Duration
	}{
		"the settle time is over":            {11 * time.Minute, 0},
		"it ends now":                        {10 * time.Minute, 0},
		"a part of it has passed":            {4 * time.Minute, 6 * time.Minute},
		"a time ahead is the time of a call": {-time.Hour, 10 * time.Minute},
	} {
		t.Run(why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				submission := newSubmission(t, one("76"))
				submission.MadeAt = submission.MadeAt.Add(-15 * time.Minute)
				began := time.Now()
				v := m.recover(submission, recovery.Options{SentBy: began.Add(-row.sentBy)})
				assert.Equal(t, recovery.NotSeen, v.Kind, v)
				assert.Equal(t, row.want, time.Since(began))
			})
		})
	}
}
