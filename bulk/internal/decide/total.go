package decide

import (
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// Totals are decisions added up. The zero value is empty. It is not safe for concurrent use.
type Totals struct {
	Rows    map[Class]int  // A row has one class.
	Reasons map[Reason]int // A row may have several reasons.

	// Listings.
	Owed, Live, MayLive, Sold                int
	Creates, Updates, Deactivations, Deletes int // Updates without deactivations.
	Reads                                    int
}

// Add adds a decision.
func (t *Totals) Add(d Decision) {
	if t.Rows == nil {
		t.Rows, t.Reasons = make(map[Class]int), make(map[Reason]int)
	}
	t.Rows[d.Class]++
	for _, r := range d.Reasons {
		t.Reasons[r]++
	}
	t.Owed += d.Owed
	t.Live += d.Live
	t.MayLive += d.MayLive
	t.Sold += d.Sold
	t.Creates += d.Creates
	t.Deletes += len(d.Deletes)
	t.Reads += len(d.Reads)
	for _, u := range d.Updates {
		if u.Deactivates {
			t.Deactivations++
		} else {
			t.Updates++
		}
	}
}

// Items returns the batch items that are owed.
func (t *Totals) Items() int { return t.Creates + t.Updates + t.Deactivations + t.Deletes }

// Requests returns the least requests that the totals need: of each kind, a submission, a poll and
// a reading of the results for each batch, and two for each of lookUps products.
func (t *Totals) Requests(lookUps int) int {
	batches := 0
	for _, items := range []int{t.Creates, t.Updates + t.Deactivations, t.Deletes} {
		batches += (items + BatchSize - 1) / BatchSize
	}
	return 3*batches + t.Reads + 2*lookUps
}

// LeastTime returns a lower bound of the time that the quota needs, from now, for that many batch
// items and requests.
func LeastTime(states []quota.WindowState, items, requests int) time.Duration {
	least := time.Duration(0)
	for _, s := range states {
		n := requests
		if s.Window == quota.ItemsPerWindow || s.Window == quota.ItemsPerDay {
			n = items
		}
		if n <= 0 || s.Limit <= 0 {
			continue
		}
		least = max(least, time.Duration((n-1)/s.Limit)*s.Per)
		if n > s.Left() {
			least = max(least, s.NextFree)
		}
	}
	return least
}
