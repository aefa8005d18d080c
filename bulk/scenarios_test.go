package bulk_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// scenario is an account in simulated time.
type scenario struct {
	*testing.T
	m *sandboxtest.Market
	b *bulk.Bulk
}

// simulate runs a scenario with a ledger in memory.
func simulate(t *testing.T, run func(s *scenario), change ...func(*sandbox.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t, append([]func(*sandbox.Options){
			func(o *sandbox.Options) { o.OrderStep = -1 },
		}, change...)...)
		run(&scenario{t, m, open(t, m, ":memory:")})
	})
}

// rows is an inventory: each row has sku, item (an index of the catalog), price, quantity and as_of.
func rows(lines ...string) string {
	var b strings.Builder
	b.WriteString("sku,variant_id,price,quantity,as_of,currency\n")
	ids := variants()
	for _, line := range lines {
		f := strings.Split(line, ",")
		var item int
		_, _ = fmt.Sscan(f[1], &item)
		asOf := ""
		if len(f) > 4 {
			asOf = f[4]
		}
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,USD\n", f[0], ids[item], f[2], f[3], asOf)
	}
	return b.String()
}

func (s *scenario) plan(text string, opts bulk.PlanOptions) *bulk.Plan {
	s.Helper()
	plan, err := s.b.Plan(s.Context(), rowsOf(text), opts)
	require.NoError(s, err)
	return plan
}

func (s *scenario) apply(plan *bulk.Plan) bulk.Run {
	s.Helper()
	run, err := s.b.Apply(s.Context(), plan, "apply")
	require.NoError(s, err)
	return run
}

// changes returns what a plan changes, as +creates ~updates -deletes.
func changes(p *bulk.Plan) string { return fmt.Sprintf("+%d ~%d -%d", p.Creates, p.Updates, p.Deletes) }

