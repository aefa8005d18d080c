package stock_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestReader_TakesExactPrices(t *testing.T) {
	for _, row := range []struct{ text, problem, why string }{
		{"162", "", "whole"},
		{"162.50", "", "with cents"},
		{"0.01", "", "the service decides whether it is too little"},
		{"1234567890123456.789", "", "as many digits as a decimal holds"},
		{"12345678901234567890.5", "too many digits", "never rounded"},
		{"0." + strings.Repeat("0", 500_000) + "1", "too many digits", "slow to convert"},
		{`"1,250.00"`, "comma", "a thousand in one country, one in another"},
		{`"162,50"`, "comma", "a decimal comma"},
		{"$162", "currency sign", "it has its own column"},
		{"162€", "currency sign", "on either side"},
		{"-5", "is not a price", "no signs"},
		{"+5", "is not a price", "no signs"},
		{"1e3", "is not a price", "no exponents"},
		{".5", "is not a price", "digits before the point"},
		{"5.", "is not a price", "and after it"},
		{"1.2.3", "is not a price", "one point"},
		{"١٦٢", "is not a price", "digits that the service does not know"},
		{"0.00", "is zero", "not a price"},
		{"", "price is missing", "blank"},
	} {
		f := read(t, header+"A1,DZ5485-612,10.5,"+row.text+",USD,1\n")
		if row.problem == "" {
			require.Empty(t, f.texts(), row.why)
			assert.Equal(t, stock.Price{Kind: stock.PriceFixed, Amount: gen.Amount(row.text)}, f.rows[0].Price, row.why)
			continue
		}
		require.Len(t, f.problems, 1, row.why)
		assert.Contains(t, f.problems[0].Text, row.problem, row.why)
		assert.Equal(t, "price", f.problems[0].Name, row.why)
	}
}

func TestReader_ChecksFields(t *testing.T) {
	long := strings.Repeat("9", 101)
	for _, row := range []struct{ fields, problem, why string }{
		{"A,DZ,10,1,USD,10000,,,,", "", "the most items of a row"},
		{"A,DZ,10,1,USD,0,,,,", "", "sold out"},
		{"A,DZ,10,1,USD,10001,,,,", "more than 10000", "a typing error"},
		{"A,DZ,10,1,USD,99999999999999999999,,,,", "more than 10000", "beyond an int"},
		{"A,DZ,10,1,USD,1.5,,,,", "not a whole number", "half a shoe"},
		{"A,DZ,10,1,USD,two,,,,", "not a whole number", "words"},
		{"A,DZ,10,1,USD,-1,,,,", "not a whole number", "negative"},
		{"A,DZ,10,1,USD,+1,,,,", "not a whole number", "a sign"},
		{"A,DZ,10,1,USD,,,,,", "quantity is missing", "empty is not sold out"},
		{"A,,,1,USD,1,8f4d2c4e,,,", "", "a variant id is enough"},
		{"A,DZ,10,1,USD,1,8f4d2c4e,,,", "contradict", "they may be two items"},
		{"A,DZ,,1,USD,1,8f4d2c4e,,,", "contradict", "of another product"},
		{"A,,10,1,USD,1,8f4d2c4e,,,", "contradict", "of another size"},
		{"A,,,1,USD,1,8f4d2c4e,036000291452,,", "contradict", "of another barcode"},
		{"A,,,1,USD,1,,036000291452,,", "", "a GTIN is enough"},
		{"A,DZ,10,1,USD,1,,036000291452,,", "", "sellers have both"},
		{"A,DZ,,1,USD,1,,4006381333931,,", "", "an EAN"},
		{"A,,,1,USD,1,,036000291453,,", "check digit", "a typing error"},
		{"A,,,1,USD,1,,36000291452,,", "drop zeros", "a spreadsheet took it for a number"},
		{"A,,,1,USD,1,,4.00638E+12,,", "as text", "and rounded it"},
		{"A,,10,1,USD,1,,,,", "style_id is missing", "no product"},
		{"A,DZ,,1,USD,1,,,,", "size is missing", "no size"},
		{",DZ,10,1,USD,1,,,,", "sku is missing", "no key"},
		{long + ",DZ,10,1,USD,1,,,,", "", "a long key"},
		{long + long + long + ",DZ,10,1,USD,1,,,,", "longer than 255", "a bound"},
		{"A,,,1,USD,1,..,,,", "is no id", "it would reach another operation"},
		{"A,\"D\x07Z\",10,1,USD,1,,,,", "control character", "a header and a path cannot hold it"},
		{"A,D\xffZ,10,1,USD,1,,,,", "is not UTF-8", "an old encoding"},
		{"A,D\uFFFDZ,10,1,USD,1,,,,", "is not UTF-8", "lost in a conversion"},
		{"A," + long + ",10,1,USD,1,,,,", "longer than 100", "more than a search takes"},
		{"A,DZ,10,1,USD,1,,,TRUE,", "", "as spreadsheets write it"},
		{"A,DZ,10,1,USD,1,,,maybe,", "neither true nor false", "no guess"},
		{"A,DZ,10,1,USDT,1,,,,", "cannot be listed in", "no currency of the service"},
		{"A,DZ,10,1,,1,,,,", "currency is missing", "no default"},
		{"A,DZ,10,16200,JPY,1,,,,", "", "no cents"},
		{"A,DZ,10,16200.00,krw,1,,,,", "", "zero cents"},
		{"A,DZ,10,16200.5,JPY,1,,,,", "has a fraction", "half a yen"},
		{"A,DZ,10,1,USD,1,,,,2030-01-31T12:00:00+02:00", "", "a zone"},
		{"A,DZ,10,1,USD,1,,,,2020-01-01", "", "the service refuses the past"},
		{"A,DZ,10,1,USD,1,,,,0001-01-01", "is no date", "the zero time, which is absent"},
		{"A,DZ,10,1,USD,1,,,,31/12/2026", "is no date", "or is it the 31st month?"},
	} {
		f := read(t, "sku,style_id,size,price,currency,quantity,variant_id,gtin,active,expires_at\n"+row.fields+"\n")
		if row.problem == "" {
			assert.Empty(t, f.texts(), row.why)
			assert.NotContains(t, f.rows[0].Price.Amount, ".00", row.why)
			continue
		}
		require.Len(t, f.problems, 1, row.why)
		assert.Contains(t, f.problems[0].Text, row.problem, row.why)
	}
}

