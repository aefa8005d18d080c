package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/examples"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestDemo_ShowsAWholeDay(t *testing.T) {
	for _, args := range [][]string{{"demo"}, {"demo", "--quirks"}} {
		start := time.Now()
		got := sellside(t.Context(), nil, args...)
		require.Equal(t, 0, got.code, "%s: %s\n%s", args, got.out, got.errors)
		assert.Less(t, time.Since(start), 15*time.Second)
		assert.Empty(t, got.errors)
		for _, text := range []string{
			"250 rows", "did you mean DZ5485-612?", "Skipped 10 invalid rows, 240 rows are valid",
			"361 of 365 listings made, 4 not", "the lowest ask is ours", "INACTIVE", "24 of 24 listings",
			"sale price", "Transaction Fee", "payout", "All as expected",
		} {
			assert.Contains(t, got.out, text, args)
		}
		assert.NotContains(t, got.out, ": , size", "a product without a name")
		assert.NotContains(t, got.out, "\x1b", "no colours without a terminal")
		for line := range strings.Lines(got.out) {
			assert.Equal(t, strings.TrimRight(line, " \n"), strings.TrimRight(line, "\n"), "no trailing space")
		}
	}
}

func TestDemo_FailsUnlessExactlyTheExpectedRowsFail(t *testing.T) {
	for _, row := range []struct{ old, new, says, why string }{
		{"$310", "310", "line 67 should be invalid: the price has a currency sign", "an invalid row that is valid"},
		{"DZ5485-612,8.5,290,USD", "DZ5485-612,8.5,0,USD", "line 2 should not be invalid", "a valid row that is invalid"},
		{"145000", "1450", "line 243 should be refused: the price is out of the service's range", "a row that should fail and does not"},
		{"DZ5485-612,8.5,290,USD", "DZ5485-612,8.5,290.005,USD", "line 2 should not be refused", "a row that fails and should not"},
	} {
		inventory := strings.Replace(examples.Inventory, row.old, row.new, 1)
		require.NotEqual(t, examples.Inventory, inventory, row.why)
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		cmd.SetOut(&out)
		err := runDemo(cmd, sandbox.Options{}, report.Look{}, inventory)
		require.ErrorContains(t, err, row.says, row.why)
		assert.Equal(t, 1, exitCode(t.Context(), err))
	}
}
