package decide

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

const roundTrip = 50 * time.Millisecond

// simulation is an account that does what Next says, with the public quota and a service whose
// batches take a random time. It runs in a bubble of synctest.
type simulation struct {
	t       *testing.T
	rand    *rand.Rand
	limiter quota.Limiter
	takes   func(*rand.Rand) time.Duration // By a batch.

	deletes, updates, creates int  // Ready items.
	perProduct                int  // Creates that each look-up makes ready.
	unresolved                int  // Products.
	rules                     bool // Prices follow the market.
	unread                    int  // Resolved products whose market was not read yet.
	audited                   bool

	running   []*simulatedBatch // In order of submission.
	done      []*simulatedBatch // Their items were not read yet.
	durations []time.Duration   // Of the last batches.
	sales     time.Time         // Last read.
	audit     time.Time         // Last page.

	requests, batches, polls, audits int
	submitted                        []submitted
}

type submitted struct {
	at    time.Time
	kind  WriteKind
	items int
}

type simulatedBatch struct {
	submitted, completes, pollAt time.Time
	waited                       time.Duration // Zero if it was not polled.
}

func (s *simulation) request(items int) {
	release, err := s.limiter.Acquire(s.t.Context(), items)
	require.NoError(s.t, err)
	<-time.After(roundTrip)
	release(quota.Sent)
	s.requests++
}

func (s *simulation) view() View {
	states, err := s.limiter.Remaining(s.t.Context())
	require.NoError(s.t, err)
	now := time.Now()
	v := View{
		Quota: states, Sales: &Due{At: s.sales.Add(SalesEvery)},
		Deletes: Queue{Items: s.deletes, Since: now}, Updates: Queue{Items: s.updates, Since: now},
		Creates: Queue{Items: s.creates, Since: now, Coming: s.unresolved+s.unread > 0},
	}
	if s.unresolved > 0 {
		v.LookUps = &Due{}
	}
	if s.unread > 0 {
		v.FirstMarkets = &Due{}
	}
	if s.audited {
		v.Audit = &Due{At: s.audit.Add(AuditEvery(states))}
	}
	if len(s.done) > 0 {
		v.Results = &Due{}
	}
	for _, b := range s.running {
		switch {
		case b.waited == 0 && v.Batches.Unpolled == nil:
			v.Batches.Unpolled = &Due{At: b.submitted}
		case b.waited > 0:
			if v.Batches.Polled == nil || b.pollAt.Before(v.Batches.Polled.At) {
				v.Batches.Polled = &Due{ID: "polled", At: b.pollAt}
			}
			v.Batches.Waited = max(v.Batches.Waited, b.waited)
		}
	}
	if len(s.durations) > 0 {
		v.Batches.Typical = slices.Max(s.durations)
	}
	for _, sub := range s.submitted {
		if now.Sub(sub.at) < 5*time.Minute {
			switch sub.kind {
			case WriteCreate:
				v.RecentCreates += sub.items
			case WriteUpdate:
				v.RecentUpdates += sub.items
			}
		}
	}
	return v
}

func (s *simulation) do(a Action) {
	switch a.Kind {
	case ActSubmit:
		s.submit(a)
	case ActPoll:
		s.poll(a.ID)
	case ActResult:
		s.request(0)
		s.done = s.done[1:]
	case ActSales:
		s.request(0)
		s.request(0)
		s.sales = time.Now()
	case ActLookUp:
		s.request(0)
		s.request(0)
		s.unresolved--
		if s.rules {
			s.unread++
		} else {
			s.creates += s.perProduct
		}
	case ActMarket:
		s.request(0)
		s.unread--
		s.creates += s.perProduct
	case ActAudit:
		s.request(0)
		s.audits++
		s.audit = time.Now()
	case ActSleep:
		require.True(s.t, a.Until.After(time.Now()), "an account that sleeps has to sleep")
		<-time.After(time.Until(a.Until))
	default:
		s.t.Fatalf("unexpected action: %v", a)
	}
}

func (s *simulation) submit(a Action) {
	s.request(a.Items)
	switch a.Write {
	case WriteDelete:
		s.deletes -= a.Items
	case WriteUpdate:
		s.updates -= a.Items
	case WriteCreate:
		s.creates -= a.Items
	}
	now := time.Now()
	s.batches++
	s.submitted = append(s.submitted, submitted{at: now, kind: a.Write, items: a.Items})
	s.running = append(s.running, &simulatedBatch{submitted: now, completes: now.Add(s.takes(s.rand))})
}

func (s *simulation) poll(id string) {
	s.polls++
	s.request(0)
	i := slices.IndexFunc(s.running, func(b *simulatedBatch) bool { return b.waited == 0 })
	if id == "polled" {
		for j, b := range s.running {
			if b.waited > 0 && (i < 0 || s.running[i].waited == 0 || b.pollAt.Before(s.running[i].pollAt)) {
				i = j
			}
		}
	}
	b, now := s.running[i], time.Now()
	if b.completes.After(now) {
		b.waited, b.pollAt = now.Sub(b.submitted), PollAgain(b.submitted, now)
		return
	}
	s.running = slices.Delete(s.running, i, i+1)
	s.done = append(s.done, b)
	s.durations = append(s.durations, b.completes.Sub(b.submitted))
	s.durations = s.durations[max(0, len(s.durations)-20):]
}

func (s *simulation) busy() bool {
	return s.deletes+s.updates+s.creates+s.unresolved+s.unread+len(s.running)+len(s.done) > 0
}

// run runs until all is done, and returns how long that took.
func (s *simulation) run(t *testing.T) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s.t, s.rand = t, rand.New(rand.NewPCG(1, 2))
		s.limiter = quota.NewLimiter(quota.Public)
		start := time.Now()
		for s.busy() {
			require.Less(t, time.Since(start), 48*time.Hour, "it ends")
			s.do(Next(s.view(), time.Now()))
		}
		took = time.Since(start)
	})
	return took
}

