package sell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

func row(line, quantity int) inventory.Row {
	return inventory.Row{Line: line, VariantID: "8f4d2c4e", Price: "162", Currency: "USD", Quantity: quantity}
}

func TestPlan_FillsBatchesWithAHundredListings(t *testing.T) {
	for _, test := range []struct {
		quantities []int
		want       [][]int // quantities of the items of each batch
		why        string
	}{
		{nil, nil, "nothing to sell"},
		{[]int{1, 2, 3}, [][]int{{1, 2, 3}}, "all fit in one"},
		{[]int{60, 40, 1}, [][]int{{60, 40}, {1}}, "a hundred is full"},
		{[]int{60, 60}, [][]int{{60, 40}, {20}}, "a row continues in the next batch"},
		{[]int{250}, [][]int{{100}, {100}, {50}}, "even for several batches"},
		{[]int{1, 250, 1}, [][]int{{1, 99}, {100}, {51, 1}}, "and every batch is filled"},
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
			require.Len(t, b.results, listings, test.why)
			require.Same(t, &results[covered], &b.results[0], "results of a batch are those of the run: %s", test.why)
			covered += listings
		}
		assert.Equal(t, test.want, got, test.why)
		assert.Len(t, results, covered, test.why)
	}
}

func TestPlan_NumbersTheListingsOfARow(t *testing.T) {
	results, _ := plan([]inventory.Row{row(7, 1), row(9, 150)})
	assert.Equal(t, Result{Line: 7, Nth: 1, Status: StatusNotSent, Error: "not sent: list the row again"}, results[0])
	for i, r := range results[1:] {
		assert.Equal(t, 9, r.Line)
		assert.Equal(t, i+1, r.Nth)
	}
}

func TestBatch_CallsAListingMadeOnlyByItsID(t *testing.T) {
	result := func(variant string, status gen.BatchItemStatus, listingID string, reason gen.Reason) gen.CreateBatchItem {
		return gen.CreateBatchItem{
			ListingInput: gen.CreateBatchItemInput{VariantID: variant, Amount: "162.0000"},
			Status:       status, Result: gen.BatchItemResult{ListingID: listingID}, Error: reason,
		}
	}
	for _, test := range []struct {
		item            gen.CreateBatchItem
		status          string
		listed, notMade bool
		done            bool // The batch is done.
		why             string
	}{
		{result("v", "COMPLETED", "L1", ""), "COMPLETED", true, false, true, "made"},
		{result("v", "completed", "L1", ""), "COMPLETED", true, false, true, "made, in another case"},
		{result("v", "FAILED", "", "sold out"), "FAILED", false, true, true, "not made"},
		{result("v", "QUEUED", "", ""), "QUEUED", false, false, false, "not finished"},
		{result("v", "IN_PROGRESS", "", ""), "IN_PROGRESS", false, false, false, "not finished"},
		{result("v", "QUEUED", "", ""), StatusUnknown, false, false, true, "not finished although the batch is done"},
		{result("v", "COMPLETED", "", ""), StatusUnknown, false, false, true, "COMPLETED alone proves nothing"},
		{result("v", "COMPLETED", "L1", "sold out"), StatusUnknown, false, false, true, "an id and an error"},
		{result("v", "FAILED", "L1", "sold out"), StatusUnknown, false, false, true, "failed with an id"},
		{result("v", "QUEUED", "L1", ""), StatusUnknown, false, false, true, "not finished with an id"},
		{result("v", "COMPLETED", "L0", ""), StatusUnknown, false, false, true, "the id of another item"},
		{result("v", "REVIEWED", "", ""), StatusUnknown, false, false, true, "a status that is not known"},
		{result("w", "COMPLETED", "L1", ""), StatusUnknown, false, false, true, "a result of another variant"},
	} {
		s := recovery.Submission{Items: []gen.CreateItem{
			{VariantID: "first", Amount: "162", Quantity: 1}, {VariantID: "v", Amount: "162", Quantity: 1},
		}}
		b := batch{results: make([]Result, 2)}

		b.take("b1", s, []gen.CreateBatchItem{test.item, result("first", "COMPLETED", "L0", "")}, test.done)

		assert.Equal(t, Result{Status: "COMPLETED", ListingID: "L0"}, b.results[0], test.why)
		r := b.results[1]
		assert.Equal(t, test.status, r.Status, test.why)
		assert.Equal(t, test.listed, r.Listed(), test.why)
		assert.Equal(t, test.notMade, r.NotMade(), test.why)
		assert.Equal(t, !test.listed && !test.notMade, strings.Contains(r.Error, "b1"), "the batch is named unless it is certain: %s", test.why)
	}
}
