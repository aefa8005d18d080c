package decide

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

func with(l Listing, change func(*Listing)) Listing {
	change(&l)
	return l
}

func withRow(r Row, change func(*Row)) Row {
	change(&r)
	return r
}

func TestDecide_CreatesAndDeletes(t *testing.T) {
	unread := with(live("u"), func(l *Listing) { l.Presence = PresenceUnknown })
	ended := with(live("e"), func(l *Listing) { l.Presence = PresenceEnded })
	inactive := with(live("i"), func(l *Listing) { l.Active = false })
	newer := with(live("n"), func(l *Listing) { l.CreatedAt = clock(3) })
	cheaper := with(live("c"), func(l *Listing) { l.Amount = "90" })
	other := with(live("o"), func(l *Listing) { l.Variant = "w" })
	for _, tc := range []struct {
		why     string
		row     Row
		class   Class
		creates int
		deletes []string
		reasons []Reason
	}{
		{"a new row", fixedRow(3), ClassCreated, 3, nil, nil},
		{"as many as owed", fixedRow(2, live("a"), live("b")), ClassUnchanged, 0, nil, nil},
		{"none in stock, none listed", fixedRow(0), ClassUnchanged, 0, nil, nil},
		{"all of it is sold", fixedRow(1, sold("a", clock(2))), ClassSoldOut, 0, nil, nil},
		{"a listing that ended elsewhere is made again", fixedRow(2, live("a"), ended), ClassCreated, 1, nil, nil},
		{
			"a listing that the pages lack may be live", fixedRow(2, live("a"), unread),
			ClassWaiting, 0, nil,
			[]Reason{ReasonUnreadListing},
		},
		{
			"even if more is owed, each listing is accounted for first", fixedRow(9, unread),
			ClassWaiting, 0, nil,
			[]Reason{ReasonUnreadListing},
		},
		{
			"a value of a later version may be live", fixedRow(1, with(live("a"), func(l *Listing) { l.Presence = "new" })),
			ClassWaiting, 0, nil,
			[]Reason{ReasonUnreadListing},
		},
		{
			"a create in flight may land, the rest is owed",
			withRow(fixedRow(5, live("a")), func(r *Row) { r.InFlight = []Write{{Kind: WriteCreate, Quantity: 3}} }),
			ClassCreated, 1, nil,
			[]Reason{ReasonInFlight},
		},
		{
			"nothing is sent while an outcome is unknown",
			withRow(fixedRow(5, live("a")), func(r *Row) {
				r.InFlight = []Write{{Kind: WriteCreate, Quantity: 3, Unknown: true}}
			}),
			ClassWaiting, 0, nil,
			[]Reason{ReasonInFlight, ReasonUnknownWrite},
		},
		{
			"a listing that is being deleted still counts",
			withRow(fixedRow(1, live("a")), func(r *Row) { r.InFlight = []Write{{Kind: WriteDelete, ListingID: "a"}} }),
			ClassWaiting, 0, nil,
			[]Reason{ReasonInFlight, ReasonDeleteFirst},
		},
		{
			"a create in flight and a live one are more than owed: the live one goes",
			withRow(fixedRow(1, live("a")), func(r *Row) { r.InFlight = []Write{{Kind: WriteCreate, Quantity: 1}} }),
			ClassDeleted, 0,
			[]string{"a"},
			[]Reason{ReasonSurplus, ReasonInFlight},
		},
		{
			"a delete in flight is not repeated",
			withRow(fixedRow(1, live("a"), live("b")), func(r *Row) {
				r.InFlight = []Write{{Kind: WriteDelete, ListingID: "a"}}
			}),
			ClassWaiting, 0, nil,
			[]Reason{ReasonInFlight},
		},
		{
			"a listing that is being updated is not deleted",
			withRow(fixedRow(0, live("a"), live("b")), func(r *Row) {
				r.InFlight = []Write{{Kind: WriteUpdate, ListingID: "a"}}
			}),
			ClassDeleted, 0,
			[]string{"b"},
			[]Reason{ReasonInFlight, ReasonSurplus},
		},
		{"the inactive one goes first", fixedRow(1, inactive, newer), ClassDeleted, 0, []string{"i"}, []Reason{ReasonSurplus}},
		{"then the one with other terms", fixedRow(1, cheaper, newer), ClassDeleted, 0, []string{"c"}, []Reason{ReasonSurplus}},
		{"then the newest", fixedRow(1, newer, live("z")), ClassDeleted, 0, []string{"n"}, []Reason{ReasonSurplus}},
		{"then the last id", fixedRow(1, live("a"), live("z")), ClassDeleted, 0, []string{"z"}, []Reason{ReasonSurplus}},
		{
			"another variant is deleted before its place is filled", fixedRow(1, other),
			ClassDeleted, 0,
			[]string{"o"},
			[]Reason{ReasonOtherVariant, ReasonDeleteFirst},
		},
		{
			"and it goes before all others", fixedRow(2, live("z"), live("y"), other),
			ClassDeleted, 0,
			[]string{"o"},
			[]Reason{ReasonOtherVariant},
		},
		{
			"an unresolved row waits", withRow(fixedRow(1), func(r *Row) { r.Variant = "" }),
			ClassWaiting, 0, nil,
			[]Reason{ReasonUnresolved},
		},
		{
			"a missing row is left alone", withRow(fixedRow(1, live("a"), live("b")), func(r *Row) { r.Missing = true }),
			ClassUnchanged, 0, nil,
			[]Reason{ReasonMissing},
		},
		{
			"a row whose expiry is past creates nothing",
			withRow(fixedRow(1), func(r *Row) { r.ExpiresAt = gen.TimeOf(clock(2)) }),
			ClassUnchanged, 0, nil,
			[]Reason{ReasonExpired},
		},
		{
			"a refused create is not repeated",
			withRow(fixedRow(1), func(r *Row) {
				r.Refusals = []Refusal{{Kind: WriteCreate, Terms: Terms{Amount: "100.0", Currency: "USD", Active: true}}}
			}),
			ClassFailed, 0, nil,
			[]Reason{ReasonRefused},
		},
		{
			"but one with other terms is sent",
			withRow(fixedRow(1), func(r *Row) {
				r.Refusals = []Refusal{{Kind: WriteCreate, Terms: Terms{Amount: "99", Currency: "USD", Active: true}}}
			}),
			ClassCreated, 1, nil, nil,
		},
		{
			"a refused delete is not repeated, another listing is deleted",
			withRow(fixedRow(1, live("a"), live("z")), func(r *Row) {
				r.Refusals = []Refusal{{Kind: WriteDelete, ListingID: "z"}}
			}),
			ClassDeleted, 0,
			[]string{"a"},
			[]Reason{ReasonRefused, ReasonSurplus},
		},
	} {
		d := decideFixed(tc.row, clock(12))
		assert.Equal(t, tc.class, d.Class, tc.why)
		assert.Equal(t, tc.creates, d.Creates, tc.why)
		assert.Equal(t, tc.deletes, d.Deletes, tc.why)
		assert.Equal(t, tc.reasons, d.Reasons, tc.why)
	}
}

