package recovery_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// february is a time of expiry; simulated time begins in 2000.
var february = time.Date(2000, 2, 1, 0, 0, 0, 123_000_000, time.UTC)

func TestRecover_ComparesAnEchoByWhatItSays(t *testing.T) {
	type (
		item   = gen.CreateItem
		object = map[string]any
	)
	asIs := func(object) {}
	set := func(member string, value any) func(object) { return func(s object) { s[member] = value } }
	euro, soon := func(i *item) { i.CurrencyCode = "EUR" }, func(i *item) { i.ExpiresAt = gen.TimeOf(february) }
	const landed, notSeen, cannotTell = recovery.Landed, recovery.NotSeen, recovery.CannotTell
	for _, row := range []struct {
		amount gen.Amount
		ask    func(*item)
		echo   func(object)
		want   recovery.Kind
		why    string
	}{
		{"76", nil, asIs, landed, "defaults are filled in"},
		{"76", nil, func(s object) { s["currencyCode"], s["active"] = nil, nil }, landed, "or they are not"},
		{"76", func(i *item) { i.CurrencyCode, i.Active = "USD", new(true) }, func(s object) { s["currencyCode"], s["active"] = nil, nil }, landed, "an explicit default is the default"},
		{"76.50", func(i *item) { euro(i); soon(i); i.Active = new(false) }, asIs, landed, "every field"},

		{"76", nil, set("amount", "76.0000"), landed, "amounts are compared by value"},
		{"76.0000", nil, set("amount", "76"), landed, "the other way round"},
		{"76.10", nil, set("amount", "0076.1"), landed, "zeros at either end"},
		{"23500", func(i *item) { i.CurrencyCode = "JPY" }, set("amount", "23500.0000"), landed, "a currency without cents"},
		{"76", nil, set("amount", "76.0001"), notSeen, "a hundredth of a cent"},
		{"76", nil, set("amount", "about 76"), cannotTell, "text that is no number proves nothing"},
		{"76", nil, set("amount", "76.00000000000000000000001"), cannotTell, "nor does a number with too many digits"},
		{"76", nil, set("amount", nil), cannotTell, "an amount that is not echoed"},

		{"76", nil, set("variantId", size(1)), notSeen, "another size"},
		{"76", nil, set("variantId", "{8F4D2C4E-9D57-4A87-8A34-6B2F5D6D1E21}"), notSeen, "another size, however it is written"},
		{"76", nil, set("variantId", nil), cannotTell, "a size that is not echoed"},
		{"76", euro, set("currencyCode", "GBP"), notSeen, "another currency"},
		{"76", euro, set("currencyCode", "eur"), cannotTell, "a currency in another case"},
		{"76", euro, set("currencyCode", nil), cannotTell, "a currency that is not echoed"},
		{"76", nil, set("currencyCode", "EUR"), cannotTell, "a currency that was not asked for: the default may be the account's"},
		{"76", func(i *item) { i.Active = new(false) }, set("active", true), cannotTell, "active against inactive"},
		{"76", func(i *item) { i.Active = new(false) }, set("active", nil), cannotTell, "inactive, and not echoed"},

		{"76", soon, set("expiresAt", "2000-02-01T01:00:00.123+01:00"), landed, "times are compared by instant"},
		{"76", soon, set("expiresAt", "2000-02-01T00:00:00.124Z"), cannotTell, "the fraction of a second may have been changed"},
		{"76", soon, set("expiresAt", "2000-02-01T00:00:00Z"), cannotTell, "or cut"},
		{"76", soon, set("expiresAt", "2000-03-01T00:00:00Z"), cannotTell, "another expiry alone proves nothing"},
		{"76", soon, set("expiresAt", nil), cannotTell, "an expiry that is not echoed"},
		{"76", soon, set("expiresAt", "next month"), cannotTell, "text that is no time proves nothing"},
		{"76", nil, set("expiresAt", "2000-02-01T00:00:00.123Z"), cannotTell, "an expiry that was not asked for"},
		{"76", nil, set("expiresAt", "2002-09-26T00:00:00.000Z"), landed, "the default expiry, filled in"},
		{"76", nil, set("expiresAt", "2002-09-25T00:00:00.000Z"), landed, "counted in another zone"},
		{"76", nil, set("expiresAt", "2002-09-24T00:00:00.000Z"), cannotTell, "no zone is two days away"},
		{"76", func(i *item) { i.ExpiresAt = gen.TimeOf(time.Date(2002, 9, 26, 0, 0, 0, 0, time.UTC)) }, set("expiresAt", nil), landed, "asked for, and the default anyway"},

		{"76", nil, func(s object) { clear(s) }, cannotTell, "nothing is echoed"},
		{"76", nil, func(s object) { clear(s); s["amount"] = "77" }, notSeen, "the amount rules it out"},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *market) {
				if row.ask == nil {
					row.ask = func(*item) {}
				}
				submission := newSubmission(t, one(row.amount, row.ask), recovery.WithoutMark())
				m.lose(lostResponse, submission)
				m.edit = eachInput(row.echo)

				v := m.recover(submission, recovery.Options{Settle: time.Minute})

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
		{append(one("76"), one("76", func(i *gen.CreateItem) { i.CurrencyCode, i.Active = "USD", new(true) })...), append(one("76"), one("76")...), recovery.Landed, "an explicit default and an omitted one are the same"},
		{one("76"), append(one("76"), one("76")...), recovery.CannotTell, "another total is no other value: one more"},
		{append(one("76"), one("76")...), one("76"), recovery.CannotTell, "one less"},
		{one("76"), append(one("76"), one("77")...), recovery.NotSeen, "one more, and no item has its amount"},
		{append(one("76"), one("77")...), one("78"), recovery.NotSeen, "one less, and no item has its amount"},
		{append(one("76"), one("76")...), append(one("75.99"), one("76.01")...), recovery.NotSeen, "a cent split the other way"},
		{append(one("76"), one("77")...), append(one("77"), one("77")...), recovery.NotSeen, "another amount instead"},
	} {
		inMarket(t, func(t *testing.T, m *market) {
			submission := newSubmission(t, row.asked, recovery.WithoutMark())
			m.create(row.made)
			assert.Equal(t, row.want, m.recover(submission, recovery.Options{Settle: time.Minute}).Kind, row.why)
		})
	}
}

