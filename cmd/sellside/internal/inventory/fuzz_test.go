package inventory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
)

// FuzzParse checks that valid rows can be sent, and that every problem names a line of the file.
func FuzzParse(f *testing.F) {
	f.Add(header + "DZ5485-621,10,$389,USDT,0\n,,,,\n75192,One Size,\"2,199.00\",USD,1.5\n")
	f.Add(header + "DZ5485-612,10.5,162.50,USD,3\n")
	f.Add("\xef\xbb\xbfvariant_id,price,currency,quantity,style_id,size,active,expires_at\r\n8f4d,1,EUR,1,,,no,2030-01-01\r\n")
	f.Add(header + "\"a\nb\",1,1,USD,1\n\"unterminated,1,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := inventory.Parse(strings.NewReader(text))
		require.NoError(t, err, "invalid text is a problem and no error")
		lines := strings.Count(text, "\n") + 1
		for _, m := range file.Problems() {
			require.True(t, 1 <= m.Line && m.Line <= lines, "line %d of %d", m.Line, lines)
			require.NotContains(t, m.Text, "\n")
		}
		if file.Unreadable || len(file.Rows) == 0 {
			require.NotEmpty(t, file.Problems(), "without rows there is a problem")
		}
		before := 0
		for _, row := range file.Valid() {
			require.Greater(t, row.Line, before)
			before = row.Line
			price, err := row.Price.Decimal()
			require.NoError(t, err)
			require.True(t, price.IsPos())
			require.True(t, row.Currency.Valid())
			require.Positive(t, row.Quantity)
			require.True(t, row.VariantID != "" || row.StyleID != "" && row.Size != "")
		}
	})
}
