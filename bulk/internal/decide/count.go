package decide

import (
	"slices"
	"time"
)

// maxAhead is how far ahead of the ledger's clock a stated time may be. One that is further ahead is
// a mistake, and counts as none.
const maxAhead = 24 * time.Hour

// Count is a quantity of a SKU at a time. The zero value is no count.
type Count struct {
	Quantity int `json:"quantity"`
	// AsOf is the time that the inventory states; zero if it states none.
	AsOf time.Time `json:"as_of,omitzero"`
	// At is when Quantity was counted: when the ledger first saw it or, if that is earlier, AsOf.
	At time.Time `json:"at"`
}

// Observe adds the quantity that an inventory has for a SKU to the counts that the ledger has of
// the SKU. It returns the counts that the ledger has to keep, and the two that [Row] needs: the one
// in force and the one before it.
//
// The counts are the last one that was stated, and those that were seen without a time since, in
// the order in which they were seen: one for each quantity, so there are few. asOf is zero if the
// inventory states no time.
//
//   - A quantity with a time that is later than the last stated one replaces all counts.
//   - A quantity without a time keeps the time at which it was first seen since then, so that 3
//     after 2 after 3 has the first time of 3.
//   - A time that is earlier than the last stated one is an old inventory. It is in force while the
//     file says so, but not kept.
//   - No quantity is counted after it was seen. A time in the future is compared with others as it
//     is, but the count is of the time at which the ledger first saw it. A time that is more than a
//     day ahead counts as none.
func Observe(counts []Count, quantity int, asOf, now time.Time) (keep []Count, current Count, before *Count) {
	if !asOf.IsZero() && !asOf.After(now.Add(maxAhead)) {
		return observeStated(counts, quantity, asOf, now)
	}
	i := slices.IndexFunc(counts, func(c Count) bool { return c.Quantity == quantity })
	if i < 0 {
		i = len(counts)
		counts = append(slices.Clip(counts), Count{Quantity: quantity, At: now})
	}
	earliest := slices.MinFunc(counts, func(a, b Count) int { return a.At.Compare(b.At) })
	if earliest.At.Before(counts[i].At) {
		before = &earliest
	}
	return counts, counts[i], before
}

func observeStated(counts []Count, quantity int, asOf, now time.Time) (keep []Count, current Count, before *Count) {
	c := Count{Quantity: quantity, AsOf: asOf, At: asOf}
	if asOf.After(now) {
		c.At = now
	}
	i := slices.IndexFunc(counts, func(c Count) bool { return !c.AsOf.IsZero() })
	switch {
	case i < 0 || asOf.After(counts[i].AsOf):
		return []Count{c}, c, nil
	case asOf.Equal(counts[i].AsOf) && quantity == counts[i].Quantity:
		return counts, counts[i], nil
	case counts[i].At.Before(c.At):
		// A time in the future again, with another quantity: no later count than the first one.
		c.At = counts[i].At
		return counts, c, &counts[i]
	default:
		return counts, c, &counts[i]
	}
}

// Reading is one way to read the quantity of a row: what is owed if it is the right one.
type Reading struct {
	Count Count
	Sold  int // Sales after Count.At.
	// Returned are sales that ended without a payout, if this reading takes those items as back in
	// stock.
	Returned int
	Owed     int // Listings that should exist, 0 or more.
}

// Conflict is a question that only the seller can settle, by a quantity with a newer time.
type Conflict struct {
	Reason Reason
	// Lower holds until the conflict is settled.
	Lower, Higher Reading
}

// readings returns the reading of the row's quantity that holds, and the conflicts that it has with
// others.
func readings(row Row) (Reading, []Conflict) {
	var conflicts []Conflict
	holds := row.reading(Count{Quantity: row.Quantity, AsOf: row.AsOf, At: row.CountedAt})
	against := func(other Reading, reason Reason) {
		if other.Owed == holds.Owed {
			return
		}
		c := Conflict{Reason: reason, Lower: holds, Higher: other}
		if other.Owed < holds.Owed {
			c.Lower, c.Higher = other, holds
		}
		holds = c.Lower
		conflicts = append(conflicts, c)
	}
	if row.Before != nil {
		reason := ReasonChangedQuantity
		if !row.AsOf.IsZero() && !row.Before.AsOf.IsZero() {
			reason = ReasonOlderCount
			against(row.reading(*row.Before), reason)
		}
		if row.Before.At.Before(row.CountedAt) {
			against(row.reading(Count{Quantity: row.Quantity, At: row.Before.At}), reason)
		}
	}
	if n := row.returned(holds.Count.At); n > 0 {
		higher := holds
		higher.Returned = n
		higher.Owed = max(0, holds.Count.Quantity-holds.Sold+n)
		conflicts = append(conflicts, Conflict{Reason: ReasonUnpaidSale, Lower: holds, Higher: higher})
	}
	return holds, conflicts
}

func (r Row) reading(c Count) Reading {
	sold := 0
	for _, l := range r.Listings {
		if l.soldAfter(c.At) {
			sold++
		}
	}
	return Reading{Count: c, Sold: sold, Owed: max(0, c.Quantity-sold)}
}

// returned returns how many items may be back in stock, and were not when the quantity was counted:
// those whose order ended without a payout since.
func (r Row) returned(countedAt time.Time) int {
	n := 0
	for _, l := range r.Listings {
		if l.Presence != PresenceSold || !l.Unpaid {
			continue
		}
		if l.soldAfter(countedAt) || !l.EndedAt.IsZero() && !l.EndedAt.Before(countedAt) {
			n++
		}
	}
	return n
}

// soldAfter reports whether the listing was sold at t or later.
func (l Listing) soldAfter(t time.Time) bool {
	if l.Presence != PresenceSold {
		return false
	}
	recordedAfter := !l.RecordedAt.IsZero() && !l.RecordedAt.Before(t)
	return l.SoldAt.IsZero() || recordedAfter || !l.SoldAt.Before(t)
}
