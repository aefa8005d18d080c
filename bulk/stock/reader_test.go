package stock_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

const (
	header = "sku,style_id,size,price,currency,quantity\n"
	valid  = "A1,DZ5485-612,10.5,162,USD,1\n"
)

// file is what a reader yielded.
type file struct {
	rows     []stock.Row
	problems []*stock.Problem
	layout   stock.Layout
}

func read(t *testing.T, text string, opts ...stock.Options) file {
	t.Helper()
	var f file
	r := stock.NewReader(strings.NewReader(text), append(opts, stock.Options{})[0])
	for row, err := range r.Rows() {
		if err == nil {
			f.rows = append(f.rows, row)
			continue
		}
		problem, ok := errors.AsType[*stock.Problem](err)
		require.True(t, ok, "%v", err)
		f.problems = append(f.problems, problem)
	}
	f.layout = r.Layout()
	return f
}

func (f file) texts() []string {
	var all []string
	for _, p := range f.problems {
		all = append(all, p.Error())
	}
	return all
}

func (f file) lines() (valid, invalid []int) {
	for _, row := range f.rows {
		valid = append(valid, row.Line)
	}
	for _, p := range f.problems {
		if n := len(invalid); n == 0 || invalid[n-1] != p.Line {
			invalid = append(invalid, p.Line)
		}
	}
	return valid, invalid
}

func TestReader_ReadsEveryColumn(t *testing.T) {
	f := read(t, "active,Seller SKU,variant_id,Expires-At,QTY,currency,Ask,size,Style Code,UPC,rule,floor,ceiling,fallback,counted at,colour\n"+
		"no,A1,,2030-12-31,2,eur,162.50,10.5,DZ5485-612,036000291452,,,,,2026-11-20T10:00:00+02:00, red\n"+
		",A2,8f4d2c4e,,0,USD,,,,,lowest-5%,100,200.50,150,2026-11-20,\n")
	require.Empty(t, f.texts())
	assert.Equal(t, []stock.Row{{
		Line: 2, SKU: "A1", GTIN: "036000291452", StyleID: "DZ5485-612", Size: "10.5",
		Price: stock.Price{Kind: stock.PriceFixed, Amount: "162.50"}, Currency: "EUR", Quantity: 2,
		AsOf: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), Active: new(false),
		ExpiresAt: gen.TimeOf(time.Date(2030, 12, 31, 0, 0, 0, 0, time.UTC)),
		Fields: []string{
			"no", "A1", "", "2030-12-31", "2", "eur", "162.50", "10.5", "DZ5485-612", "036000291452",
			"", "", "", "", "2026-11-20T10:00:00+02:00", " red",
		},
	}, {
		Line: 3, SKU: "A2", VariantID: "8f4d2c4e",
		Price: stock.Price{
			Kind: stock.PriceBelowLowest, LessPercent: decimal.MustParse("5"),
			Floor: "100", Ceiling: "200.50", Fallback: "150",
		},
		Currency: "USD", AsOf: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		Fields: []string{"", "A2", "8f4d2c4e", "", "0", "USD", "", "", "", "", "lowest-5%", "100", "200.50", "150", "2026-11-20", ""},
	}}, f.rows)
}

func TestReader_ReadsNDJSON(t *testing.T) {
	lines := []string{
		`{"SKU":"A1","gtin":"036000291452","price":162.50,"currency":"eur","qty":2,"active":false,"colour":{"a":[1]},"size":null}`,
		`{"sku":7,"variant_id":"8f4d","rule":"bid","floor":"1","currency":"USD","quantity":0}`,
	}
	f := read(t, lines[0]+"\n\n"+lines[1]+"\r\n")
	require.Empty(t, f.texts())
	assert.True(t, f.layout.NDJSON)
	assert.Equal(t, []stock.Row{{
		Line: 1, SKU: "A1", GTIN: "036000291452", Price: stock.Price{Kind: stock.PriceFixed, Amount: "162.50"},
		Currency: "EUR", Quantity: 2, Active: new(false), JSON: lines[0],
	}, {
		Line: 3, SKU: "7", VariantID: "8f4d", Price: stock.Price{Kind: stock.PriceAtHighest, Floor: "1"},
		Currency: "USD", JSON: lines[1],
	}}, f.rows)
}

