package decide

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTotals_AddsUp(t *testing.T) {
	var totals Totals
	conflict := fixedRow(4, live("a"))
	conflict.Before = &Count{Quantity: 2, At: clock(0)}
	conflict.Listings = append(conflict.Listings, sold("s", clock(0)))
	inactive := fixedRow(1, live("a"))
	inactive.Active = new(false)
	dearer := fixedRow(1, live("a"))
	dearer.Price.Amount = "101"
	for _, row := range []Row{
		fixedRow(150), fixedRow(0, live("a"), live("b")), fixedRow(1, sold("a", clock(2))),
		fixedRow(1, live("a")), conflict, inactive, dearer,
	} {
		totals.Add(decideFixed(row, clock(12)))
	}
	assert.Equal(t, Totals{
		Rows: map[Class]int{
			ClassCreated: 1, ClassDeleted: 1, ClassSoldOut: 1, ClassUnchanged: 1, ClassConflict: 1, ClassUpdated: 2,
		},
		Reasons: map[Reason]int{ReasonSurplus: 1, ReasonChangedQuantity: 1},
		Owed:    156, Live: 6, Sold: 2, Creates: 152, Updates: 1, Deactivations: 1, Deletes: 2,
	}, totals)
	assert.Equal(t, 156, totals.Items())
	assert.Equal(t, 3*(2+1+1)+2*7, totals.Requests(7))
}

func TestLeastTime(t *testing.T) {
	for _, tc := range []struct {
		items, requests int
		left            int // Of the items of a window, NextFree is a minute.
		want            time.Duration
		why             string
	}{
		{0, 0, 500, 0, "nothing"},
		{500, 1, 500, 0, "all at once"},
		{501, 1, 500, 5 * time.Minute, "a second window"},
		{400, 1, 300, time.Minute, "some are used"},
		{1000, 600, 500, 599 * time.Second, "requests take longer"},
		{50_001, 1, 500, 24 * time.Hour, "more than a day has"},
	} {
		states := publicState(25_000, tc.left, 50_000)
		assert.Equal(t, tc.want, LeastTime(states, tc.items, tc.requests), tc.why)
	}
	assert.Zero(t, LeastTime(nil, 1000, 1000), "no quota")
}