func TestDecide_DeletesMissingRowsOnlyIfAllowed(t *testing.T) {
	row := fixedRow(2, live("a"), live("b"))
	row.Missing = true
	d := Decide(row, Market{}, nil, clock(12), Policy{DeleteMissing: true})
	assert.Equal(t, ClassDeleted, d.Class)
	assert.Equal(t, []string{"b", "a"}, d.Deletes)
	assert.Zero(t, d.Owed)
}

func TestDecide_Updates(t *testing.T) {
	expiry, soon := gen.TimeOf(clock(20)), gen.TimeOf(clock(15))
	past := gen.TimeOf(clock(2))
	for _, tc := range []struct {
		why     string
		row     func(*Row)
		listing func(*Listing)
		want    *Update
	}{
		{"equal terms, another notation", nil, nil, nil},
		{
			"another amount, with the currency", func(r *Row) { r.Price.Amount = "101" }, nil,
			&Update{ListingID: "a", Terms: Terms{Amount: "101", Currency: "USD", Active: true}},
		},
		{
			"an expiry that the row does not state is kept",
			func(r *Row) { r.Price.Amount = "101" },
			func(l *Listing) { l.ExpiresAt = expiry },
			&Update{ListingID: "a", Terms: Terms{Amount: "101", Currency: "USD", Active: true, ExpiresAt: expiry}},
		},
		{
			"an expiry that the row states replaces the listing's", func(r *Row) { r.ExpiresAt = soon },
			func(l *Listing) { l.ExpiresAt = expiry },
			&Update{ListingID: "a", Terms: Terms{Amount: "100.0000", Currency: "USD", Active: true, ExpiresAt: soon}},
		},
		{
			"fractions of a second are not kept by all services",
			func(r *Row) { r.ExpiresAt = gen.TimeOf(clock(20).Add(900 * time.Millisecond)) },
			func(l *Listing) { l.ExpiresAt = expiry },
			nil,
		},
		{
			"another currency, though the number is equal", func(r *Row) { r.Currency = "EUR" }, nil,
			&Update{ListingID: "a", Terms: Terms{Amount: "100", Currency: "EUR", Active: true}},
		},
		{
			"an inactive listing is activated", nil, func(l *Listing) { l.Active = false },
			&Update{ListingID: "a", Terms: Terms{Amount: "100.0000", Currency: "USD", Active: true}},
		},
		{
			"an ask that has ended is renewed, without its past expiry",
			nil,
			func(l *Listing) { l.ExpiresAt = past },
			&Update{ListingID: "a", Terms: Terms{Amount: "100.0000", Currency: "USD", Active: true}},
		},
		{
			"an inactive row ends asks and changes nothing else",
			func(r *Row) { r.Active, r.Price.Amount = new(false), "101" },
			func(l *Listing) { l.ExpiresAt = expiry },
			&Update{ListingID: "a", Deactivates: true, Terms: Terms{Amount: "100.0000", Currency: "USD", ExpiresAt: expiry}},
		},
		{
			"an inactive row with an inactive listing", func(r *Row) { r.Active, r.Price.Amount = new(false), "101" },
			func(l *Listing) { l.Active = false },
			nil,
		},
		{
			"an expiry that is past ends the ask", func(r *Row) { r.ExpiresAt = past }, nil,
			&Update{ListingID: "a", Deactivates: true, Terms: Terms{Amount: "100.0000", Currency: "USD"}},
		},
		{
			"an update in flight", func(r *Row) {
				r.Price.Amount = "101"
				r.InFlight = []Write{{Kind: WriteUpdate, ListingID: "a"}}
			}, nil, nil,
		},
		{
			"a refused update is not repeated", func(r *Row) {
				r.Price.Amount = "101"
				r.Refusals = []Refusal{{
					Kind: WriteUpdate, ListingID: "a",
					Terms: Terms{Amount: "101", Currency: "USD", Active: true},
				}}
			}, nil, nil,
		},
		{
			"until the seller's or the ledger's time for it has passed", func(r *Row) {
				r.Price.Amount = "101"
				r.Refusals = []Refusal{{
					Kind: WriteUpdate, ListingID: "a", Until: clock(11),
					Terms: Terms{Amount: "101", Currency: "USD", Active: true},
				}}
			}, nil,
			&Update{ListingID: "a", Terms: Terms{Amount: "101", Currency: "USD", Active: true}},
		},
	} {
		row := fixedRow(1, live("a"))
		if tc.listing != nil {
			tc.listing(&row.Listings[0])
		}
		if tc.row != nil {
			tc.row(&row)
		}
		d := decideFixed(row, clock(12))
		assert.Zero(t, d.Creates, tc.why)
		assert.Empty(t, d.Deletes, tc.why)
		if tc.want == nil {
			assert.Empty(t, d.Updates, tc.why)
			continue
		}
		assert.Equal(t, []Update{*tc.want}, d.Updates, tc.why)
		assert.Equal(t, ClassUpdated, d.Class, tc.why)
	}
}