// ids returns the ids of the live listings, sorted.
func (s *scenario) ids() (ids []string) {
	for id := range live(s.T, s.m) {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (s *scenario) buy(id string) string {
	s.Helper()
	order, err := s.m.Buy(s.Context(), id)
	require.NoError(s, err)
	return order
}

// wait lets simulated time pass.
func (s *scenario) wait(d time.Duration) { synctestWait(s.T, d) }

func TestPlan_ListsNoSoldItemAgain(t *testing.T) {
	simulate(t, func(s *scenario) {
		three := rows("a,0,200,3")
		assert.Equal(s, "+3 ~0 -0", changes(s.plan(three, bulk.PlanOptions{})))
		s.apply(s.plan(three, bulk.PlanOptions{}))
		s.wait(time.Minute)
		s.buy(s.ids()[0])
		s.wait(time.Minute)
		plan := s.plan(three, bulk.PlanOptions{})
		assert.Equal(s, "+0 ~0 -0", changes(plan), "the same file after a sale")
		s.apply(plan)
		assert.Len(s, s.ids(), 2)

		counted := time.Now().UTC().Format(time.RFC3339)
		s.wait(time.Minute)
		plan = s.plan(rows("a,0,200,3,"+counted), bulk.PlanOptions{})
		assert.Equal(s, "+1 ~0 -0", changes(plan), "restocked, stated by a newer as_of")
		s.apply(plan)
		assert.Len(s, s.ids(), 3)

		for _, id := range s.ids() {
			s.buy(id)
		}
		s.wait(time.Minute)
		plan = s.plan(rows("a,0,200,3,"+counted), bulk.PlanOptions{})
		assert.Equal(s, "+0 ~0 -0", changes(plan))
		assert.Equal(s, 1, plan.Counts[bulk.ClassSoldOut].Rows)
	})
}

func TestPlan_ShowsConflicts(t *testing.T) {
	simulate(t, func(s *scenario) {
		s.wait(time.Hour)
		counted := time.Now().UTC().Format(time.RFC3339)
		s.wait(time.Minute)
		s.apply(s.plan(rows("a,0,200,5", "b,1,200,1"), bulk.PlanOptions{}))
		s.wait(time.Minute)
		var order string
		for id, l := range live(s.T, s.m) {
			if l.Variant.VariantID == variants()[0] {
				order = s.buy(id)
				break
			}
		}
		s.wait(time.Minute)
		plan := s.plan(rows("a,0,200,6", "b,1,200,1"), bulk.PlanOptions{})
		assert.Equal(s, 1, plan.Counts[bulk.ClassConflict].Rows, "6 in all, or 6 left")
		assert.Equal(s, "+1 ~0 -0", changes(plan), "the lower reading holds: 6 less the sale, 4 are live")
		for c, err := range plan.Changes(s.Context(), bulk.ClassConflict) {
			require.NoError(s, err)
			assert.Equal(s, "a", c.SKU)
			assert.Contains(s, c.Detail, "means 5 to list")
			assert.Contains(s, c.Detail, "means 6; 5 holds")
		}
		s.apply(plan)
		assert.Len(s, s.ids(), 6)

		require.NoError(s, s.m.MoveOrder(s.Context(), order, string(gen.OrderStatusCanceled)))
		s.wait(time.Minute)
		plan = s.plan(rows("a,0,200,6,"+counted, "b,1,200,1"), bulk.PlanOptions{})
		assert.Equal(s, "+0 ~0 -0", changes(plan), "a sale without payout lists nothing again")
		assert.Equal(s, 1, plan.Counts[bulk.ClassConflict].Rows)
	})
}

func TestPlan_DeletesOnlyWhatIsAllowed(t *testing.T) {
	simulate(t, func(s *scenario) {
		s.apply(s.plan(inventory(100, 200), bulk.PlanOptions{}))
		fewer := inventory(80, 200)
		plan := s.plan(fewer, bulk.PlanOptions{})
		assert.Equal(s, "+0 ~0 -0", changes(plan), "missing rows keep their listings")
		assert.Equal(s, 20, plan.Counts[bulk.ClassMissing].Rows)

		plan = s.plan(fewer, bulk.PlanOptions{DeleteMissing: true})
		var refused *decide.DeletesError
		require.ErrorAs(s, plan.Refused, &refused)
		assert.Equal(s, 20, refused.Deletes)
		_, err := s.b.Apply(s.Context(), plan, "apply")
		require.ErrorAs(s, err, &refused)
		assert.Len(s, s.ids(), 100)

		plan = s.plan(fewer, bulk.PlanOptions{DeleteMissing: true, AllowDeletes: new(19)})
		require.ErrorAs(s, plan.Refused, &refused)
		plan = s.plan(fewer, bulk.PlanOptions{DeleteMissing: true, AllowDeletes: new(20)})
		require.NoError(s, plan.Refused)
		s.apply(plan)
		assert.Len(s, s.ids(), 80)
	})
}

func TestPlan_TouchesNothingForeign(t *testing.T) {
	simulate(t, func(s *scenario) {
		foreign, err := s.m.AddListings(s.Context(), 2, sandbox.Listing{VariantID: variants()[0], Amount: "150"})
		require.NoError(s, err)
		text := rows("a,0,200,1")
		plan := s.plan(text, bulk.PlanOptions{DeleteMissing: true})
		assert.Equal(s, 2, plan.Foreign)
		assert.Equal(s, "+1 ~0 -0", changes(plan))

		plan = s.plan(text, bulk.PlanOptions{Adopt: true})
		assert.Equal(s, "+0 ~1 -0", changes(plan), "a listing of the same item is adopted")
		assert.Equal(s, 1, plan.Adopted)
		plan = s.plan(text, bulk.PlanOptions{})
		assert.Equal(s, "+1 ~0 -0", changes(plan), "the plan that adopted was not applied")

		s.apply(s.plan(text, bulk.PlanOptions{Adopt: true}))
		assert.ElementsMatch(s, foreign, s.ids())
		plan = s.plan(text, bulk.PlanOptions{})
		assert.Equal(s, "+0 ~0 -0", changes(plan))
		assert.Equal(s, 1, plan.Foreign)
	})
}

// TestApply_SettlesLostResponses loses the response to each kind of batch, applied and not.
func TestApply_SettlesLostResponses(t *testing.T) {
	for _, applied := range []bool{true, false} {
		for _, kind := range []sandbox.FaultKind{sandbox.FaultLost, sandbox.FaultStatus} {
			t.Run(fmt.Sprintf("%s, applied %t", kind, applied), func(t *testing.T) {
				simulate(t, func(s *scenario) {
					fail := func(operation string) {
						f := sandbox.Fault{Operation: operation, Kind: kind, Applied: applied}
						if kind == sandbox.FaultStatus {
							f.Status = 502
						}
						require.NoError(s, s.m.Fail(f))
					}
					fail("CreateListingsBatch")
					run := s.apply(s.plan(inventory(20, 200), bulk.PlanOptions{}))
					assert.Zero(s, run.Unknown)
					first := s.ids()
					assert.Len(s, first, 20)

					fail("UpdateListingsBatch")
					run = s.apply(s.plan(inventory(20, 300), bulk.PlanOptions{}))
					assert.Zero(s, run.Unknown)
					assert.Equal(s, first, s.ids())
					for id, l := range live(s.T, s.m) {
						assert.True(s, l.Amount.Equal("300"), "%s has %s", id, l.Amount)
					}

					fail("DeleteListingsBatch")
					run = s.apply(s.plan(inventory(15, 300), bulk.PlanOptions{DeleteMissing: true}))
					assert.Zero(s, run.Unknown)
					assert.Len(s, s.ids(), 15)
					assert.Subset(s, first, s.ids())
					assert.Equal(s, "+0 ~0 -0", changes(s.plan(inventory(15, 300), bulk.PlanOptions{})))
				})
			})
		}
	}
}

// TestApply_SettlesWritesAmongOthers loses the response to writes to a listing that another application
// changes at the same time: nothing waits for the seller, because the listing says what it lacks.
func TestApply_SettlesWritesAmongOthers(t *testing.T) {
	for _, operation := range []string{"UpdateListingsBatch", "DeleteListingsBatch"} {
		for _, applied := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, applied %t", operation, applied), func(t *testing.T) {
				simulate(t, func(s *scenario) {
					s.apply(s.plan(inventory(3, 200), bulk.PlanOptions{}))
					for _, id := range s.ids() {
						_, err := s.m.Client().Listings.Deactivate(s.Context(), id)
						require.NoError(s, err)
					}
					wanted := inventory(3, 300)
					if operation == "DeleteListingsBatch" {
						wanted = inventory(1, 300)
					}
					require.NoError(s, s.m.Fail(sandbox.Fault{Operation: operation, Kind: sandbox.FaultLost, Applied: applied}))
					opts := bulk.PlanOptions{DeleteMissing: true, Reread: true}
					for range 2 {
						run := s.apply(s.plan(wanted, opts))
						assert.Zero(s, run.Unknown)
					}
					left := live(s.T, s.m)
					for id, l := range left {
						assert.True(s, l.Amount.Equal("300"), "%s has %s", id, l.Amount)
						assert.Equal(s, gen.ListingStatusActive, l.Status)
					}
					assert.Len(s, left, strings.Count(wanted, "\n")-1)
					assert.Equal(s, "+0 ~0 -0", changes(s.plan(wanted, opts)))
				})
			})
		}
	}
}