func TestReader_AcceptsWhatSpreadsheetsWrite(t *testing.T) {
	want := read(t, header+valid).rows
	encoded := func(e encoding.Encoding, text string) string {
		out, err := e.NewEncoder().String(text)
		require.NoError(t, err)
		return out
	}
	semicolons := strings.ReplaceAll(header+valid, ",", ";")
	for _, row := range []struct{ text, why string }{
		{"\xef\xbb\xbf" + header + valid, "a byte order mark"},
		{strings.ReplaceAll(header+valid, "\n", "\r\n"), "line ends of Windows"},
		{header + strings.TrimSpace(valid), "no line end at the end"},
		{header + "A1, DZ5485-612 , 10.5 ,\t162, \"USD\" , 1 \n", "space around values"},
		{header + "A1,DZ5485-612,10.5,162,usd,1\n\n\n,,,,,\n", "blank lines below the last row"},
		{"SKU,Style ID,Size,Price,Currency Code,Qty\n" + valid, "names of people"},
		{semicolons, "semicolons, where a comma is decimal"},
		{strings.ReplaceAll(header+valid, ",", "\t"), "tabs"},
		{encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), strings.ReplaceAll(header+valid, ",", "\t")), "Unicode text of Excel"},
		{encoded(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), semicolons), "the other byte order"},
	} {
		f := read(t, row.text)
		assert.Empty(t, f.texts(), row.why)
		require.Len(t, f.rows, 1, row.why)
		assert.Len(t, f.rows[0].Fields, 6, row.why)
		f.rows[0].Fields = want[0].Fields
		assert.Equal(t, want, f.rows, row.why)
	}
}

func TestReader_ReportsAStrayQuoteWithoutHidingRows(t *testing.T) {
	const header = "style_id,size,price,currency,quantity,sku\n"
	row := func(sku string) string { return "DZ5485-612,10.5,162,USD,1," + sku + "\n" }
	for _, test := range []struct {
		text           string
		invalid, valid []int
		why            string
	}{
		{row("a") + "DZ5485-612,9,\"282,USD,1,b\n" + row("c") + row("d"), []int{3}, []int{2, 4, 5}, "never closed"},
		{
			"DZ5485-612,9,\"282,USD,1,a\n" + row("b") + row("c") + "DZ5485-612,9,282\",USD,1,d\n" + row("e"),
			[]int{2, 5},
			[]int{3, 4, 6},
			"closed by another stray quote",
		},
		{"\"DZ5485-612\n\",9,282,USD,1,a\n\n" + row("b"), []int{2, 3}, []int{5}, "a line break within a known value"},
		{row("a") + "DZ5485-612,9,282,USD,1,\"b", []int{3}, []int{2}, "at the end of the file"},
		{"DZ5485-612,10\"5,162,USD,1,a\n" + row("b"), []int{2}, []int{3}, "within a value"},
		{"DZ5485-612,\"10\"5,162,USD,1,a\n" + row("b"), []int{2}, []int{3}, "below a quoted value"},
	} {
		valid, invalid := read(t, header+test.text).lines()
		assert.Equal(t, test.invalid, invalid, test.why)
		assert.Equal(t, test.valid, valid, test.why)
	}
}

func TestReader_KeepsLineBreaksOfUnknownColumns(t *testing.T) {
	const header = "sku,notes,style_id,size,price,currency,quantity,more\n"
	row := func(sku, notes, more string) string { return sku + "," + notes + ",DZ,9,1,USD,1," + more + "\n" }
	for _, test := range []struct {
		text           string
		invalid, valid []int
		notes, why     string
	}{
		{row("a", "\"one\r\ntwo\n\nthree, \"\"four\"\"\"", "") + row("b", "", ""), nil, []int{2, 6}, "one\r\ntwo\n\nthree, \"four\"", "RFC 4180"},
		{row("a", "\"one\ntwo\"", "\"x\ny\"") + row("b", "", ""), nil, []int{2, 5}, "one\ntwo", "two values"},
		{row("a", "\"one", "") + row("b", "two\"", "") + row("c", "", ""), []int{2, 3}, []int{4}, "", "the next row would be hidden"},
		{row("a", "", "\"one") + row("b", "", "") + row("c", "", "two\""), []int{2, 4}, []int{3}, "", "a row within the value would be hidden"},
		{row("a", "", "\"one") + row("b", "", "two\""), []int{2, 3}, nil, "", "the next row, by a quote in its last column"},
		{row("a", "", "\"one") + row("b", "", ""), []int{2}, []int{3}, "", "never closed"},
		{row("a", "", "\"one\n\" x") + row("b", "", ""), []int{2, 3}, []int{4}, "", "closed in the middle of a value"},
		{row("a", "", "\"one\n\ntwo, three\"") + row("b", "", ""), nil, []int{2, 5}, "", "in the last column"},
	} {
		f := read(t, header+test.text)
		valid, invalid := f.lines()
		assert.Equal(t, test.invalid, invalid, test.why)
		assert.Equal(t, test.valid, valid, test.why)
		if test.notes != "" {
			assert.Equal(t, test.notes, f.rows[0].Fields[1], test.why)
		}
	}
	valid, invalid := read(t, header+row("a", "", "\""+strings.Repeat("x\n", 200)+"\"")).lines()
	assert.Empty(t, valid, "more lines than a value may have")
	assert.Len(t, invalid, 201)
}

