package inventory_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

const header = "style_id,size,price,currency,quantity\n"

func parse(t *testing.T, text string) *inventory.File {
	t.Helper()
	f, err := inventory.Parse(strings.NewReader(text))
	require.NoError(t, err)
	return f
}

func texts(f *inventory.File) []string {
	var all []string
	for _, m := range f.Problems() {
		all = append(all, m.String())
	}
	return all
}

func TestParse_ReadsEveryColumn(t *testing.T) {
	f := parse(t, "active,variant_id,expires_at,quantity,currency,price,size,style_id\n"+
		"no,,2030-12-31,2,eur,162.50,10.5,DZ5485-612\n"+
		",8f4d2c4e,,1,USD,1,,\n")
	require.Empty(t, f.Problems())
	assert.Equal(t, []inventory.Row{{
		Line: 2, Fields: []string{"no", "", "2030-12-31", "2", "eur", "162.50", "10.5", "DZ5485-612"},
		StyleID: "DZ5485-612", Size: "10.5", Price: "162.50", Currency: "EUR",
		Quantity: 2, Active: new(false), ExpiresAt: gen.TimeOf(time.Date(2030, 12, 31, 0, 0, 0, 0, time.UTC)),
	}, {
		Line: 3, Fields: []string{"", "8f4d2c4e", "", "1", "USD", "1", "", ""},
		VariantID: "8f4d2c4e", Price: "1", Currency: "USD", Quantity: 1,
	}}, f.Valid())
}

func TestParse_AcceptsWhatSpreadsheetsWrite(t *testing.T) {
	want := parse(t, header+"DZ5485-612,10.5,162,USD,1\n").Rows
	want[0].Fields = nil
	for _, row := range []struct{ text, why string }{
		{"\xef\xbb\xbf" + header + "DZ5485-612,10.5,162,USD,1\n", "a byte order mark"},
		{strings.ReplaceAll(header+"DZ5485-612,10.5,162,USD,1\n", "\n", "\r\n"), "line ends of Windows"},
		{header + "DZ5485-612,10.5,162,USD,1", "no line end at the end"},
		{header + " DZ5485-612 , 10.5 ,\t162, \"USD\", 1 \n", "space around values"},
		{header + "DZ5485-612,10.5,162,usd,1\n\n\n,,,,\n", "blank lines below the last row"},
	} {
		f := parse(t, row.text)
		assert.Empty(t, f.Problems(), row.why)
		assert.Len(t, f.Rows[0].Fields, 5, row.why)
		f.Rows[0].Fields = nil
		assert.Equal(t, want, f.Rows, row.why)
	}
}

func TestParse_ReportsAStrayQuoteWithoutHidingRows(t *testing.T) {
	const row = "DZ5485-612,10.5,162,USD,1\n"
	for _, test := range []struct {
		text           string
		invalid, valid []int
		why            string
	}{
		{row + "DZ5485-612,9,\"282,USD,1\n" + row + row, []int{3}, []int{2, 4, 5}, "never closed"},
		{
			"DZ5485-612,9,\"282,USD,1\n" + row + row + "DZ5485-612,9,282\",USD,1\n" + row,
			[]int{2, 5},
			[]int{3, 4, 6},
			"closed by another stray quote",
		},
		{"\"DZ5485-612\n\",9,282,USD,1\n\n" + row, []int{2, 3}, []int{5}, "a line break within a value"},
		{row + "DZ5485-612,9,282,USD,\"1", []int{3}, []int{2}, "at the end of the file"},
	} {
		f := parse(t, header+test.text)
		assert.Equal(t, test.invalid, f.InvalidLines(), test.why)
		var valid []int
		for _, r := range f.Valid() {
			valid = append(valid, r.Line)
		}
		assert.Equal(t, test.valid, valid, test.why)
	}
}

func TestParse_ReportsAllProblemsAtOnce(t *testing.T) {
	f := parse(t, header+
		"DZ5485-612,10.5,\"1,250\",USDT,0\n"+
		"DZ5485-612,10.5,162,USD,1\n"+
		"DZ5485-612,10.5,162,USD\n"+
		",,,,1\n")
	assert.Equal(t, []string{
		`line 2: price "1,250" has a comma: write no separators, and a point before the cents, as in 1250.00`,
		`line 2: currency "USDT" cannot be listed in: write one of AUD, CAD, CHF, EUR, GBP, HKD, JPY, KRW, MXN, NZD, SGD and USD`,
		`line 2: quantity "0" lists nothing: write 1 or more, or remove the row`,
		`line 4: the row has 4 fields and the header has 5: check the commas, and put a value that has one in double quotes`,
		`line 5: style_id is missing: fill it in, or give the variant_id`,
		`line 5: size is missing: fill it in, or give the variant_id`,
		`line 5: price is missing: fill it in, such as 162 or 162.50`,
		`line 5: currency is missing: fill it in, such as USD`,
	}, texts(f))
	require.Len(t, f.Valid(), 1)
	assert.Equal(t, 3, f.Valid()[0].Line)
}

func TestParse_TakesNoRowsBelowAnInvalidHeader(t *testing.T) {
	for _, row := range []struct{ text, problem, why string }{
		{"", "the file is empty", "nothing at all"},
		{"\n\n", "the file is empty", "blank lines only"},
		{"style_id,size,price,currency,quantity,colour\nDZ,1,1,USD,1,red\n", `unknown column "colour"`, "a value that would be ignored"},
		{"Style_ID,size,price,currency,quantity\nDZ,1,1,USD,1\n", `unknown column "Style_ID"`, "names are exact"},
		{"style_id,size,price,currency,quantity,price\nDZ,1,1,USD,1,2\n", "duplicate column price", "either could be meant"},
		{"style_id,size,currency,quantity\nDZ,1,USD,1\n", "column price is missing", "the price is required"},
		{"style_id;size;price;currency;quantity\nDZ;1;1;USD;1\n", "not separated by commas", "as some countries' spreadsheets do"},
		{"\"style_id,size\n", "invalid quotes", "the end of the header is not known"},
	} {
		f := parse(t, row.text)
		assert.True(t, f.Unreadable, row.why)
		assert.Empty(t, f.Valid(), row.why)
		assert.Contains(t, strings.Join(texts(f), "\n"), row.problem, row.why)
	}
}

func TestParse_RefusesAHeaderWithoutRows(t *testing.T) {
	f := parse(t, header)
	assert.Equal(t, []int{1}, f.InvalidLines())
	assert.False(t, f.Unreadable)
}

func TestParse_SkipsARowWithInvalidQuotes(t *testing.T) {
	f := parse(t, header+"DZ5485-612,10\"5,162,USD,1\nDZ5485-612,10.5,162,USD,1\n")
	assert.Equal(t, []int{2}, f.InvalidLines())
	assert.Len(t, f.Valid(), 1)
}

func TestParse_ReturnsReadErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := inventory.Parse(io.MultiReader(strings.NewReader(header), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
}
