package stock_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

func write(t *testing.T, layout stock.Layout, rows ...stock.Row) string {
	t.Helper()
	var out bytes.Buffer
	w, err := stock.NewWriter(&out, layout)
	require.NoError(t, err)
	for _, row := range rows {
		require.NoError(t, w.Write(row))
	}
	require.NoError(t, w.Flush())
	return out.String()
}

// without removes what differs between a row and the same row in another file: the line, and how
// known values are written.
func without(row stock.Row, unknown ...int) stock.Row {
	fields := row.Fields
	row.Line, row.JSON, row.Fields = 0, "", nil
	for _, i := range unknown {
		row.Fields = append(row.Fields, fields[i])
	}
	return row
}

// generator makes rows that a reader accepts.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) row(number int) stock.Row {
	row := stock.Row{
		SKU:      g.pick("A-", "=", "+1", "@", "-", "'=", "''-", "x y", `"q"`, "ü;", "a,b", "'", "世界") + fmt.Sprint(number),
		Currency: gen.CurrencyCode(g.pick("USD", "EUR", "JPY")),
		Quantity: g.IntN(3),
	}
	switch g.IntN(4) {
	case 0:
		row.VariantID = g.pick("8f4d2c4e", "-v")
	case 1:
		row.GTIN = g.pick("036000291452", "4006381333931")
	case 2:
		row.GTIN, row.StyleID = "0195866137516", "DZ"
	default:
		row.StyleID, row.Size = g.pick("DZ5485-612", "=A1", "75192"), g.pick("10.5", "10½", "-", `11"`, "M; L", "One Size")
	}
	row.Price = stock.Price{Kind: stock.PriceFixed, Amount: "150"}
	if g.IntN(2) == 0 {
		row.Price = stock.Price{Kind: stock.PriceBelowLowest, Floor: "100"}
		switch g.IntN(4) {
		case 0:
			row.Price.Less = "2"
		case 1:
			row.Price.LessPercent = decimal.MustParse("2.50")
		case 2:
			row.Price.Kind = stock.PriceAtHighest
		}
		row.Price.Ceiling = gen.Amount(g.pick("", "200"))
		row.Price.Fallback = gen.Amount(g.pick("", "150"))
	}
	if g.IntN(2) == 0 {
		row.AsOf = time.Date(2026, 1, 2, 3, 4, 5, 6000*g.IntN(2), time.UTC)
	}
	if g.IntN(2) == 0 {
		row.ExpiresAt = gen.TimeOf(time.Date(2030, 1, 2, 3, 4, 5, 6*g.IntN(2), time.UTC))
	}
	row.Active = [...]*bool{nil, new(true), new(false)}[g.IntN(3)]
	return row
}

func (g generator) note() string {
	return g.pick("", " ", " a ", "=SUM(A1)", "'=x", "''", "one\ntwo", "one\r\ntwo\n", `"`, "a,b;c\td", "\t", "\r", "-1", "'-1", "\xff", "ü")
}

func (g generator) layout() (layout stock.Layout, unknown []int) {
	layout = stock.Layout{Comma: g.pick(",", ";", "\t")[0], NDJSON: g.IntN(4) == 0}
	names := append(stock.DefaultColumns(), "=notes", "more; or less")
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names {
		synonyms := map[string][]string{"sku": {"Seller SKU", "sku"}, "price": {"Ask"}, "as_of": {"counted at"}, "gtin": {"UPC"}}
		if s := synonyms[name]; s != nil {
			names[i] = g.pick(s...)
		}
		if strings.ContainsAny(name, "=;") {
			unknown = append(unknown, i)
		}
	}
	layout.Columns = names
	return layout, unknown
}

// TestWriter_IsTheInverseOfReader writes random rows in random layouts and encodings.
func TestWriter_IsTheInverseOfReader(t *testing.T) {
	encodings := []encoding.Encoding{
		unicode.UTF8BOM,
		unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	}
	for seed := range uint64(500) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		layout, unknown := g.layout()
		encoded := g.IntN(2) == 0
		var rows, want []stock.Row
		for n := range 1 + g.IntN(8) {
			row := g.row(n)
			row.Fields = make([]string, len(layout.Columns))
			for _, i := range unknown {
				row.Fields[i] = g.note()
				if encoded || layout.NDJSON {
					row.Fields[i] = strings.ToValidUTF8(row.Fields[i], "")
				}
			}
			rows = append(rows, row)
			if layout.NDJSON {
				want = append(want, without(row))
			} else {
				want = append(want, without(row, unknown...))
			}
		}
		text := write(t, layout, rows...)
		input := text
		if encoded {
			var err error
			input, err = encodings[g.IntN(len(encodings))].NewEncoder().String(text)
			require.NoError(t, err)
		}
		f := read(t, input)
		require.Empty(t, f.texts(), "seed %d: %s", seed, text)
		var got []stock.Row
		for _, row := range f.rows {
			if layout.NDJSON {
				got = append(got, without(row))
			} else {
				got = append(got, without(row, unknown...))
			}
		}
		require.Equal(t, want, got, "seed %d: %s", seed, text)
		require.Equal(t, text, write(t, f.layout, f.rows...), "seed %d", seed)
	}
}