func TestDecide_CreatesWithTheTermsOfTheRow(t *testing.T) {
	row := fixedRow(2)
	row.Currency, row.Active, row.ExpiresAt = "", new(false), gen.TimeOf(clock(20))
	d := decideFixed(row, clock(12))
	assert.Equal(t, Terms{Amount: "100", Currency: "USD", ExpiresAt: row.ExpiresAt}, d.Terms)
	assert.Equal(t, clock(20), d.At, "the expiry changes the decision")
}

func TestDecide_UpdatesOnlyWhatStays(t *testing.T) {
	row := fixedRow(1, live("a"), live("b"))
	row.Price.Amount = "101"
	d := decideFixed(row, clock(12))
	assert.Equal(t, []string{"b"}, d.Deletes)
	assert.Len(t, d.Updates, 1)
	assert.Equal(t, "a", d.Updates[0].ListingID)
}

func TestDecide_WaitsForPrices(t *testing.T) {
	row := fixedRow(1)
	row.Price = stock.Price{Kind: stock.PriceBelowLowest, Less: "1"}
	d := decideFixed(row, clock(12))
	assert.Equal(t, ClassWaiting, d.Class)
	assert.Equal(t, []Reason{ReasonMarketUnread}, d.Reasons)
	d = Decide(row, Market{ReadAt: clock(11)}, nil, clock(12), Policy{})
	assert.Equal(t, ClassWaiting, d.Class)
	assert.Equal(t, []Reason{ReasonNoPrice}, d.Reasons)
}
