package sell

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestTermsCompareByValue(t *testing.T) {
	noon := gen.TimeOf(time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC))
	full := gen.CreateItem{VariantID: "v", Amount: "76", CurrencyCode: "EUR", Active: new(true), ExpiresAt: noon}
	bare := gen.CreateItem{VariantID: "v", Amount: "76"}
	for _, test := range []struct {
		item gen.CreateItem
		echo gen.CreateBatchItemInput
		want bool
		why  string
	}{
		{full, gen.CreateBatchItemInput{VariantID: "v", Amount: "76.0000", CurrencyCode: "EUR", Active: new(true), ExpiresAt: "2030-01-31T13:00:00.0004+01:00"}, true, "other digits, another zone"},
		{full, gen.CreateBatchItemInput{VariantID: "v", Amount: "76"}, true, "null of every optional member"},
		{bare, gen.CreateBatchItemInput{VariantID: "v", Amount: "76", CurrencyCode: "USD", Active: new(true), ExpiresAt: "2032-01-01T00:00:00.000Z"}, true, "defaults filled in"},
		{bare, gen.CreateBatchItemInput{VariantID: "v", Amount: "76", CurrencyCode: "EUR"}, false, "the default currency is USD"},
		{full, gen.CreateBatchItemInput{VariantID: "w", Amount: "76"}, false, "another variant"},
		{full, gen.CreateBatchItemInput{VariantID: "v", Amount: "76.01"}, false, "another price"},
		{full, gen.CreateBatchItemInput{VariantID: "v", Amount: "76", CurrencyCode: "GBP"}, false, "another currency"},
		{full, gen.CreateBatchItemInput{VariantID: "v", Amount: "76", Active: new(false)}, false, "inactive"},
		{full, gen.CreateBatchItemInput{VariantID: "v", Amount: "76", ExpiresAt: "2030-01-31T12:00:01Z"}, false, "another end"},
		{full, gen.CreateBatchItemInput{VariantID: "v", Amount: "76", ExpiresAt: "soon"}, false, "no time at all"},
		{full, gen.CreateBatchItemInput{VariantID: "v"}, false, "a price is never null"},
		{full, gen.CreateBatchItemInput{Amount: "76"}, false, "and neither is the variant"},
	} {
		assert.Equal(t, test.want, termsOf(&test.item).fits(echoOf(&test.echo)), test.why)
	}
}

func TestMatchPairsAsAMultiset(t *testing.T) {
	a, b := terms{variant: "a", amount: "1", currency: "USD"}, terms{variant: "b", amount: "1", currency: "USD"}
	on, off := a, a
	on.active, off.active = "true", "false"
	late, onLate, offLate := a, on, off
	late.expires, onLate.expires, offLate.expires = "9", "9", "9"
	const none = nobody
	for _, test := range []struct {
		inputs, echoes []terms
		want           []int
		why            string
	}{
		{[]terms{a, b}, []terms{b, a}, []int{1, 0}, "in any order"},
		{[]terms{a, a, b}, []terms{a, b, a}, []int{0, 2, 1}, "equal ones in theirs"},
		{[]terms{a, a}, []terms{a}, []int{0, none}, "one result cannot be that of two"},
		{[]terms{a}, []terms{a, a}, []int{0}, "a result too many"},
		{[]terms{a}, []terms{b}, []int{none}, "a result of somebody else's"},
		{[]terms{on, off}, []terms{off, a}, []int{1, 0}, "what is repeated exactly comes first"},
		{[]terms{a, late}, []terms{late, a}, []int{1, 0}, "also where it would fit elsewhere"},
		{[]terms{onLate, offLate}, []terms{late, on}, []int{1, 0}, "one gives way so that both have a place"},
	} {
		assert.Equal(t, test.want, match(test.inputs, test.echoes), test.why)
	}
}

func TestMatchFindsEveryResultHoweverMuchIsLeftOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	for range 200 {
		inputs := make([]terms, 100)
		echoes := make([]terms, len(inputs))
		for i := range inputs {
			inputs[i] = terms{pick("a", "b"), pick("1", "2"), pick("USD", "EUR"), pick("", "true", "false"), pick("", "9")}
			echoes[i] = inputs[i]
			echoes[i].currency = pick("", inputs[i].currency)
			echoes[i].active = pick("", inputs[i].active)
			echoes[i].expires = pick("", inputs[i].expires)
		}
		random.Shuffle(len(echoes), func(i, j int) { echoes[i], echoes[j] = echoes[j], echoes[i] })
		owners := match(inputs, echoes)
		used := map[int]bool{}
		for i, owner := range owners {
			require.NotEqual(t, nobody, owner, "there is a place for each")
			require.True(t, inputs[i].fits(echoes[owner]))
			require.False(t, used[owner], "a result belongs to one input")
			used[owner] = true
		}
	}
}