func TestRecover_TakesAnItemWithoutAnEchoForAny(t *testing.T) {
	for other, want := range map[gen.Amount]recovery.Kind{"77": recovery.CannotTell, "78": recovery.NotSeen} {
		inMarket(t, func(t *testing.T, m *market) {
			submission := newSubmission(t, append(one("76"), one("77")...))
			m.create(append(one("76"), one(other)...))
			m.edit = eachInput(func(in map[string]any) {
				if in["amount"] == "76" {
					in["amount"] = nil
				}
			})
			assert.Equal(t, want, m.recover(submission, recovery.Options{Settle: time.Minute}).Kind, "beside an item of %s", other)
		})
	}
}

// result is an item of a batch with an id.
func result(id string, in gen.CreateBatchItemInput) gen.CreateBatchItem {
	return gen.CreateBatchItem{ItemID: id, ListingInput: in}
}

// idsOf returns the ids of matched results, item by item.
func idsOf(matched [][]gen.CreateBatchItem) (ids [][]string) {
	for _, results := range matched {
		var of []string
		for _, r := range results {
			of = append(of, r.ItemID)
		}
		ids = append(ids, of)
	}
	return ids
}

func TestSubmission_MatchesAResultByWhatItEchoes(t *testing.T) {
	type echo = gen.CreateBatchItemInput
	noon := gen.TimeOf(time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC))
	full := gen.CreateItem{VariantID: "v", Amount: "76", CurrencyCode: "EUR", Active: new(true), ExpiresAt: noon, Quantity: 1}
	bare := gen.CreateItem{VariantID: "v", Amount: "76", Quantity: 1}
	for _, row := range []struct {
		item gen.CreateItem
		echo echo
		want bool
		why  string
	}{
		{full, echo{VariantID: "v", Amount: "76.0000", CurrencyCode: "EUR", Active: new(true), ExpiresAt: "2030-01-31T13:00:00.0004+01:00"}, true, "other digits, another zone"},
		{full, echo{VariantID: "v", Amount: "76"}, true, "null for every optional member"},
		{bare, echo{VariantID: "v", Amount: "76", CurrencyCode: "USD", Active: new(true), ExpiresAt: "2032-01-01T00:00:00.000Z"}, true, "defaults filled in"},
		{bare, echo{VariantID: "v", Amount: "76", CurrencyCode: "EUR"}, true, "the default currency may be that of the account"},
		{full, echo{VariantID: "v", Amount: "76", ExpiresAt: "2030-01-31T12:00:01Z"}, true, "an expiry that was rounded"},
		{full, echo{VariantID: "V", Amount: "76", CurrencyCode: "eur"}, true, "another spelling"},
		{full, echo{VariantID: "w", Amount: "76"}, false, "another variant"},
		{full, echo{VariantID: "v", Amount: "76.01"}, false, "another price"},
		{full, echo{VariantID: "v", Amount: "76", CurrencyCode: "GBP"}, false, "another currency"},
		{full, echo{VariantID: "v"}, false, "without a price it may be of any item"},
		{full, echo{VariantID: "v", Amount: "about 76"}, false, "nor is that a price"},
		{full, echo{Amount: "76"}, false, "without a variant as well"},
	} {
		s := newSubmission(t, []gen.CreateItem{row.item}, recovery.WithoutMark())
		want := [][]string{nil}
		if row.want {
			want = [][]string{{"r"}}
		}
		assert.Equal(t, want, idsOf(s.Match([]gen.CreateBatchItem{result("r", row.echo)})), row.why)
	}
}

