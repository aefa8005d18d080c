package inventory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestParse_TakesExactPrices(t *testing.T) {
	for _, row := range []struct{ text, problem, why string }{
		{"162", "", "whole"},
		{"162.50", "", "with cents"},
		{"0.01", "", "the service decides whether it is too little"},
		{"1234567890123456.789", "", "as many digits as a decimal holds"},
		{"12345678901234567890.5", "too many digits", "never rounded"},
		{`"1,250.00"`, "comma", "a thousand in one country, one in another"},
		{"$162", "currency sign", "it has its own column"},
		{"162€", "currency sign", "on either side"},
		{"-5", "is not a price", "no signs"},
		{"+5", "is not a price", "no signs"},
		{"1e3", "is not a price", "no exponents"},
		{".5", "is not a price", "digits before the point"},
		{"5.", "is not a price", "and after it"},
		{"1.2.3", "is not a price", "one point"},
		{"١٦٢", "is not a price", "digits that the service does not know"},
		{"0.00", "above zero", "not a price"},
		{"", "price is missing", "blank"},
	} {
		f := parse(t, header+"DZ5485-612,10.5,"+row.text+",USD,1\n")
		require.Len(t, f.Rows, 1, row.why)
		if row.problem == "" {
			assert.Empty(t, f.Problems(), row.why)
			assert.Equal(t, gen.Amount(row.text), f.Rows[0].Price, row.why)
			continue
		}
		assert.Contains(t, strings.Join(texts(f), "\n"), row.problem, row.why)
		assert.Len(t, f.Problems(), 1, row.why)
		assert.Empty(t, f.Rows[0].Price, row.why)
	}
}

func TestParse_ChecksFields(t *testing.T) {
	long := strings.Repeat("9", 101)
	for _, row := range []struct{ fields, problem, why string }{
		{"DZ,10,1,USD,10000,,,", "", "the most listings of a row"},
		{"DZ,10,1,USD,10001,,,", "more than 10000", "a typing error"},
		{"DZ,10,1,USD,99999999999999999999,,,", "more than 10000", "beyond an int"},
		{"DZ,10,1,USD,1.5,,,", "not a whole number", "half a shoe"},
		{"DZ,10,1,USD,two,,,", "not a whole number", "words"},
		{"DZ,10,1,USD,-1,,,", "lists nothing", "negative"},
		{",,1,USD,1,8f4d2c4e,,", "", "a variant id is enough"},
		{"DZ,10,1,USD,1,8f4d2c4e,,", "contradict", "they may be two items"},
		{"DZ,,1,USD,1,8f4d2c4e,,", "contradict", "of another product"},
		{",10,1,USD,1,8f4d2c4e,,", "contradict", "of another size"},
		{",10,1,USD,1,,,", "style_id is missing", "no product"},
		{"DZ,,1,USD,1,,,", "size is missing", "no size"},
		{",,1,USD,1,..,,", "is no id", "it would reach another operation"},
		{"\"D\x07Z\",10,1,USD,1,,,", "control character", "a header and a path cannot hold it"},
		{"D\xffZ,10,1,USD,1,,,", "is not UTF-8", "an old encoding"},
		{long + ",10,1,USD,1,,,", "longer than 100", "more than a search takes"},
		{"DZ,10,1,USD,1,,TRUE,", "", "as spreadsheets write it"},
		{"DZ,10,1,USD,1,,maybe,", "neither true nor false", "no guess"},
		{"DZ,10,1,USD,1,,,2030-01-31T12:00:00+02:00", "", "a zone"},
		{"DZ,10,1,USD,1,,,2020-01-01", "", "the service refuses the past"},
		{"DZ,10,1,USD,1,,,31/12/2026", "is no date", "or is it the 31st month?"},
	} {
		f := parse(t, "style_id,size,price,currency,quantity,variant_id,active,expires_at\n"+row.fields+"\n")
		if row.problem == "" {
			assert.Empty(t, f.Problems(), row.why)
			continue
		}
		assert.Contains(t, strings.Join(texts(f), "\n"), row.problem, row.why)
		assert.Len(t, f.Problems(), 1, row.why)
	}
}

func TestParse_ShortensLongValues(t *testing.T) {
	f := parse(t, header+"DZ,10,"+strings.Repeat("x", 10_000)+",USD,1\n")
	require.Len(t, f.Problems(), 1)
	assert.Less(t, len(f.Problems()[0].Text), 200)
}

func TestParse_NamesTheCurrenciesOfTheSpec(t *testing.T) {
	named := 0
	text := texts(parse(t, header+"DZ,10,1,XXX,1\n"))[0]
	_, list, _ := strings.Cut(text, "one of ")
	for code := range strings.FieldsSeq(strings.NewReplacer(",", "", " and ", " ").Replace(list)) {
		assert.True(t, gen.CurrencyCode(code).Valid(), code)
		named++
	}
	assert.Equal(t, 12, named)
}