func TestPlan_FindsWhatWasEditedElsewhere(t *testing.T) {
	simulate(t, func(s *scenario) {
		text := inventory(5, 200)
		s.apply(s.plan(text, bulk.PlanOptions{}))
		c := s.m.Client()
		edited, deleted := s.ids()[0], s.ids()[1]
		op, err := c.Listings.Update(s.Context(), edited, gen.UpdateListingRequest{Amount: "999", CurrencyCode: "USD"})
		require.NoError(s, err)
		_, err = op.Wait(s.Context())
		require.NoError(s, err)
		op, err = c.Listings.Delete(s.Context(), deleted)
		require.NoError(s, err)
		_, err = op.Wait(s.Context())
		require.NoError(s, err)
		s.wait(time.Minute)
		plan := s.plan(text, bulk.PlanOptions{Reread: true})
		assert.Equal(s, "+1 ~1 -0", changes(plan))
		s.apply(plan)
		assert.Len(s, s.ids(), 5)
		assert.NotContains(s, s.ids(), deleted)
		got := live(s.T, s.m)[edited]
		assert.True(s, got.Amount.Equal("200"), "it is %s", got.Amount)
	})
}

// TestResolve_SettlesWhatCannotBeTold lets the seller say what became of a batch whose listings do
// not name it.
func TestResolve_SettlesWhatCannotBeTold(t *testing.T) {
	for _, applied := range []bool{true, false} {
		simulate(t, func(s *scenario) {
			text := rows("a,0,200,2", "b,1,200,1")
			s.apply(s.plan(rows("b,1,200,1"), bulk.PlanOptions{}))
			other := s.ids()
			require.NoError(s, s.m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost, Applied: applied}))
			if !applied { // something that may be the batch is made elsewhere
				_, err := s.m.AddListings(s.Context(), 1, sandbox.Listing{VariantID: variants()[0], Amount: "200"})
				require.NoError(s, err)
			}
			run := s.apply(s.plan(text, bulk.PlanOptions{}))
			assert.Equal(s, 1, run.Unknown)
			plan := s.plan(text, bulk.PlanOptions{})
			assert.Equal(s, "+0 ~0 -0", changes(plan), "the row waits")
			assert.Equal(s, 1, plan.Counts[bulk.ClassWaiting].Rows)
			require.ErrorIs(s, s.b.Resolve(s.Context(), run.ID, "b"), bulk.ErrNotFound)

			var made []string
			if applied {
				for _, id := range s.ids() {
					if !slices.Contains(other, id) {
						made = append(made, id)
					}
				}
			}
			require.NoError(s, s.b.Resolve(s.Context(), run.ID, "a", made...))
			plan = s.plan(text, bulk.PlanOptions{})
			assert.Equal(s, fmt.Sprintf("+%d ~0 -0", 2-len(made)), changes(plan))
			s.apply(plan)
			assert.Equal(s, "+0 ~0 -0", changes(s.plan(text, bulk.PlanOptions{})))
		}, func(o *sandbox.Options) { o.VagueOrigin = true })
	}
}