func TestReader_ReportsAllProblemsAtOnce(t *testing.T) {
	f := read(t, header+
		"A1,DZ5485-612,10.5,\"1,250\",USDT,-1\n"+
		"A2,DZ5485-612,10.5,162,USD,1\n"+
		"A3,DZ5485-612,10.5,162,USD\n"+
		",,,,,1\n"+
		"A2,Ä,10.5,0,USD,1\n"+
		"A4,DZ5485-612,10.5,162,USD,1,\n")
	type at struct {
		line, column int
		name         string
	}
	var places []at
	for _, p := range f.problems {
		places = append(places, at{p.Line, p.Column, p.Name})
		assert.NotEmpty(t, p.Text)
	}
	assert.Equal(t, []at{
		{2, 20, "price"},
		{2, 28, "currency"},
		{2, 33, "quantity"},
		{4, 0, ""},
		{5, 1, "sku"},
		{5, 2, "style_id"},
		{5, 3, "size"},
		{5, 4, "price"},
		{5, 5, "currency"},
		{6, 1, "sku"},
		{6, 11, "price"},
		{7, 0, ""},
	}, places)
	valid, _ := f.lines()
	assert.Equal(t, []int{3}, valid)
}

func TestReader_GivesTheFieldsOfInvalidRows(t *testing.T) {
	for _, text := range []string{
		header + "A1,DZ,10,x,USD,1\n",
		`{"sku":"A1","price":"x"}`,
	} {
		r := stock.NewReader(strings.NewReader(text), stock.Options{})
		for row, err := range r.Rows() {
			require.Error(t, err)
			assert.True(t, len(row.Fields) == 6 || row.JSON == text, "to write them to a file of their own")
			assert.Empty(t, row.SKU)
		}
	}
}

func TestReader_TakesNoRowsBelowAnInvalidHeader(t *testing.T) {
	for _, row := range []struct{ text, problem, why string }{
		{"", "the file is empty", "nothing at all"},
		{"\n\n", "the file is empty", "blank lines only"},
		{"\xef\xbb\xbf", "the file is empty", "a byte order mark only"},
		{"style_id,size,price,currency,quantity,price\nDZ,1,1,USD,1,2\n", "both mean price", "either could be meant"},
		{"upc,ean,price,currency,quantity\n036000291452,,1,USD,1\n", "both mean gtin", "by two names"},
		{"style_id,size,currency,quantity\nDZ,1,USD,1\n", "column price is missing", "the price is required"},
		{"style_id,size,price,quantity\nDZ,1,1,1\n", "column currency is missing", "no default decides about money"},
		{"style_id,size,price,currency\nDZ,1,1,USD\n", "column quantity is missing", "nor about stock"},
		{"sku,size,price,currency,quantity\nDZ,1,1,USD,1\n", "the item is missing", "a SKU is no item"},
		{"gtin,rule,currency,quantity\n036000291452,bid,USD,1\n", "column floor is missing", "a rule without a floor may ask 1 USD"},
		{"\"style_id,size\n", "invalid quotes", "the end of the header is not known"},
		{strings.Repeat("x,", 2000) + "sku\n", "more than 1000 columns", "a bound"},
		{strings.Repeat("x", 2<<20) + "\n" + header, "longer than", "a bound"},
		{"PK\x03\x04rest", "Excel workbook", "an Excel workbook"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "old Excel workbook", "an Excel workbook of before 2007"},
		{"\x1f\x8b\x08rest", "gzip", "a compressed file"},
		{"[{\"sku\":1}]", "JSON array", "not one object a line"},
		{"s\x00k\x00u\x00", "not UTF-8", "UTF-16 without a byte order mark"},
		{"\x00s\x00k\x00u", "not UTF-8", "the other byte order"},
	} {
		f := read(t, row.text)
		assert.Empty(t, f.rows, row.why)
		assert.Contains(t, strings.Join(f.texts(), "\n"), row.problem, row.why)
	}
}

func TestReader_RefusesAHeaderWithoutRows(t *testing.T) {
	_, invalid := read(t, header+"\n,,,,,\n").lines()
	assert.Equal(t, []int{1}, invalid)
}

