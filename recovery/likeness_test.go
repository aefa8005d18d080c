package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

// february is a time of expiry; simulated time begins in 2000.
var february = time.Date(2000, 2, 1, 0, 0, 0, 123_000_000, time.UTC)

func TestAnEchoIsComparedByWhatItSays(t *testing.T) {
	type (
		item = gen.CreateItem
		said = gen.CreateBatchItemInput
	)
	asIs := func(*said) {}
	euro, soon := func(i *item) { i.CurrencyCode = "EUR" }, func(i *item) { i.ExpiresAt = gen.TimeOf(february) }
	const landed, notSeen, cannotTell = recovery.Landed, recovery.NotSeen, recovery.CannotTell
	for _, row := range []struct {
		amount gen.Amount
		ask    func(*item)
		echo   func(*said)
		want   recovery.Kind
		why    string
	}{
		{"76", nil, asIs, landed, "defaults are filled in"},
		{"76", nil, func(s *said) { s.CurrencyCode, s.Active = "", nil }, landed, "or they are not"},
		{"76", func(i *item) { i.CurrencyCode, i.Active = "USD", new(true) }, func(s *said) { s.CurrencyCode, s.Active = "", nil }, landed, "a default said aloud is the default"},
		{"76.50", func(i *item) { euro(i); soon(i); i.Active = new(false) }, asIs, landed, "everything said"},

		{"76", nil, func(s *said) { s.Amount = "76.0000" }, landed, "money is a value and not a text"},
		{"76.0000", nil, func(s *said) { s.Amount = "76" }, landed, "the other way round"},
		{"0076.10", nil, func(s *said) { s.Amount = "76.1" }, landed, "zeros at either end"},
		{"23500", func(i *item) { i.CurrencyCode = "JPY" }, func(s *said) { s.Amount = "23500.0000" }, landed, "a currency without cents"},
		{"1234567890123456.78", nil, func(s *said) { s.Amount = "1234567890123456.7800" }, landed, "more digits than a float has"},
		{"1234567890123456.78", nil, func(s *said) { s.Amount = "1234567890123456.79" }, notSeen, "and the last one counts"},
		{"76", nil, func(s *said) { s.Amount = "76.0001" }, notSeen, "a hundredth of a cent"},
		{"76", nil, func(s *said) { s.Amount = "about 76" }, notSeen, "what is no number is another text"},
		{"76", nil, func(s *said) { s.Amount = "" }, cannotTell, "an amount that is not echoed"},

		{"76", nil, func(s *said) { s.VariantID = "v2" }, notSeen, "another size"},
		{"76", nil, func(s *said) { s.VariantID = "" }, cannotTell, "a size that is not echoed"},
		{"76", euro, func(s *said) { s.CurrencyCode = "GBP" }, notSeen, "another currency"},
		{"76", euro, func(s *said) { s.CurrencyCode = "" }, cannotTell, "a currency that is not echoed"},
		{"76", nil, func(s *said) { s.CurrencyCode = "EUR" }, cannotTell, "a currency that was not asked for: the default may be the account's"},
		{"76", func(i *item) { i.Active = new(false) }, func(s *said) { s.Active = new(true) }, notSeen, "active against inactive"},
		{"76", func(i *item) { i.Active = new(false) }, func(s *said) { s.Active = nil }, cannotTell, "inactive, and not echoed"},

		{"76", soon, func(s *said) { s.ExpiresAt = "2000-02-01T01:00:00.123+01:00" }, landed, "an instant and not a text"},
		{"76", soon, func(s *said) { s.ExpiresAt = "2000-02-01T00:00:00.124Z" }, cannotTell, "a fraction of a second may have been changed"},
		{"76", soon, func(s *said) { s.ExpiresAt = "2000-02-01T00:00:00Z" }, cannotTell, "or cut"},
		{"76", soon, func(s *said) { s.ExpiresAt = "2000-02-01T00:00:01.123Z" }, notSeen, "a second is no fraction"},
		{"76", soon, func(s *said) { s.ExpiresAt = "" }, cannotTell, "an expiry that is not echoed"},
		{"76", soon, func(s *said) { s.ExpiresAt = "next month" }, cannotTell, "what is no time says nothing"},
		{"76", nil, func(s *said) { s.ExpiresAt = "2000-02-01T00:00:00.123Z" }, cannotTell, "an expiry that was not asked for"},
		{"76", nil, func(s *said) { s.ExpiresAt = "2002-09-26T00:00:00.000Z" }, landed, "the default expiry, filled in"},
		{"76", nil, func(s *said) { s.ExpiresAt = "2002-09-25T00:00:00.000Z" }, landed, "counted in another zone"},
		{"76", nil, func(s *said) { s.ExpiresAt = "2002-09-24T00:00:00.000Z" }, cannotTell, "two days are no zone"},
		{"76", func(i *item) { i.ExpiresAt = gen.TimeOf(time.Date(2002, 9, 26, 0, 0, 0, 0, time.UTC)) }, func(s *said) { s.ExpiresAt = "" }, landed, "asked for, and the default anyway"},

		{"76", nil, func(s *said) { *s = said{} }, cannotTell, "nothing is echoed"},
		{"76", nil, func(s *said) { *s = said{Amount: "77"} }, notSeen, "what is echoed rules it out"},
	} {
		t.Run(row.why, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				if row.ask == nil {
					row.ask = func(*item) {}
				}
				attempt := newAttempt(t, one(row.amount, row.ask))
				id := s.land(attempt.Items)
				row.echo(&s.items[id][0].ListingInput)

				v := s.recover(t, attempt, recovery.Options{Settle: time.Minute})

				assert.Equal(t, row.want, v.Kind, v)
				if row.want == recovery.CannotTell {
					assert.Equal(t, "batch b1 may be it: its items do not say all that they were made from", v.Reason)
				}
			})
		})
	}
}