func TestRetry_TriesRefusedRowsAgain(t *testing.T) {
	simulate(t, func(s *scenario) {
		text := rows("a,0,200,1", "b,1,200,1")
		require.NoError(s, s.m.FailWork(s.Context(), sandbox.Failure{Target: variants()[0], Operation: "CREATE", Error: "not today"}))
		run := s.apply(s.plan(text, bulk.PlanOptions{}))
		assert.Equal(s, 1, run.Failed)
		assert.Len(s, s.ids(), 1, "the other row is listed")
		plan := s.plan(text, bulk.PlanOptions{KeepRefusals: true})
		assert.Equal(s, "+0 ~0 -0", changes(plan), "sync leaves it alone")
		assert.Equal(s, 1, plan.Counts[bulk.ClassFailed].Rows)
		for c, err := range plan.Changes(s.Context(), bulk.ClassFailed) {
			require.NoError(s, err)
			assert.Equal(s, "not today", c.Detail)
		}
		n, err := s.b.Retry(s.Context(), run.ID)
		require.NoError(s, err)
		assert.Equal(s, 1, n)
		plan = s.plan(text, bulk.PlanOptions{KeepRefusals: true})
		assert.Equal(s, "+1 ~0 -0", changes(plan))
		s.apply(plan)
		assert.Len(s, s.ids(), 2)
	})
}

