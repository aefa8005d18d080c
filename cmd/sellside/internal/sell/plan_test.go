package sell

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
)

func row(line, quantity int) inventory.Row {
	return inventory.Row{Line: line, VariantID: "8f4d2c4e", Price: "162", Currency: "USD", Quantity: quantity}
}

func TestBatchesHoldAHundredListingsCountedByQuantity(t *testing.T) {
	for _, test := range []struct {
		quantities []int
		want       [][]int // quantities of the items of each batch
		why        string
	}{
		{nil, nil, "nothing to sell"},
		{[]int{1, 2, 3}, [][]int{{1, 2, 3}}, "all fit in one"},
		{[]int{60, 40, 1}, [][]int{{60, 40}, {1}}, "a hundred is full"},
		{[]int{60, 60}, [][]int{{60, 40}, {20}}, "a row goes on in the next batch"},
		{[]int{250}, [][]int{{100}, {100}, {50}}, "even for several batches"},
		{[]int{1, 250, 1}, [][]int{{1, 99}, {100}, {51, 1}}, "and none is left half empty"},
	} {
		var rows []inventory.Row
		for i, quantity := range test.quantities {
			rows = append(rows, row(i+2, quantity))
		}
		results, batches := plan(rows)
		var got [][]int
		covered := 0
		for _, b := range batches {
			var quantities []int
			listings := 0
			for _, item := range b.items {
				quantities = append(quantities, int(item.Quantity))
				listings += int(item.Quantity)
			}
			got = append(got, quantities)
			require.Len(t, b.inputs, listings, test.why)
			require.Len(t, b.results, listings, test.why)
			require.Same(t, &results[covered], &b.results[0], "results of a batch are those of the run: %s", test.why)
			covered += listings
		}
		assert.Equal(t, test.want, got, test.why)
		assert.Len(t, results, covered, test.why)
	}
}

func TestEveryListingOfARowIsCounted(t *testing.T) {
	results, _ := plan([]inventory.Row{row(7, 1), row(9, 150)})
	assert.Equal(t, Result{Line: 7, Nth: 1, Status: StatusNotSent, Error: adviceNotSent}, results[0])
	for i, r := range results[1:] {
		assert.Equal(t, 9, r.Line)
		assert.Equal(t, i+1, r.Nth)
	}
}
