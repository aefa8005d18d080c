package decide

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

// clock returns an hour of the day on which the stories of the tests take place.
func clock(hour int) time.Time { return time.Date(2026, 11, 2, hour, 0, 0, 0, time.UTC) }

func live(id string) Listing {
	return Listing{
		ID: id, Presence: PresenceLive, Active: true, Amount: "100.0000", Currency: "USD",
		CreatedAt: clock(0), ReadAt: clock(23),
	}
}

func sold(id string, at time.Time) Listing {
	l := live(id)
	l.Presence, l.Active, l.SoldAt = PresenceSold, false, at
	return l
}

// fixedRow is a row of 100 USD.
func fixedRow(quantity int, listings ...Listing) Row {
	return Row{
		Row: stock.Row{
			SKU: "A", Quantity: quantity, Currency: gen.CurrencyCodeUSD,
			Price: stock.Price{Kind: stock.PriceFixed, Amount: "100"},
		},
		Variant: "v", CountedAt: clock(1), Listings: listings,
	}
}

func decideFixed(row Row, now time.Time) Decision {
	return Decide(row, Market{}, nil, now, Policy{})
}

// A statement is a quantity that the inventory has from an hour on.
type statement struct {
	hour, quantity int
	asOf           int // Hour, 0 if the inventory states none.
}

func TestDecide_QuantityStories(t *testing.T) {
	for _, tc := range []struct {
		story      string
		statements []statement
		sales      []int // Hours.
		owed       int
		conflict   Reason
		higher     int // The other reading of the conflict.
	}{
		{
			"sold and restocked with the same number: three pairs, one is sold, one is bought, and the file " +
				"still says three. Nothing shows the purchase, so the sold pair is not listed again",
			[]statement{{1, 3, 0}, {5, 3, 0}},
			[]int{3},
			2, "", 0,
		},
		{
			"the same, but the file states when the three were counted: the restock is known",
			[]statement{{1, 3, 0}, {5, 3, 4}},
			[]int{3},
			3, "", 0,
		},
		{
			"part sold, part restocked: five pairs, two are sold, one is bought, and the file says four. Four " +
				"may be what is left, or what an older file said before both sales",
			[]statement{{1, 5, 0}, {5, 4, 0}},
			[]int{2, 3},
			2, ReasonChangedQuantity, 4,
		},
		{
			"the same, settled with a time",
			[]statement{{1, 5, 0}, {5, 4, 0}, {6, 4, 5}},
			[]int{2, 3},
			4, "", 0,
		},
		{
			"changed to a total: three pairs, one is sold, five are bought, and the file says eight, which is all " +
				"that was ever bought. Seven are left",
			[]statement{{1, 3, 0}, {5, 8, 0}},
			[]int{3},
			7, ReasonChangedQuantity, 8,
		},
		{
			"a file exported before a sale and used after it: its quantity is known from before the sale",
			[]statement{{1, 3, 0}, {4, 2, 4}, {5, 3, 1}},
			[]int{3},
			2, "", 0,
		},
		{
			"the same without times: 3, 2 and 3 again keeps the first time of 3",
			[]statement{{1, 3, 0}, {4, 2, 0}, {5, 3, 0}},
			[]int{3},
			2, "", 0,
		},
		{
			"one price edited in an old file: the edit makes the file new, but its quantity stays as old as it is",
			[]statement{{1, 3, 0}, {9, 3, 0}},
			[]int{3, 4},
			1, "", 0,
		},
		{
			"an old file with a time, after a newer one: the sales since its time are counted, and the lower of " +
				"both counts holds",
			[]statement{{1, 7, 0}, {4, 2, 4}, {5, 7, 2}},
			[]int{3},
			2, ReasonOlderCount, 6,
		},
		{
			"two quantities at one time: the lower holds",
			[]statement{{4, 2, 4}, {5, 3, 4}},
			nil, 2, ReasonOlderCount, 3,
		},
		{
			"changed before anything was sold: the new quantity is the stock",
			[]statement{{1, 3, 0}, {2, 5, 0}},
			[]int{4},
			4, "", 0,
		},
		{
			"an unsettled change stays one when the quantity changes again",
			[]statement{{1, 5, 0}, {4, 4, 0}, {5, 6, 0}},
			[]int{3},
			5, ReasonChangedQuantity, 6,
		},
		{
			"a stated quantity keeps its time when the file no longer states it",
			[]statement{{1, 3, 0}, {5, 3, 4}, {6, 3, 0}},
			[]int{3},
			3, "", 0,
		},
		{
			"a time in the future would hide a sale: the quantity was counted when it was first seen, also later",
			[]statement{{1, 3, 5}, {8, 3, 5}},
			[]int{3},
			2, "", 0,
		},
		{
			"a clock that is ahead states times in order, too",
			[]statement{{1, 3, 5}, {4, 3, 8}},
			[]int{3},
			3, "", 0,
		},
		{
			"another quantity of that time: the lower holds",
			[]statement{{1, 3, 5}, {4, 2, 5}},
			[]int{3},
			1, ReasonOlderCount, 2,
		},
		{
			"a time that is days ahead is a mistake and none, and does not make the next one old",
			[]statement{{1, 3, 99}, {4, 2, 4}},
			[]int{3},
			2, "", 0,
		},
	} {
		t.Run(tc.story, func(t *testing.T) {
			row := fixedRow(0)
			var counts []Count
			for _, s := range tc.statements {
				row.Quantity, row.AsOf = s.quantity, time.Time{}
				if s.asOf > 0 {
					row.AsOf = clock(s.asOf)
				}
				var current Count
				counts, current, row.Before = Observe(counts, s.quantity, row.AsOf, clock(s.hour))
				row.CountedAt = current.At
			}
			for i, hour := range tc.sales {
				row.Listings = append(row.Listings, sold(string(rune('a'+i)), clock(hour)))
			}
			d := decideFixed(row, clock(12))
			assert.Equal(t, tc.owed, d.Owed)
			assert.Equal(t, tc.owed, d.Creates)
			if tc.conflict == "" {
				assert.Empty(t, d.Conflicts)
				return
			}
			require.Len(t, d.Conflicts, 1)
			c := d.Conflicts[0]
			assert.Equal(t, ClassConflict, d.Class)
			assert.Equal(t, tc.conflict, c.Reason)
			assert.Equal(t, []int{tc.owed, tc.higher}, []int{c.Lower.Owed, c.Higher.Owed})
		})
	}
}

