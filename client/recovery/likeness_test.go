package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// february is a time of expiry; simulated time begins in 2000.
var february = time.Date(2000, 2, 1, 0, 0, 0, 123_000_000, time.UTC)

func TestRecover_ComparesAnEchoByWhatItSays(t *testing.T) {
	type (
		item = gen.CreateItem
		said = map[string]any
	)
	asIs := func(said) {}
	say := func(member string, value any) func(said) { return func(s said) { s[member] = value } }
	euro, soon := func(i *item) { i.CurrencyCode = "EUR" }, func(i *item) { i.ExpiresAt = gen.TimeOf(february) }
	const landed, notSeen, cannotTell = recovery.Landed, recovery.NotSeen, recovery.CannotTell
	for _, row := range []struct {
		amount gen.Amount
		ask    func(*item)
		echo   func(said)
		want   recovery.Kind
		why    string
	}{
		{"76", nil, asIs, landed, "defaults are filled in"},
		{"76", nil, func(s said) { s["currencyCode"], s["active"] = nil, nil }, landed, "or they are not"},
		{"76", func(i *item) { i.CurrencyCode, i.Active = "USD", new(true) }, func(s said) { s["currencyCode"], s["active"] = nil, nil }, landed, "a default said aloud is the default"},
		{"76.50", func(i *item) { euro(i); soon(i); i.Active = new(false) }, asIs, landed, "everything said"},

		{"76", nil, say("amount", "76.0000"), landed, "money is a value and not a text"},
		{"76.0000", nil, say("amount", "76"), landed, "the other way round"},
		{"76.10", nil, say("amount", "0076.1"), landed, "zeros at either end"},
		{"23500", func(i *item) { i.CurrencyCode = "JPY" }, say("amount", "23500.0000"), landed, "a currency without cents"},
		{"76", nil, say("amount", "76.0001"), notSeen, "a hundredth of a cent"},
		{"76", nil, say("amount", "about 76"), cannotTell, "what is no number proves nothing"},
		{"76", nil, say("amount", "76.00000000000000000000001"), cannotTell, "nor does a number with too many digits"},
		{"76", nil, say("amount", nil), cannotTell, "an amount that is not echoed"},

		{"76", nil, say("variantId", size(1)), notSeen, "another size"},
		{"76", nil, say("variantId", "{8F4D2C4E-9D57-4A87-8A34-6B2F5D6D1E21}"), notSeen, "another size, however it is written"},
		{"76", nil, say("variantId", nil), cannotTell, "a size that is not echoed"},
		{"76", euro, say("currencyCode", "GBP"), notSeen, "another currency"},
		{"76", euro, say("currencyCode", "eur"), cannotTell, "a currency in another case"},
		{"76", euro, say("currencyCode", nil), cannotTell, "a currency that is not echoed"},
		{"76", nil, say("currencyCode", "EUR"), cannotTell, "a currency that was not asked for: the default may be the account's"},
		{"76", func(i *item) { i.Active = new(false) }, say("active", true), cannotTell, "active against inactive"},
		{"76", func(i *item) { i.Active = new(false) }, say("active", nil), cannotTell, "inactive, and not echoed"},

		{"76", soon, say("expiresAt", "2000-02-01T01:00:00.123+01:00"), landed, "an instant and not a text"},
		{"76", soon, say("expiresAt", "2000-02-01T00:00:00.124Z"), cannotTell, "a fraction of a second may have been changed"},
		{"76", soon, say("expiresAt", "2000-02-01T00:00:00Z"), cannotTell, "or cut"},
		{"76", soon, say("expiresAt", "2000-03-01T00:00:00Z"), cannotTell, "another expiry alone proves nothing"},
		{"76", soon, say("expiresAt", nil), cannotTell, "an expiry that is not echoed"},
		{"76", soon, say("expiresAt", "next month"), cannotTell, "what is no time says nothing"},
		{"76", nil, say("expiresAt", "2000-02-01T00:00:00.123Z"), cannotTell, "an expiry that was not asked for"},
		{"76", nil, say("expiresAt", "2002-09-26T00:00:00.000Z"), landed, "the default expiry, filled in"},
		{"76", nil, say("expiresAt", "2002-09-25T00:00:00.000Z"), landed, "counted in another zone"},
		{"76", nil, say("expiresAt", "2002-09-24T00:00:00.000Z"), cannotTell, "two days are no zone"},
		{"76", func(i *item) { i.ExpiresAt = gen.TimeOf(time.Date(2002, 9, 26, 0, 0, 0, 0, time.UTC)) }, say("expiresAt", nil), landed, "asked for, and the default anyway"},

		{"76", nil, func(s said) { clear(s) }, cannotTell, "nothing is echoed"},
		{"76", nil, func(s said) { clear(s); s["amount"] = "77" }, notSeen, "what is echoed rules it out"},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				if row.ask == nil {
					row.ask = func(*item) {}
				}
				attempt := newAttempt(t, one(row.amount, row.ask), recovery.WithoutMark())
				m.lose(lostResponse, attempt)
				m.edit = eachInput(row.echo)

				v := m.recover(attempt, recovery.Options{Settle: time.Minute})

				assert.Equal(t, row.want, v.Kind, v)
				if row.want == recovery.CannotTell {
					assert.Len(t, v.Candidates, 1)
					assert.NotEmpty(t, v.Reason)
				}
			})
		})
	}
}