func TestReader_ChecksRules(t *testing.T) {
	for _, row := range []struct{ fields, problem, name, why string }{
		{",lowest-1.50,100,,,USD", "", "", "an amount"},
		{",Lowest - 5 %,100,,,USD", "", "", "written by hand"},
		{",lowest,100,100,100,USD", "", "", "equal limits"},
		{",bid,9,,10,USD", "", "", "the highest bid"},
		{"100,,90,110,,USD", "", "", "limits check a fixed price too"},
		{",lowest-5%,,,,USD", "floor is missing", "floor", "it may ask 1 USD"},
		{",lowest-5%,0,,,USD", "is zero", "floor", "no floor"},
		{",lowest+5%,1,,,USD", "unknown rule", "rule", "above the lowest is not offered"},
		{",lowest-0%,1,,,USD", "is zero", "rule", "write lowest"},
		{",lowest-100%,1,,,USD", "leaves nothing", "rule", "percent is below 100"},
		{",lowest-99.99%,1,,,USD", "", "", "and may be near it"},
		{",\"lowest-1,5\",1,,,USD", "comma", "rule", "a decimal comma"},
		{",lowest--1,1,,,USD", "is not a price", "rule", "twice less"},
		{",lowest-1.5,1,,,JPY", "has a fraction", "rule", "half a yen"},
		{",lowest-1.5%,1,,,JPY", "", "", "a percentage of yen"},
		{",highest,1,,,USD", "unknown rule", "rule", "the rules are closed"},
		{"100,lowest,1,,,USD", "beside a rule", "price", "either could be meant"},
		{"100,,,,90,USD", "without a rule", "fallback", "a fixed price needs no market"},
		{",lowest,100,90,,USD", "below the floor", "ceiling", "floor above ceiling"},
		{",lowest,100,,90,USD", "below the floor", "fallback", "asked although too low"},
		{",lowest,100,110,120,USD", "above the ceiling", "fallback", "asked although too high"},
		{"80,,90,,,USD", "below the floor", "price", "a typing error"},
		{"200,,90,110,,USD", "above the ceiling", "price", "a typing error"},
		{",,90,,,USD", "price is missing", "price", "a floor is no price"},
	} {
		f := read(t, "variant_id,quantity,price,rule,floor,ceiling,fallback,currency\nv,1,"+row.fields+"\n")
		if row.problem == "" {
			assert.Empty(t, f.texts(), row.why)
			continue
		}
		require.Len(t, f.problems, 1, row.why)
		assert.Contains(t, f.problems[0].Text, row.problem, row.why)
		assert.Equal(t, row.name, f.problems[0].Name, row.why)
	}
}