func TestSubmission_MatchesResultsAsAMultiset(t *testing.T) {
	type echo = gen.CreateBatchItemInput
	item := func(variant string, quantity gen.Int, active *bool, expiry time.Time) gen.CreateItem {
		return gen.CreateItem{VariantID: variant, Amount: "1", Quantity: quantity, Active: active, ExpiresAt: gen.TimeOf(expiry)}
	}
	var (
		end                = time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC)
		a, b               = echo{VariantID: "a", Amount: "1.00"}, echo{VariantID: "b", Amount: "1.00"}
		on, off, late      = a, a, a
		onLate, onLateItem = a, item("a", 1, new(true), end)
	)
	on.Active, off.Active, onLate.Active = new(true), new(false), new(true)
	late.ExpiresAt, onLate.ExpiresAt = "2030-01-31T00:00:00Z", "2030-01-31T00:00:00Z"
	for _, row := range []struct {
		items   []gen.CreateItem
		results []echo
		want    [][]string
		why     string
	}{
		{[]gen.CreateItem{item("a", 1, nil, time.Time{}), item("b", 1, nil, time.Time{})}, []echo{b, a}, [][]string{{"1"}, {"0"}}, "in any order"},
		{[]gen.CreateItem{item("a", 2, nil, time.Time{}), item("b", 1, nil, time.Time{})}, []echo{a, b, a}, [][]string{{"0", "2"}, {"1"}}, "a quantity has as many results"},
		{[]gen.CreateItem{item("a", 2, nil, time.Time{})}, []echo{a}, [][]string{{"0"}}, "one result is not that of two"},
		{[]gen.CreateItem{item("a", 1, nil, time.Time{})}, []echo{a, a}, [][]string{{"0"}}, "one result too many"},
		{[]gen.CreateItem{item("a", 1, nil, time.Time{})}, []echo{b}, [][]string{nil}, "a result of another batch"},
		{[]gen.CreateItem{item("a", 1, new(true), time.Time{}), item("a", 1, new(false), time.Time{})}, []echo{off, a}, [][]string{{"1"}, {"0"}}, "an exact echo comes first"},
		{[]gen.CreateItem{item("a", 1, nil, time.Time{}), item("a", 1, nil, end)}, []echo{late, a}, [][]string{{"1"}, {"0"}}, "also where it fits another item"},
		{[]gen.CreateItem{onLateItem, item("a", 1, new(false), end)}, []echo{late, on}, [][]string{{"1"}, {"0"}}, "one moves so that both are assigned"},
		{[]gen.CreateItem{item("a", 1, new(false), end), onLateItem}, []echo{{VariantID: "a", Amount: "1", ExpiresAt: "2030-02-01T00:00:00Z"}, onLate}, [][]string{{"0"}, {"1"}}, "what differs is assigned last"},
		{[]gen.CreateItem{item("a", 1<<40, nil, time.Time{})}, nil, [][]string{nil}, "a quantity of a damaged file takes no memory"},
	} {
		var results []gen.CreateBatchItem
		for i, in := range row.results {
			results = append(results, result(strconv.Itoa(i), in))
		}
		s := recovery.Submission{ID: "A", MadeAt: time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC), Items: row.items}
		assert.Equal(t, row.want, idsOf(s.Match(results)), row.why)
	}
}

func TestSubmission_MatchesEveryResultWhateverIsLeftOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	s := recovery.Submission{ID: "A", MadeAt: time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)}
	for range 100 {
		s.Items = nil
		var results []gen.CreateBatchItem
		for n := range 60 {
			item := gen.CreateItem{VariantID: pick("a", "b"), Amount: gen.Amount(pick("1", "2")), CurrencyCode: gen.CurrencyCode(pick("USD", "EUR")), Quantity: 1}
			in := gen.CreateBatchItemInput{VariantID: item.VariantID, Amount: item.Amount + ".00", CurrencyCode: pick("", string(item.CurrencyCode))}
			if active := pick("", "true", "false"); active != "" {
				item.Active = new(active == "true")
				in.Active = []*bool{nil, item.Active}[random.IntN(2)]
			}
			s.Items, results = append(s.Items, item), append(results, result(strconv.Itoa(n), in))
		}
		random.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
		used := map[string]bool{}
		for i, of := range s.Match(results) {
			require.Len(t, of, 1, "each item has a result")
			require.Equal(t, s.Items[i].VariantID, of[0].ListingInput.VariantID)
			require.True(t, s.Items[i].Amount.Equal(of[0].ListingInput.Amount))
			require.False(t, used[of[0].ItemID], "a result is that of one item")
			used[of[0].ItemID] = true
		}
	}
}