func TestReader_ReportsWhatIsNoObject(t *testing.T) {
	const first = `{"variant_id":"v","price":1,"currency":"USD","quantity":1}` + "\n"
	for _, row := range []struct {
		text, problem string
		column        int
		why           string
	}{
		{`{"variant_id":"w",`, "no JSON object", 18, "cut off"},
		{`"text"`, "no JSON object", 1, "a string"},
		{`{} {}`, "no JSON object", 4, "two objects"},
		{`{"variant_id":"w"}}`, "no JSON object", 19, "a bracket too many"},
		{`{"gtin":["1"]}`, "an array", 9, "two items"},
		{`{"price":1,"ask":2}`, "both mean price", 18, "either could be meant"},
		{`{"price":1,"price":1}`, "both mean price", 20, "twice"},
		{"{\"style\":\"D\xffZ\"}", "not UTF-8", 1, "an old encoding"},
		{`{"sku":"S","variant_id":"w","price":1,"currency":"USD","quantity":1}`, "the first row has none", 8, "rows have either key"},
		{`{"variant_id":"w","price":1e3,"currency":"USD","quantity":1}`, "is not a price", 27, "no exponents"},
		{`{"variant_id":"w","price":1,"currency":"USD","quantity":1.0}`, "whole number", 57, "no fractions"},
		{`{` + strings.Repeat(`"a":1,`, 1001) + `"a":1}`, "more than 1000 members", 6006, "a bound"},
	} {
		f := read(t, first+row.text+"\n"+strings.ReplaceAll(first, `"v"`, `"u"`))
		require.Len(t, f.problems, 1, row.why)
		assert.Contains(t, f.problems[0].Text, row.problem, row.why)
		assert.Equal(t, 2, f.problems[0].Line, row.why)
		assert.Equal(t, row.column, f.problems[0].Column, row.why)
		assert.Len(t, f.rows, 2, row.why)
	}
}

func TestReader_ReportsKeysThatAreNotUnique(t *testing.T) {
	const rest = ",1,USD,1\n"
	for _, row := range []struct{ text, why string }{
		{"sku,style_id,size,price,currency,quantity\nA,DZ,9" + rest + "A,DZ,10" + rest, "a SKU is the key"},
		{"sku,style_id,size,price,currency,quantity\nA,DZ,9,x,USD,1\nA,DZ,10" + rest, "also that of an invalid row"},
		{"style_id,size,price,currency,quantity\nDZ,9" + rest + "DZ,9" + rest, "without SKUs, the style and size"},
		{"variant_id,price,currency,quantity\nv" + rest + "v" + rest, "or the variant"},
		{"gtin,price,currency,quantity\n036000291452" + rest + "0036000291452" + rest, "or the GTIN, of any length"},
	} {
		f := read(t, row.text)
		require.NotEmpty(t, f.problems, row.why)
		last := f.problems[len(f.problems)-1]
		assert.Equal(t, 3, last.Line, row.why)
		assert.Contains(t, last.Text, "line 2", row.why)
	}
	f := read(t, header+"A,DZ,9"+rest+"B,DZ,9"+rest+"a,DZ,9"+rest)
	assert.Empty(t, f.texts(), "two SKUs may be the same item, and case matters")
}

func TestReader_ContinuesAfterALongLine(t *testing.T) {
	valid, invalid := read(t, header+strings.Repeat("x", 3<<20)+"\n"+valid).lines()
	assert.Equal(t, []int{2}, invalid)
	assert.Equal(t, []int{3}, valid)
}

func TestReader_ContinuesAfterABreak(t *testing.T) {
	r := stock.NewReader(strings.NewReader(header+valid+"A2,DZ,9,x,USD,y\nA3,DZ,9,1,USD,1\n"), stock.Options{})
	var lines []int
	for range 5 {
		for row, err := range r.Rows() {
			lines = append(lines, row.Line)
			assert.Equal(t, row.Line == 3, err != nil)
			break
		}
	}
	assert.Equal(t, []int{2, 3, 3, 4}, lines, "every row and problem once")
}

func TestReader_ReturnsReadErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, text := range []string{"", "sku", header, header + valid + "A2,DZ5485", header + "A2,DZ5485,\"", "{}\n"} {
		r := stock.NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), stock.Options{})
		var last error
		for row, err := range r.Rows() {
			last = err
			assert.True(t, err != nil || row.SKU == "A1", "half a line is no row")
		}
		assert.ErrorIs(t, last, broken, text)
	}
}
