package table_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
)

type offer struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Price string `json:"price"`
}

func columns() []table.Column[offer] {
	return []table.Column[offer]{
		{Name: "offer_id", Value: func(o offer) string { return o.ID }},
		{Name: "price", Value: func(o offer) string { return o.Price }, Right: true},
		{Name: "name", Value: func(o offer) string { return o.Name }, Wrap: true},
		{Name: "length", Value: func(o offer) string { return fmt.Sprint(len(o.Name)) }, CSV: true},
	}
}

func render(t *testing.T, out table.Output, rows ...offer) string {
	t.Helper()
	var text strings.Builder
	out.W = &text
	printed := table.New(out, columns())
	for _, row := range rows {
		require.NoError(t, printed.Write(row))
	}
	require.NoError(t, printed.Flush())
	return text.String()
}

const uuid = "98e2e748-8000-45bf-a624-5531d6a68318"

func TestRows_WrapWhatIsNoID(t *testing.T) {
	row := offer{uuid, "Jordan 1 Retro High OG Chicago Lost and Found", "162.00"}
	assert.Equal(t, ""+
		"OFFER ID                               PRICE  NAME\n"+
		uuid+"  162.00  Jordan 1 Retro\n"+
		"                                              High OG Chicago\n"+
		"                                              Lost and Found\n",
		render(t, table.Output{Width: 61}, row))
}

func TestRows_BecomeRecordsIfIDsDoNotFit(t *testing.T) {
	row := offer{uuid, "Jordan 1 Retro High", "162"}
	assert.Equal(t, ""+
		"OFFER ID  "+uuid+"\n"+
		"PRICE     162\n"+
		"NAME      Jordan 1 Retro\n"+
		"          High\n"+
		"\n"+
		"OFFER ID  2\n",
		render(t, table.Output{Width: 26}, row, offer{ID: "2"}))
}

func TestRows_BreakNoIDInText(t *testing.T) {
	row := offer{"1", "wait for operation " + uuid, "162"}
	assert.Equal(t, ""+
		"OFFER ID  PRICE  NAME\n"+
		"1           162  wait for operation\n"+
		"                 "+uuid+"\n",
		render(t, table.Output{Width: 54}, row))
	assert.Contains(t, render(t, table.Output{Width: 50}, row), "NAME      wait for operation\n          "+uuid+"\n")
}

func TestRows_HaveAnyWidthWithoutATerminal(t *testing.T) {
	name := strings.Repeat("Jordan ", 40)
	got := render(t, table.Output{}, offer{uuid, name, "1"})
	assert.Equal(t, 2, strings.Count(got, "\n"))
	assert.Contains(t, got, strings.TrimSpace(name))
}

func TestRows_RepeatTheHeaderAboveEachBlock(t *testing.T) {
	rows := make([]offer, 250)
	got := render(t, table.Output{Width: 80}, rows...)
	assert.Equal(t, 3, strings.Count(got, "OFFER ID"))
}

func TestRows_ContinueATable(t *testing.T) {
	var text strings.Builder
	rows := table.New(table.Output{W: &text, Width: 80}, columns())
	for _, row := range []offer{{"100", "a name", "1"}, {"2", "name", "22"}, {"3", "n", "1234567"}} {
		require.NoError(t, rows.Write(row))
		require.NoError(t, rows.Flush())
	}
	assert.Equal(t, ""+
		"OFFER ID  PRICE  NAME\n"+
		"100           1  a name\n"+
		"2            22  name\n"+
		"\n"+
		"OFFER ID    PRICE  NAME\n"+
		"3         1234567  n\n", text.String(), "a new header if a value is too wide")
}

func TestRows_PrintNothingOrAHeaderIfThereIsNothing(t *testing.T) {
	assert.Empty(t, render(t, table.Output{}))
	assert.Empty(t, render(t, table.Output{Format: table.JSON}))
	assert.Equal(t, "offer_id,price,name,length\n", render(t, table.Output{Format: table.CSV}))
}

func TestRows_AreCompleteForPrograms(t *testing.T) {
	row := offer{uuid, "a \"name\", with\nlines & <tags>", "162.00"}
	var got offer
	text := render(t, table.Output{Format: table.JSON, Width: 20}, row, row)
	require.Equal(t, 2, strings.Count(text, "\n"), "an object per line")
	line, _, _ := strings.Cut(text, "\n")
	require.NoError(t, json.Unmarshal([]byte(line), &got))
	assert.Equal(t, row, got)
	assert.Contains(t, text, "& <tags>")

	lines, err := csv.NewReader(strings.NewReader(render(t, table.Output{Format: table.CSV, Width: 20}, row))).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{uuid, "162.00", "a \"name\", with lines & <tags>", "29"}, lines[1])
}

func TestRows_ControlNoTerminal(t *testing.T) {
	got := render(t, table.Output{Width: 80}, offer{"1", "red\x1b[31m \u202e\r\nback", "1\x07"})
	for _, r := range "\x1b\r\x07\u202e" {
		assert.NotContains(t, got, string(r))
	}
	assert.Equal(t, 2, strings.Count(got, "\n"))
}

// FuzzRows tests that no line is wider than the terminal, except for one with a value that must not
// be wrapped, and that no such value is broken.
func FuzzRows(f *testing.F) {
	f.Add(uuid, "Jordan 1 Retro High OG Chicago Lost and Found", "162.00", 80)
	f.Add("1", "日本語の長い名前 e\u0301e\u0301e\u0301", "¥", 12)
	f.Add("", "", "", 1)
	f.Fuzz(func(t *testing.T, id, name, price string, width int) {
		width = 1 + abs(width)%200
		got := render(t, table.Output{Width: width}, offer{id, name, price})
		id, price = clean(id), clean(price)
		assert.Contains(t, got, id)
		assert.Contains(t, got, price)
		for line := range strings.Lines(got) {
			line = strings.TrimRight(line, "\n")
			whole := id != "" && strings.Contains(line, id) || price != "" && strings.Contains(line, price)
			const label = len("OFFER ID  ")
			whole = whole || strings.ContainsAny(line, "0123456789") || strings.Contains(line, "://")
			if n := uniseg.StringWidth(line); !whole && width >= label+8 {
				assert.LessOrEqual(t, n, width, "%q", line)
			}
		}
	})
}

// clean returns a value as a table shows it.
func clean(s string) string {
	var text strings.Builder
	out := table.Output{W: &text, Format: table.CSV}
	rows := table.New(out, []table.Column[string]{{Name: "x", Value: func(s string) string { return s }}})
	_ = rows.Write(s)
	_ = rows.Flush()
	lines, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil || len(lines) < 2 {
		return ""
	}
	return lines[1][0]
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}
