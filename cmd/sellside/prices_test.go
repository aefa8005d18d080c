package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSell_ComparesPricesWithTheMarket(t *testing.T) {
	for _, row := range []struct {
		flags       []string
		code, sells int
		says        string
		why         string
	}{
		{nil, 0, 3, `line 3: warning: price`, "a warning stops nothing"},
		{[]string{"--strict-prices"}, 2, 0, `line 3: price`, "they are invalid"},
		{[]string{"--strict-prices", "--skip-invalid"}, 1, 1, `line 3: price`, "they are skipped"},
	} {
		env, c, _ := market(t)
		path := stockFile(t, "DZ5485-612,10.5,389,USD,1", "DZ5485-612,11,3.89,USD,1", "DZ5485-612,12,38900,USD,1")
		got := sellside(t.Context(), env, append([]string{"sell", path}, row.flags...)...)
		assert.Equal(t, row.code, got.code, "%s: %s", row.why, got.errors)
		assert.Contains(t, got.errors, row.says, row.why)
		assert.Regexp(t, `line 3: .*3\.89 USD is below half the highest bid of \d`, got.errors, row.why)
		assert.Regexp(t, `line 4: .*38900 USD is above ten times the lowest ask of \d`, got.errors, row.why)
		assert.NotContains(t, got.errors, "line 2", row.why)
		assert.Len(t, listings(t, c), row.sells, row.why)
	}
}
