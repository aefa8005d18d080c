package bulk_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/internal/db/dbtest"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestApply_CreatesWhatIsOwedOnce(t *testing.T) {
	for name, database := range dbtest.Databases(t) {
		t.Run(name, func(t *testing.T) {
			m := sandboxtest.New(t)
			b := open(t, m, database)
			text := inventory(250, 200)

			plan, err := b.Plan(t.Context(), rowsOf(text), bulk.PlanOptions{Source: "stock.csv"})
			require.NoError(t, err)
			assert.Equal(t, 250, plan.Creates)
			assert.Empty(t, live(t, m), "a plan sends nothing")

			run, err := b.Apply(t.Context(), plan, "apply")
			require.NoError(t, err)
			assert.Equal(t, bulk.RunDone, run.State)
			assert.Equal(t, 250, run.Done)
			assert.Len(t, live(t, m), 250)

			again, err := b.Plan(t.Context(), rowsOf(text), bulk.PlanOptions{})
			require.NoError(t, err)
			assert.Zero(t, again.Creates+again.Updates+again.Deletes)
			assert.Equal(t, 250, again.Counts[bulk.ClassUnchanged].Rows)
		})
	}
}