// TestApply_LooksUpRowsThatAreListed changes the item of a row to one that is not known, while as much
// is listed as is in stock.
func TestApply_LooksUpRowsThatAreListed(t *testing.T) {
	simulate(t, func(s *scenario) {
		s.apply(s.plan(rows("a,0,200,1"), bulk.PlanOptions{}))
		p := sandbox.Catalog()[1]
		text := fmt.Sprintf("sku,style_id,size,price,currency,quantity\na,%s,%s,200,USD,1\n", p.StyleID, p.Variants[0].Size)
		for range 2 { // the listing of the other variant is deleted first
			s.apply(s.plan(text, bulk.PlanOptions{}))
		}
		left := live(s.T, s.m)
		assert.Len(s, left, 1)
		for _, l := range left {
			assert.Equal(s, p.Variants[0].ID, l.Variant.VariantID)
		}
	})
}

func TestApply_FollowsRules(t *testing.T) {
	simulate(t, func(s *scenario) {
		p := sandbox.Catalog()[0]
		v := p.Variants[0].ID
		set := func(ask, bid string) {
			require.NoError(s, s.m.SetBook(s.Context(), v, "USD", sandbox.Book{Asks: []string{ask}, Bids: []string{bid}}))
		}
		set("300", "100")
		text := fmt.Sprintf("sku,style_id,size,rule,floor,ceiling,currency,quantity\na,%s,%s,lowest-5,150,400,USD,1\n",
			p.StyleID, p.Variants[0].Size)
		s.apply(s.plan(text, bulk.PlanOptions{}))
		amount := func() string {
			for _, l := range live(s.T, s.m) {
				return string(l.Amount)
			}
			return ""
		}
		assert.Equal(s, "295", amount())
		s.wait(time.Hour)
		plan := s.plan(text, bulk.PlanOptions{Resolve: true})
		assert.Equal(s, "+0 ~0 -0", changes(plan), "its own lowest ask is not undercut")
		set("200", "100")
		s.wait(time.Hour)
		plan = s.plan(text, bulk.PlanOptions{Resolve: true})
		assert.Equal(s, "+0 ~1 -0", changes(plan))
		s.apply(plan)
		assert.Equal(s, "195", amount())
		set("100", "90")
		s.wait(time.Hour)
		s.apply(s.plan(text, bulk.PlanOptions{}))
		assert.Equal(s, "150", amount(), "the floor")
	})
}

// TestPlan_SaysThatItAdoptsNothing plans while the outcome of a batch is unknown: a foreign listing
// may be of it.
func TestPlan_SaysThatItAdoptsNothing(t *testing.T) {
	simulate(t, func(s *scenario) {
		text := rows("a,0,200,1", "b,1,200,1")
		_, err := s.m.AddListings(s.Context(), 1, sandbox.Listing{VariantID: variants()[1], Amount: "200"})
		require.NoError(s, err)
		require.NoError(s, s.m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost, Applied: true}))
		ctx, stop := context.WithTimeout(s.Context(), 30*time.Second)
		defer stop()
		_, err = s.b.Apply(ctx, s.plan(rows("a,0,200,1"), bulk.PlanOptions{}), "apply")
		require.ErrorIs(s, err, context.DeadlineExceeded)
		plan := s.plan(text, bulk.PlanOptions{Adopt: true})
		assert.Zero(s, plan.Adopted)
		assert.True(s, plan.AdoptLater)
		s.apply(plan)
		plan = s.plan(rows("a,0,200,1", "b,1,200,2"), bulk.PlanOptions{Adopt: true})
		assert.Equal(s, 1, plan.Adopted)
		assert.False(s, plan.AdoptLater)
	})
}