func TestRecover_ComparesInputsAsAMultiset(t *testing.T) {
	three := append(append(one("76"), one("77")...), one("76", quantity(2))...)
	for _, row := range []struct {
		asked, made []gen.CreateItem
		want        recovery.Kind
		why         string
	}{
		{three, three, recovery.Landed, "the same"},
		{three, append(one("76.00", quantity(3)), one("77.0")...), recovery.Landed, "a quantity is as many items, in any order"},
		{three, append(one("77", quantity(3)), one("76")...), recovery.NotSeen, "how many of each counts"},
		{append(one("76"), one("76", func(i *gen.CreateItem) { i.CurrencyCode, i.Active = "USD", new(true) })...), append(one("76"), one("76")...), recovery.Landed, "a default that is said and one that is not are the same"},
		{one("76"), append(one("76"), one("76")...), recovery.CannotTell, "another total is no other value: one more"},
		{append(one("76"), one("76")...), one("76"), recovery.CannotTell, "one less"},
		{one("76"), append(one("76"), one("77")...), recovery.NotSeen, "one more, and no item has its amount"},
		{append(one("76"), one("77")...), one("78"), recovery.NotSeen, "one less, and no item has its amount"},
		{append(one("76"), one("76")...), append(one("75.99"), one("76.01")...), recovery.NotSeen, "a cent split the other way"},
		{append(one("76"), one("77")...), append(one("77"), one("77")...), recovery.NotSeen, "one instead of another"},
	} {
		inMarket(t, func(t *testing.T, m *market) {
			attempt := newAttempt(t, row.asked, recovery.WithoutMark())
			m.create(row.made)
			assert.Equal(t, row.want, m.recover(attempt, recovery.Options{Settle: time.Minute}).Kind, row.why)
		})
	}
}

func TestRecover_KnowsThatAnItemThatSaysNothingMayBeAnyOther(t *testing.T) {
	for other, want := range map[gen.Amount]recovery.Kind{"77": recovery.CannotTell, "78": recovery.NotSeen} {
		inMarket(t, func(t *testing.T, m *market) {
			attempt := newAttempt(t, append(one("76"), one("77")...))
			m.create(append(one("76"), one(other)...))
			m.edit = eachInput(func(in map[string]any) {
				if in["amount"] == "76" {
					in["amount"] = nil
				}
			})
			assert.Equal(t, want, m.recover(attempt, recovery.Options{Settle: time.Minute}).Kind, "beside an item of %s", other)
		})
	}
}
