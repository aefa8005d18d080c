package recovery_test

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
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

// atWork gives the sandbox its default delay.
func atWork(o *sandbox.Options) { o.Delay = 0 }

// lost is a submission without a response.
type lost struct {
	recovery.Submission
	how loss
}

// TestRecover_AgreesWithTheTruth is the property that all of it is for.
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
				require.Less(t, rounds, 2, "seed %d: what cannot be told can be once the others are known", seed)
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
			require.Len(t, m.listings(), want, "seed %d: nothing is lost and nothing is there twice", seed)
		}, atWork)
	}
}

// randomItems makes few choices, so that submissions of equal items are common.
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
		assert.Equal(t, recovery.NotSeen, m.recover(submission, recovery.Options{}).Kind, "a batch that made nothing cannot be seen")
		assert.Empty(t, m.listings())
	})
}
