package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/gen"
)

// hostileMembers are answers of which some members are not what the spec says.
func hostileMembers() []hostileCase {
	const readable = "read; sent 1"
	return []hostileCase{
		{
			name: "every field null", rule: "beside an id, null is absent, and no error", call: getListing, answer: hostileBody(200, "every-field-null.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, &gen.Listing{ListingID: listingID}, l) }),
		},
		{
			name: "every field missing", rule: "beside an id, missing is absent, and no error", call: getListing, answer: hostileBody(200, "every-field-missing.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, &gen.Listing{ListingID: listingID}, l) }),
		},
		{
			name: "unknown fields and values", rule: "enums are open, and new fields harm nobody", call: getListing, answer: hostileBody(200, "unknown-fields-and-values.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) {
				assert.Equal(t, gen.ListingStatus("ON_HOLD"), l.Status)
				assert.False(t, l.Status.Valid())
				assert.False(t, l.LastOperation.OperationStatus.Terminal(), "an unknown status is not an end")
				assert.Equal(t, gen.Amount("162"), l.Amount)
			}),
		},
		{
			name: "figures and amounts of either kind", rule: "strings and numbers are read alike, digit for digit", call: getOrder, answer: hostileBody(200, "figures-as-strings.json"), result: readable,
			check: func(t *testing.T, value any, _ error) {
				o := value.(*gen.Order)
				assert.Equal(t, gen.Amount("210"), o.Amount)
				assert.Equal(t, gen.Figure("210.0000"), o.Payout.SalePrice)
				assert.Equal(t, gen.Figure("184.80"), o.Payout.TotalPayout)
				assert.Equal(t, gen.Figure("0.09"), o.Payout.Adjustments[0].Percentage)
				assert.Equal(t, gen.Figure("-6.30"), o.Payout.Adjustments[1].Amount)
			},
		},
		{
			name: "counts of either kind", rule: "counts are read from strings and from numbers", call: pollBatch, answer: hostileBody(200, "counts-as-strings.json"), result: readable,
			check: func(t *testing.T, value any, _ error) {
				b := value.(gen.Batch)
				assert.Equal(t, gen.Int(12), b.TotalItems)
				assert.Equal(t, gen.Counts{"queued": 3, "in_progress": 4, "completed": 5, "failed": 0}, b.ItemStatuses)
			},
		},
		{
			name: "text where counts belong", rule: "an odd member is left zero and told, the others stay", call: pollBatch, answer: hostileBody(200, "text-for-counts.json"), result: "read, with 1 warnings; sent 1",
			check: func(t *testing.T, value any, _ error) {
				b := value.(gen.Batch)
				assert.Empty(t, b.ItemStatuses)
				assert.Equal(t, gen.Int(12), b.TotalItems)
			},
		},
		{
			name: "text where objects belong", rule: "so are six of them, and what is no ask is no ask", call: getListing, answer: hostileBody(200, "text-for-objects.json"), result: "read, with 6 warnings; sent 1",
			check: readListing(func(t *testing.T, l *gen.Listing) {
				assert.Nil(t, l.Ask)
				assert.Nil(t, l.Order)
				assert.Nil(t, l.Payout)
				assert.Nil(t, l.LastOperation)
				assert.Zero(t, l.Product)
				assert.Equal(t, gen.Amount("162"), l.Amount)
			}),
		},
		{
			name: "changes.additions as a list", rule: "an empty list for an empty object hides nothing", call: getOperation, answer: hostileBody(200, "additions-as-list.json"), result: "read, with 1 warnings; sent 1",
			check: func(t *testing.T, value any, _ error) {
				o := value.(*gen.ListingOperation)
				assert.Equal(t, gen.OperationStatusSucceeded, o.OperationStatus)
				assert.False(t, o.Changes.Updates.UpdatedAt.IsZero())
			},
		},
		{
			name: "an operation's error as an object", rule: "its message is its text", call: getOperation, answer: hostileBody(200, "error-as-object.json"), result: readable,
			check: func(t *testing.T, value any, _ error) {
				assert.Equal(t, gen.Reason("Der Preis ist zu niedrig"), value.(*gen.ListingOperation).Error)
			},
		},
		{
			name: "an askId of 20 digits", rule: "an id is text, and never a number", call: getListing, answer: hostileBody(200, "ask-id-of-20-digits.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, "14226361841571254273", l.Ask.AskID) }),
		},
		{
			name: "an askId as a number", rule: "rather no id than a rounded one", call: getListing, answer: hostileBody(200, "ask-id-as-number.json"), result: "read, with 1 warnings; sent 1",
			check: readListing(func(t *testing.T, l *gen.Listing) {
				assert.Empty(t, l.Ask.AskID)
				assert.False(t, l.Ask.AskCreatedAt.IsZero(), "the rest of the ask stays")
			}),
		},
		{
			name: "amounts with four decimals", rule: "the digits stay, and the value is exact", call: getMarketData, answer: hostileBody(200, "amounts-with-four-decimals.json"), result: readable,
			check: func(t *testing.T, value any, _ error) {
				m := value.(*gen.MarketData)
				assert.Equal(t, gen.Amount("23500.0000"), m.LowestAskAmount)
				assert.True(t, m.HighestBidAmount.Equal("0.1"))
				assert.Equal(t, gen.Amount("76.0000"), m.SellFasterAmount)
				assert.Empty(t, m.EarnMoreAmount, "a null amount is absent, not zero")
			},
		},
		{
			name: "numbers beyond reason", rule: "no digit is lost in silence: arithmetic refuses what it cannot hold", call: getOrder, answer: hostileBody(200, "numbers-beyond-reason.json"), result: readable,
			check: func(t *testing.T, value any, _ error) {
				o := value.(*gen.Order)
				for _, figure := range []gen.Figure{gen.Figure(o.Amount), o.Payout.SalePrice, o.Payout.TotalPayout} {
					_, err := figure.Decimal()
					assert.Error(t, err, figure)
				}
			},
		},
		{
			name: "times without a zone", rule: "they are UTC; what is no time is absent and told", call: getListing, answer: hostileBody(200, "times-without-zone.json"), result: "read, with 1 warnings; sent 1",
			check: readListing(func(t *testing.T, l *gen.Listing) {
				at := time.Date(2026, 11, 2, 9, 14, 5, 0, time.UTC)
				assert.Equal(t, at.Add(812*time.Millisecond), l.CreatedAt.Time)
				assert.Equal(t, at, l.UpdatedAt.Time)
				assert.Equal(t, at.Truncate(24*time.Hour).AddDate(0, 1, 0), l.Ask.AskExpiresAt.Time)
				assert.True(t, l.Ask.AskCreatedAt.IsZero() && l.Ask.AskUpdatedAt.IsZero())
			}),
		},
		{
			name: "a page with odd entries", rule: "an odd entry hides no other", call: listListings, answer: hostileBody(200, "page-with-odd-entries.json"), result: "read, with 2 warnings; sent 1",
			check: func(t *testing.T, value any, _ error) {
				p := value.(*gen.ListingPage)
				assert.Len(t, p.Listings, 3)
				assert.Equal(t, listingID, p.Listings[2].ListingID)
				assert.Equal(t, gen.Int(3), p.Count)
			},
		},
	}
}