func upTo(low, high time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return low + time.Duration(r.Int64N(int64(high-low))) }
}

// itemsBound and requestsBound are the times that the public quota needs. The limiter lengthens
// each window by the round trip.
func itemsBound(items int) time.Duration {
	return LeastTime(publicState(25_000, 500, 50_000), items, 0) + time.Duration(items/500)*roundTrip
}

func requestsBound(requests int) time.Duration {
	return LeastTime(publicState(25_000, 500, 50_000), 0, requests) + time.Duration(requests)*roundTrip
}

func ratio(took, bound time.Duration) float64 { return float64(took) / float64(bound) }

func TestNext_TwentyThousandCreatesWithinTheItemWindows(t *testing.T) {
	for name, takes := range map[string]func(*rand.Rand) time.Duration{
		"fast":  upTo(time.Second, 3*time.Second),
		"slow":  upTo(10*time.Second, 40*time.Second),
		"heavy": upTo(time.Minute, 3*time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			s := &simulation{creates: 20_000, takes: takes, audited: true}
			took := s.run(t)
			t.Logf("%s, %.3f times the item windows, %d polls and %d audits of %d requests",
				took, ratio(took, itemsBound(20_000)), s.polls, s.audits, s.requests)
			assert.LessOrEqual(t, ratio(took, itemsBound(20_000)), 1.03)
			assert.Equal(t, 200, s.batches, "all batches are full")
			assert.LessOrEqual(t, s.audits, int(took*2_500/(24*time.Hour))+1, "a tenth of the day's requests")
		})
	}
}

func TestNext_RequestsPerThousandListings(t *testing.T) {
	for name, tc := range map[string]struct {
		deletes, updates, creates int
		takes                     func(*rand.Rand) time.Duration
	}{
		"creates, fast":      {0, 0, 1000, upTo(time.Second, 3*time.Second)},
		"creates, slow":      {0, 0, 1000, upTo(20*time.Second, 40*time.Second)},
		"all, slow":          {1000, 1000, 1000, upTo(20*time.Second, 40*time.Second)},
		"all, in minutes":    {1000, 1000, 1000, upTo(time.Minute, 3*time.Minute)},
		"all, any time":      {5000, 5000, 5000, upTo(time.Second, 2*time.Minute)},
		"twenty thousand":    {0, 0, 20_000, upTo(time.Second, time.Minute)},
		"updates and others": {200, 3000, 1000, upTo(time.Second, 10*time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			s := &simulation{deletes: tc.deletes, updates: tc.updates, creates: tc.creates, takes: tc.takes}
			s.run(t)
			least := 3 * (tc.deletes + tc.updates + tc.creates) / 100
			t.Logf("%d requests, %.3f times the least; %d polls of %d batches",
				s.requests, float64(s.requests)/float64(least), s.polls, s.batches)
			assert.LessOrEqual(t, float64(s.requests)/float64(least), 1.3)
		})
	}
}

func TestNext_BatchThatNeverEndsDelaysNoOther(t *testing.T) {
	first := true
	s := &simulation{creates: 2000, takes: func(r *rand.Rand) time.Duration {
		if first {
			first = false
			return 12 * time.Hour
		}
		return upTo(time.Second, 20*time.Second)(r)
	}}
	took := s.run(t)
	assert.Less(t, took, 12*time.Hour+10*time.Minute)
	for i, sub := range s.submitted {
		assert.LessOrEqual(t, sub.at.Sub(s.submitted[0].at), 16*time.Minute, "batch %d", i)
	}
	// The others are polled once each, the first one every 5 minutes, and sales are read as often.
	assert.LessOrEqual(t, s.polls, 20+20+12*12)
}

func TestNext_DividesItemsOfCreatesAndUpdates(t *testing.T) {
	s := &simulation{deletes: 250, updates: 6000, creates: 3000, takes: upTo(time.Second, 20*time.Second)}
	s.run(t)
	for i, sub := range s.submitted[:3] {
		assert.Equal(t, WriteDelete, sub.kind, "deletes go first (%d)", i)
	}
	created, total := 0, 0
	for _, sub := range s.submitted[3:] {
		if created == 3000 {
			break // No creates wait.
		}
		total += sub.items
		if sub.kind == WriteCreate {
			created += sub.items
		}
		assert.GreaterOrEqual(t, 3*created, total-200, "at least a third of the items, at any time")
	}
	assert.Equal(t, 3000, created)
	assert.Less(t, 2*created, total, "updates have the rest")
}

func TestNext_LookUpsAndSubmissionsShareRequests(t *testing.T) {
	const items = 20_000
	for _, tc := range []struct {
		perProduct int
		rules      bool
	}{{2, false}, {4, false}, {5, false}, {16, false}, {100, false}, {4, true}, {6, true}, {20, true}} {
		perProduct := tc.perProduct
		s := &simulation{
			perProduct: perProduct, unresolved: items / perProduct, rules: tc.rules,
			takes: upTo(2*time.Second, 30*time.Second),
		}
		created := s.unresolved * perProduct
		perLookUp := 2
		if tc.rules {
			perLookUp = 3 // With the first reading of the market.
		}
		took := s.run(t)
		requests := requestsBound(perLookUp*(items/perProduct) + 3*created/BatchSize)
		bound := max(requests, itemsBound(created))
		t.Logf("%d items a product: %s, %.3f times the larger of %s (requests) and %s (items)",
			perProduct, took, ratio(took, bound), requests, itemsBound(created))
		assert.LessOrEqual(t, ratio(took, bound), 1.05, "%d items a product", perProduct)
	}
}