func TestObserve_KeepsItsArgument(t *testing.T) {
	counts := make([]Count, 1, 4)
	counts[0] = Count{Quantity: 3, At: clock(1)}
	a, _, _ := Observe(counts, 4, time.Time{}, clock(2))
	b, _, _ := Observe(counts, 5, time.Time{}, clock(2))
	assert.Equal(t, 4, a[1].Quantity)
	assert.Equal(t, 5, b[1].Quantity)
}

func TestDecide_SaleWithoutPayoutIsConflict(t *testing.T) {
	unpaid := sold("a", clock(2))
	unpaid.Unpaid, unpaid.EndedAt = true, clock(6)
	for _, tc := range []struct {
		counted  int
		owed     int
		conflict bool
		why      string
	}{
		{1, 2, true, "sold and returned since the count: three or two are in stock"},
		{4, 3, true, "counted while the item was away: three are in stock, or four with the one that came back"},
		{7, 3, false, "counted after it came back: the seller has counted it, or not"},
	} {
		row := fixedRow(3, unpaid)
		row.CountedAt = clock(tc.counted)
		d := decideFixed(row, clock(12))
		assert.Equal(t, tc.owed, d.Creates, tc.why)
		assert.Equal(t, tc.conflict, d.Class == ClassConflict, tc.why)
		if tc.conflict {
			require.Len(t, d.Conflicts, 1, tc.why)
			assert.Equal(t, ReasonUnpaidSale, d.Conflicts[0].Reason, tc.why)
			assert.Equal(t, tc.owed+1, d.Conflicts[0].Higher.Owed, tc.why)
		}
	}
}

func TestDecide_SaleOfLaterListingIsAfterCount(t *testing.T) {
	sale := sold("a", clock(2)) // By the service's clock.
	row := fixedRow(3, sale)
	row.CountedAt = clock(5) // By the ledger's, which is fast.
	assert.Equal(t, 3, decideFixed(row, clock(6)).Creates)
	row.Listings[0].RecordedAt = clock(5)
	assert.Equal(t, 2, decideFixed(row, clock(6)).Creates, "it was made after the count, and so was sold after it")
}

func TestDecide_SaleOfUnknownTimeIsAfterAnyCount(t *testing.T) {
	row := fixedRow(3, sold("a", time.Time{}))
	row.CountedAt = clock(20)
	d := decideFixed(row, clock(21))
	assert.Equal(t, 2, d.Creates)
	assert.Equal(t, 1, d.Sold)
	assert.Zero(t, d.LastSold)
}
