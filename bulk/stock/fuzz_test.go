package stock_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
)

// FuzzReader checks that problems name places of the file, that valid rows are valid, and that they
// are read again after they were written.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		header + "A1,DZ5485-621,10,$389,USDT,0\n,,,,,\nA2,75192,One Size,\"2,199.00\",USD,1.5\n",
		header + valid + "A1,DZ,9,1,JPY,0\n",
		"\xef\xbb\xbfvariant_id;price;currency;quantity;style_id;size;active;expires_at\r\n8f4d;1;EUR;1;;;no;2030-01-01\r\n",
		header + "\"a\nb\",1,1,1,USD,1\n\"unterminated,1,1\n",
		"notes\tupc\task\tcurrency\tqty\tmore\n\"a\n\"\"b\"\t036000291452\t1\tUSD\t2\t\"x\ny\"\n=1\t4006381333931\t1\tUSD\t2\t'=1\n",
		"variant_id,rule,floor,ceiling,fallback,currency,quantity,as_of\nv,lowest-5%,1,3,2,USD,1,2026-01-01\nw,bid,1,,,KRW,1,\n",
		`{"sku":"a","gtin":"036000291452","price":1.50,"currency":"USD","quantity":1,"x":{"y":[null]}}` + "\n" + `{"sku":"b"}` + "\n{",
		"PK\x03\x04", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "\xff\xfes\x00k\x00u\x00", "\xfe\xff\x00s\xd8\x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		text := decoded(t, input)
		lines := strings.Split(text, "\n")
		reader := stock.NewReader(bytes.NewReader(input), stock.Options{})
		var rows []stock.Row
		keys := map[string]bool{}
		last, problems := 0, 0
		for row, err := range reader.Rows() {
			if problem, ok := errors.AsType[*stock.Problem](err); ok {
				problems++
				require.True(t, last <= problem.Line && 1 <= problem.Line && problem.Line <= len(lines), "line %d of %d", problem.Line, len(lines))
				require.LessOrEqual(t, problem.Column, 1+utf8.RuneCountInString(lines[problem.Line-1]))
				require.NotContains(t, problem.Error(), "\n")
				require.NotEmpty(t, problem.Text)
				continue
			}
			require.NoError(t, err, "invalid text is a problem")
			require.Greater(t, row.Line, last)
			last = row.Line
			requireValid(t, row)
			require.False(t, keys[row.SKU], "a key is unique")
			keys[row.SKU] = true
			rows = append(rows, row)
		}
		require.True(t, len(rows) > 0 || problems > 0, "without rows there is a problem")
		if len(rows) > 0 {
			requireRoundTrip(t, reader.Layout(), rows)
		}
	})
}

// decoded returns the text of which problems name lines and columns.
func decoded(t *testing.T, input []byte) string {
	t.Helper()
	if bytes.HasPrefix(input, []byte("\xff\xfe")) || bytes.HasPrefix(input, []byte("\xfe\xff")) {
		text, err := unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Bytes(input)
		require.NoError(t, err)
		return string(text)
	}
	return strings.TrimPrefix(string(input), "\xef\xbb\xbf")
}

func requireValid(t *testing.T, row stock.Row) {
	t.Helper()
	require.NotEmpty(t, row.SKU)
	require.True(t, row.Currency.Valid())
	require.GreaterOrEqual(t, row.Quantity, 0)
	require.True(t, row.VariantID != "" || row.GTIN != "" || row.StyleID != "" && row.Size != "")
	if row.Price.Kind == stock.PriceFixed {
		amount, err := row.Price.Amount.Decimal()
		require.NoError(t, err)
		require.True(t, amount.IsPos())
		return
	}
	floor, err := row.Price.Floor.Decimal()
	require.NoError(t, err)
	require.True(t, floor.IsPos())
	if ceiling, err := row.Price.Ceiling.Decimal(); err == nil {
		require.LessOrEqual(t, floor.Cmp(ceiling), 0)
	}
}

func requireRoundTrip(t *testing.T, layout stock.Layout, rows []stock.Row) {
	t.Helper()
	text := write(t, layout, rows...)
	again := read(t, text)
	require.Empty(t, again.texts(), "%q", text)
	require.Len(t, again.rows, len(rows))
	for i := range rows {
		require.Equal(t, without(rows[i]), without(again.rows[i]))
	}
	require.Equal(t, layout, again.layout)
	require.Equal(t, text, write(t, again.layout, again.rows...))
}
