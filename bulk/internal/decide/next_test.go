package decide

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// publicState returns the windows of the public quota with so much left.
func publicState(requests, itemsWindow, itemsDay int) []quota.WindowState {
	const day = 24 * time.Hour
	return []quota.WindowState{
		{Window: quota.RequestsPerSecond, Limit: 1, Per: time.Second},
		{Window: quota.RequestsPerDay, Limit: 25_000, Per: day, Used: 25_000 - requests, NextFree: time.Hour},
		{Window: quota.ItemsPerWindow, Limit: 500, Per: 5 * time.Minute, Used: 500 - itemsWindow, NextFree: time.Minute},
		{Window: quota.ItemsPerDay, Limit: 50_000, Per: day, Used: 50_000 - itemsDay, NextFree: 2 * time.Hour},
	}
}

func TestNext(t *testing.T) {
	now := clock(12)
	due := func(id string, in time.Duration) *Due { return &Due{ID: id, At: now.Add(in)} }
	filling := func(items int, waited time.Duration) Queue {
		return Queue{Items: items, Since: now.Add(-waited), Coming: true}
	}
	unused := publicState(25_000, 500, 50_000)
	for _, tc := range []struct {
		why  string
		view View
		want Action
	}{
		{"nothing is due", View{}, Action{Kind: ActSleep}},
		{
			"it sleeps until the first that is due",
			View{Sales: due("", time.Minute), Audit: due("", time.Second), Unknown: due("s", time.Hour)},
			Action{Kind: ActSleep, Until: now.Add(time.Second)},
		},
		{
			"unknown outcomes wait for their time, and nothing waits for them",
			View{Quota: unused, Unknown: due("s", time.Minute), Creates: Queue{Items: 100}},
			Action{Kind: ActSubmit, Write: WriteCreate, Items: 100},
		},
		{
			"then they come before writes",
			View{Quota: unused, Unknown: due("s", 0), Creates: Queue{Items: 100}},
			Action{Kind: ActSettle, ID: "s"},
		},
		{
			"sales come first",
			View{Sales: due("", 0), Unknown: due("s", 0), Deletes: Queue{Items: 1}},
			Action{Kind: ActSales},
		},
		{
			"deletes before deactivations, deactivations before the rest",
			View{Deletes: Queue{Items: 3}, Deactivations: Queue{Items: 200}, Creates: Queue{Items: 900}},
			Action{Kind: ActSubmit, Write: WriteDelete, Items: 3},
		},
		{
			"a batch of deactivations is filled with updates",
			View{Deactivations: Queue{Items: 3}, Updates: filling(20, 0), Creates: Queue{Items: 900}},
			Action{Kind: ActSubmit, Write: WriteUpdate, Items: 23},
		},
		{"without a quota batches are full", View{Creates: Queue{Items: 900}}, Action{Kind: ActSubmit, Write: WriteCreate, Items: 100}},
		{"a partial batch if no more are coming", View{Creates: Queue{Items: 9}}, Action{Kind: ActSubmit, Write: WriteCreate, Items: 9}},
		{
			"a partial batch waits while more are coming",
			View{Creates: filling(99, time.Minute)},
			Action{Kind: ActSleep, Until: now.Add(9 * time.Minute)},
		},
		{"but not for ever", View{Creates: filling(99, 10*time.Minute)}, Action{Kind: ActSubmit, Write: WriteCreate, Items: 99}},
		{
			"deletes wait for seconds only",
			View{Deletes: filling(1, 10*time.Second)},
			Action{Kind: ActSubmit, Write: WriteDelete, Items: 1},
		},
		{
			"creates while they have less than a third",
			View{Creates: Queue{Items: 100}, Updates: Queue{Items: 100}, RecentCreates: 100, RecentUpdates: 300},
			Action{Kind: ActSubmit, Write: WriteCreate, Items: 100},
		},
		{
			"updates if creates keep a third",
			View{Creates: Queue{Items: 100}, Updates: Queue{Items: 100}, RecentCreates: 100, RecentUpdates: 100},
			Action{Kind: ActSubmit, Write: WriteUpdate, Items: 100},
		},
		{
			"no room for items: look-ups use the requests",
			View{Quota: publicState(25_000, 0, 50_000), Deletes: Queue{Items: 100}, LookUps: due("p", 0)},
			Action{Kind: ActLookUp, ID: "p"},
		},
		{
			"no room for items, and nothing else",
			View{Quota: publicState(25_000, 0, 50_000), Deletes: Queue{Items: 100}},
			Action{Kind: ActSleep, Until: now.Add(time.Minute)},
		},
		{
			"the day has no room for items",
			View{Quota: publicState(25_000, 500, 0), Deletes: Queue{Items: 100}},
			Action{Kind: ActSleep, Until: now.Add(2 * time.Hour)},
		},
		{
			"room for a part that stays unused for a minute otherwise",
			View{Quota: publicState(25_000, 40, 50_000), Creates: Queue{Items: 100}},
			Action{Kind: ActSubmit, Write: WriteCreate, Items: 40},
		},
		{
			"creates do not take the room that deletes wait for",
			View{Quota: publicState(25_000, 10, 50_000), Deletes: Queue{Items: 100}, Creates: Queue{Items: 10}},
			Action{Kind: ActSleep, Until: now.Add(time.Minute)},
		},
		{
			"results before polls",
			View{Results: due("b", 0), Batches: Batches{Polled: due("c", 0)}},
			Action{Kind: ActResult, ID: "b"},
		},
		{
			"the first poll without experience",
			View{Batches: Batches{Unpolled: due("b", -3*time.Second)}},
			Action{Kind: ActPoll, ID: "b"},
		},
		{
			"batches take 20 seconds lately",
			View{Batches: Batches{Unpolled: due("b", -3*time.Second), Typical: 20 * time.Second}},
			Action{Kind: ActSleep, Until: now.Add(19 * time.Second)},
		},
		{
			"another one was not done after 24 seconds",
			View{Batches: Batches{Unpolled: due("b", -3*time.Second), Waited: 24 * time.Second}},
			Action{Kind: ActSleep, Until: now.Add(45 * time.Second)},
		},
		{
			"one that is not done for hours delays the others for minutes only",
			View{Batches: Batches{Unpolled: due("b", 0), Waited: 9 * time.Hour}},
			Action{Kind: ActSleep, Until: now.Add(5 * time.Minute)},
		},
		{
			"the last requests of a day are for writes",
			View{Quota: publicState(2_500, 500, 50_000), LookUps: due("p", 0), Audit: due("", 0), Markets: due("m", 0)},
			Action{Kind: ActSleep, Until: now.Add(time.Hour)},
		},
		{
			"and for results",
			View{Quota: publicState(1, 500, 50_000), LookUps: due("p", 0), Results: due("b", 0)},
			Action{Kind: ActResult, ID: "b"},
		},
		{
			"none are left",
			View{Quota: publicState(0, 500, 50_000), Results: due("b", 0), Audit: due("", time.Second)},
			Action{Kind: ActSleep, Until: now.Add(time.Hour)},
		},
		{"listings before products", View{Reads: due("l", 0), LookUps: due("p", 0)}, Action{Kind: ActRead, ID: "l"}},
		{"products before audits", View{Audit: due("", 0), LookUps: due("p", 0)}, Action{Kind: ActLookUp, ID: "p"}},
		{"audits before markets, as their pace is limited", View{Audit: due("", 0), Markets: due("m", 0)}, Action{Kind: ActAudit}},
		{"first markets before products", View{FirstMarkets: due("m", 0), LookUps: due("p", 0)}, Action{Kind: ActMarket, ID: "m"}},
		{"markets", View{Markets: due("m", 0)}, Action{Kind: ActMarket, ID: "m"}},
	} {
		assert.Equal(t, tc.want, Next(tc.view, now), tc.why)
	}
}