func TestInputsAreComparedAsAMultiset(t *testing.T) {
	three := append(append(one("76"), one("77")...), one("76", func(i *gen.CreateItem) { i.Quantity = 2 })...)
	for _, row := range []struct {
		asked, made []gen.CreateItem
		want        recovery.Kind
		why         string
	}{
		{three, three, recovery.Landed, "the same"},
		{three, append(one("76.00", func(i *gen.CreateItem) { i.Quantity = 3 }), one("77.0")...), recovery.Landed, "a quantity is as many items, in any order"},
		{three, append(one("77", func(i *gen.CreateItem) { i.Quantity = 3 }), one("76")...), recovery.NotSeen, "how many of each counts"},
		{append(one("76"), one("76", func(i *gen.CreateItem) { i.CurrencyCode, i.Active = "USD", new(true) })...), append(one("76"), one("76")...), recovery.Landed, "a default that is said and one that is not are the same"},
		{one("76"), append(one("76"), one("76")...), recovery.NotSeen, "one more"},
		{append(one("76"), one("76")...), one("76"), recovery.NotSeen, "one less, and the batch says so"},
		{append(one("76"), one("76")...), append(one("75.99"), one("76.01")...), recovery.NotSeen, "a cent split the other way"},
		{append(one("76"), one("77")...), append(one("77"), one("77")...), recovery.NotSeen, "one instead of another"},
	} {
		bubble(t, func(t *testing.T, s *service) {
			attempt := newAttempt(t, row.asked)
			s.land(row.made)
			assert.Equal(t, row.want, s.recover(t, attempt, recovery.Options{Settle: time.Minute}).Kind, row.why)
		})
	}
}

func TestOneItemThatSaysNothingDoesNotHideTheOthers(t *testing.T) {
	for _, row := range []struct {
		other gen.Amount // of the item that is echoed
		want  recovery.Kind
		why   string
	}{
		{"77", recovery.CannotTell, "the item that is not echoed may be the other one"},
		{"78", recovery.CannotTell, "an amount that is missing makes all amounts uncertain"},
	} {
		bubble(t, func(t *testing.T, s *service) {
			attempt := newAttempt(t, append(one("76"), one("77")...))
			id := s.land(append(one("76"), one(row.other)...))
			s.items[id][0].ListingInput.Amount = ""
			assert.Equal(t, row.want, s.recover(t, attempt, recovery.Options{Settle: time.Minute}).Kind, row.why)
		})
	}
}