func TestParseRule_IsTheInverseOfRule(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"lowest", "lowest"},
		{"LOWEST - 1.50", "lowest-1.50"},
		{"lowest-2.5 %", "lowest-2.5%"},
		{" Bid ", "bid"},
	} {
		p, err := stock.ParseRule(row.text)
		require.NoError(t, err)
		assert.Equal(t, row.want, p.Rule())
		again, err := stock.ParseRule(p.Rule())
		require.NoError(t, err)
		assert.Equal(t, p, again)
	}
	assert.Empty(t, stock.Price{Kind: stock.PriceFixed, Amount: "1"}.Rule())
	_, err := stock.ParseRule("")
	require.Error(t, err)
}

func TestReader_ReadsWhenStockWasCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at 2000-01-01 00:00 UTC
		<-time.After(24 * time.Hour)
		day := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
		tokyo := time.FixedZone("Tokyo", 9*60*60)
		for _, row := range []struct {
			text    string
			opts    stock.Options
			want    time.Time
			problem bool
			why     string
		}{
			{"", stock.Options{}, time.Time{}, false, "not stated"},
			{"", stock.Options{AsOf: day}, day, false, "stated for the file"},
			{"2000-01-01T10:00:00+02:00", stock.Options{AsOf: day}, day.Add(-16 * time.Hour), false, "the row is more exact"},
			{"2000-01-02", stock.Options{}, day, false, "a day begins at midnight, so that its sales count"},
			{"2000-01-02", stock.Options{Location: tokyo}, day.Add(-9 * time.Hour), false, "in the zone of the seller"},
			{"2000-01-02T00:05:00Z", stock.Options{}, day.Add(5 * time.Minute), false, "clocks differ"},
			{"2000-01-02T00:05:01Z", stock.Options{}, time.Time{}, true, "sales until then would not count"},
			{"2000-01-03", stock.Options{}, time.Time{}, true, "tomorrow"},
			{"1999-12-31", stock.Options{}, time.Time{}, true, "a wrong year"},
			{"2000-01-01 10:00", stock.Options{}, time.Time{}, true, "in which zone?"},
			{"02/01/2000", stock.Options{}, time.Time{}, true, "the 1st or the 2nd month?"},
		} {
			f := read(t, "variant_id,price,currency,quantity,as_of\nv,1,USD,1,"+row.text+"\n", row.opts)
			if row.problem {
				require.Len(t, f.problems, 1, row.why)
				assert.Equal(t, "as_of", f.problems[0].Name, row.why)
				continue
			}
			require.Empty(t, f.texts(), row.why)
			assert.Equal(t, row.want, f.rows[0].AsOf, row.why)
		}
	})
}

func TestReader_ShortensLongValues(t *testing.T) {
	f := read(t, header+"A,DZ,10,"+strings.Repeat("x", 10_000)+",USD,1\n")
	require.Len(t, f.problems, 1)
	assert.Less(t, len(f.problems[0].Text), 200)
}

func TestReader_NamesTheCurrenciesOfTheSpec(t *testing.T) {
	named := 0
	text := read(t, header+"A,DZ,10,1,XXX,1\n").problems[0].Text
	_, list, _ := strings.Cut(text, "one of ")
	for code := range strings.FieldsSeq(strings.NewReplacer(",", "", " and ", " ").Replace(list)) {
		assert.True(t, gen.CurrencyCode(code).Valid(), code)
		named++
	}
	assert.Equal(t, 12, named)
}