func TestPollAgain_GrowsWithAge(t *testing.T) {
	submitted := clock(1)
	for _, tc := range []struct{ age, pause time.Duration }{
		{0, 3 * time.Second},
		{time.Second, 3 * time.Second},
		{20 * time.Second, 20 * time.Second},
		{time.Hour, 5 * time.Minute},
		{-time.Hour, 3 * time.Second}, // A clock that was set back.
	} {
		polled := submitted.Add(tc.age)
		assert.Equal(t, polled.Add(tc.pause), PollAgain(submitted, polled), tc.age)
	}
}

func TestAuditEvery_TakesTenPercentOfTheDay(t *testing.T) {
	every := AuditEvery(publicState(25_000, 500, 50_000))
	assert.LessOrEqual(t, int(24*time.Hour/every), 2_500)
	assert.GreaterOrEqual(t, int(24*time.Hour/every), 2_499)
	assert.Equal(t, 10*time.Second, AuditEvery(nil))
}

// TestNext_StaysWithinQuota checks random views: what Next submits has room, what it wakes for is
// in the future, and what it does is due.
func TestNext_StaysWithinQuota(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	now := clock(12)
	maybe := func() *Due {
		if r.IntN(3) > 0 {
			return nil
		}
		return &Due{ID: "x", At: now.Add(time.Duration(r.IntN(120)-60) * time.Second)}
	}
	queue := func() Queue {
		return Queue{Items: max(0, r.IntN(400)-200), Since: now.Add(-time.Duration(r.IntN(900)) * time.Second), Coming: r.IntN(2) == 0}
	}
	for range 20_000 {
		requests, room := max(0, r.IntN(25_000)-5000), r.IntN(501)
		v := View{
			Quota: publicState(requests, room, r.IntN(50_001)), Unknown: maybe(), Results: maybe(), Sales: maybe(),
			Reads: maybe(), LookUps: maybe(), FirstMarkets: maybe(), Markets: maybe(), Audit: maybe(),
			Batches: Batches{Unpolled: maybe(), Polled: maybe(), Typical: time.Duration(r.IntN(90)) * time.Second},
			Deletes: queue(), Deactivations: queue(), Updates: queue(), Creates: queue(),
			RecentCreates: r.IntN(500), RecentUpdates: r.IntN(500),
		}
		message := []any{"seed %d: %+v", seed, v}
		a := Next(v, now)
		switch a.Kind {
		case ActSleep:
			assert.True(t, a.Until.IsZero() || a.Until.After(now), message...)
		case ActSubmit:
			ready := map[WriteKind]int{
				WriteDelete: v.Deletes.Items, WriteUpdate: v.Deactivations.Items + v.Updates.Items, WriteCreate: v.Creates.Items,
			}
			assert.Positive(t, a.Items, message...)
			assert.LessOrEqual(t, a.Items, min(BatchSize, room, ready[a.Write], v.Quota[3].Left()), message...)
			assert.True(t, a.Write == WriteDelete || v.Deletes.Items == 0 || v.Deletes.Coming, message...)
		default:
			assert.NotEmpty(t, a.ID, message...)
		}
		if requests == 0 {
			assert.Equal(t, ActSleep, a.Kind, message...)
		}
	}
}