func TestWriter_ProtectsFormulas(t *testing.T) {
	row := stock.Row{
		SKU: "=HYPERLINK(1)", VariantID: "v", Currency: "USD",
		Price: stock.Price{Kind: stock.PriceFixed, Amount: "1"}, Fields: []string{"", "", "", "", "", "@cmd"},
	}
	text := write(t, stock.Layout{Columns: []string{"sku", "variant_id", "price", "currency", "qty", "-note"}}, row)
	assert.Equal(t, "sku,variant_id,price,currency,qty,'-note\n\"'=HYPERLINK(1)\",v,1,USD,0,\"'@cmd\"\n", text)
	f := read(t, text)
	require.Len(t, f.rows, 1)
	assert.Equal(t, "=HYPERLINK(1)", f.rows[0].SKU)
	assert.Equal(t, "@cmd", f.rows[0].Fields[5])
	assert.Equal(t, "-note", f.layout.Columns[5])
}

func TestWriter_KeepsUnknownMembers(t *testing.T) {
	const line = `{"id":{"a": 1e400},"SKU":"A1","variant":"v","ask":1,"currency":"usd","qty":3,"active":null,"size":"","note":"\ud800"}`
	f := read(t, line)
	require.Len(t, f.rows, 1)
	f.rows[0].Quantity, f.rows[0].Active = 2, new(false)
	got := write(t, f.layout, f.rows...)
	want := `{"id":{"a": 1e400},"SKU":"A1","variant":"v","ask":"1","currency":"USD","qty":2,"active":false,"note":"\ud800"}` + "\n"
	assert.True(t, want == got, "the same members in the same order: %s", got)
}

func TestWriter_LosesNoValue(t *testing.T) {
	row := stock.Row{SKU: "v", VariantID: "v", Currency: "USD", Price: stock.Price{Kind: stock.PriceFixed, Amount: "1"}}
	columns := []string{"variant_id", "price", "currency", "quantity"}
	for _, test := range []struct {
		change func(*stock.Row)
		fails  bool
		why    string
	}{
		{func(*stock.Row) {}, false, "the SKU is the key of the item"},
		{func(r *stock.Row) { r.SKU = "A1" }, true, "a SKU of the seller"},
		{func(r *stock.Row) { r.Size = "9" }, true, "a size"},
		{func(r *stock.Row) { r.Active = new(false) }, true, "listed although inactive"},
		{func(r *stock.Row) { r.AsOf = time.Unix(1e9, 0) }, true, "sales would not count"},
		{func(r *stock.Row) { r.Price.Floor = "1" }, true, "a limit"},
		{func(r *stock.Row) { r.Price = stock.Price{Kind: stock.PriceAtHighest} }, true, "a rule"},
		{func(r *stock.Row) { r.Fields = []string{"v"} }, true, "fields of another layout"},
	} {
		changed := row
		test.change(&changed)
		var out bytes.Buffer
		w, err := stock.NewWriter(&out, stock.Layout{Columns: columns})
		require.NoError(t, err)
		assert.Equal(t, test.fails, w.Write(changed) != nil, test.why)
		require.NoError(t, w.Flush())
		assert.Equal(t, !test.fails, out.Len() > 0 && strings.Count(out.String(), "\n") == 2, test.why)
	}
}

func TestNewWriter_RefusesLayoutsThatCannotBeRead(t *testing.T) {
	for _, layout := range []stock.Layout{
		{Comma: '|'},
		{Columns: []string{"price", "ask"}},
	} {
		_, err := stock.NewWriter(&bytes.Buffer{}, layout)
		require.Error(t, err)
	}
	assert.Len(t, read(t, write(t, stock.Layout{})).layout.Columns, len(stock.DefaultColumns()), "the zero layout is valid")
}

func TestNewWriter_KnowsSynonyms(t *testing.T) {
	for _, row := range []struct {
		column string
		names  []string
		why    string
	}{
		{"sku", []string{"SKU", "Seller SKU", "seller-sku", "merchant_sku", "ItemSKU"}, "any case and any separator of words"},
		{"variant_id", []string{"variantId", "Variant"}, "the name of the service"},
		{"gtin", []string{"UPC", "EAN", "Barcode"}, "kinds of GTIN"},
		{"style_id", []string{"Style", "Style Code", "style no.", "Style Number"}, "on the box"},
		{"price", []string{"Ask", "ask price", "asking_price", "amount"}, "the name of the service"},
		{"rule", []string{"Price Rule", "pricing rule"}, "in words"},
		{"floor", []string{"Min Price", "minimum price", "floor price", "price floor"}, "of other repricers"},
		{"ceiling", []string{"Max Price", "maximum price", "ceiling price", "price ceiling"}, "of other repricers"},
		{"fallback", []string{"fallback price"}, "in words"},
		{"currency", []string{"currencyCode"}, "the name of the service"},
		{"quantity", []string{"Qty", "Stock", "in stock", "On Hand"}, "of other shops"},
		{"as_of", []string{"as of", "Counted At", "stock as of"}, "in words"},
		{"expires_at", []string{"expiresAt", "Expires", "expiry", "Expiry Date", "expiration date"}, "in words"},
	} {
		for _, name := range row.names {
			_, err := stock.NewWriter(&bytes.Buffer{}, stock.Layout{Columns: []string{row.column, name}})
			assert.Error(t, err, "%s is %s: %s", name, row.column, row.why)
		}
	}
	all := append(stock.DefaultColumns(), "list price", "retail price", "cost", "us size", "name", "status", "date", "", "price2")
	_, err := stock.NewWriter(&bytes.Buffer{}, stock.Layout{Columns: all})
	assert.NoError(t, err, "no name is guessed")
}
