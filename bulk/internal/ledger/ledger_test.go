package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/db/dbtest"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// at is a time of the tests; the ledger keeps milliseconds.
func at(minutes int) time.Time {
	return time.UnixMilli(1_790_000_000_123).UTC().Add(time.Duration(minutes) * time.Minute)
}

// account is a ledger with the fencing number of its worker.
type account struct {
	*ledger.Ledger
	fence int64
}

// do runs a transaction that must succeed.
func (a account) do(t *testing.T, run func(ctx context.Context, tx ledger.Tx)) {
	t.Helper()
	require.NoError(t, a.Do(t.Context(), func(ctx context.Context, tx ledger.Tx) error {
		run(ctx, tx)
		return nil
	}))
}

// must returns the value of a query that must succeed.
func must[T any](t *testing.T, a account, query func(context.Context, ledger.Tx) (T, error)) T {
	t.Helper()
	value, err := ledger.Read(t.Context(), a.Ledger, query)
	require.NoError(t, err)
	return value
}

func rowOf(sku string, line int) stock.Row {
	return stock.Row{
		SKU: sku, Line: line, VariantID: "variant-" + sku, Currency: "USD", Quantity: 2,
		Price: stock.Price{Kind: stock.PriceFixed, Amount: "200"},
	}
}

// planned is an account whose plan has rows, each of which owes a create of 2.
func planned(t *testing.T, a account, skus ...string) (generation int64) {
	t.Helper()
	a.do(t, func(ctx context.Context, tx ledger.Tx) {
		var err error
		generation, err = tx.NewGeneration(ctx)
		require.NoError(t, err)
		var all []stock.Row
		for i, sku := range skus {
			all = append(all, rowOf(sku, i+1))
		}
		require.NoError(t, tx.PutRows(ctx, generation, all, at(0)))
		rows, err := tx.DirtyRows(ctx, 100)
		require.NoError(t, err)
		require.Len(t, rows, len(skus))
		for i := range rows {
			owed := []ledger.Owed{{
				Kind: decide.WriteCreate, Rank: 1, Line: rows[i].Line, SKU: rows[i].SKU, Quantity: 2, Body: "{}",
			}}
			require.NoError(t, tx.SetDecided(ctx, &rows[i], ledger.Decided{
				Class: decide.ClassCreated, Detail: "new", Creates: 2, DueAt: at(10 + i), Owed: owed,
			}))
		}
	})
	return generation
}

// run starts a run of a plan.
func run(t *testing.T, a account, generation int64) (id int64) {
	t.Helper()
	a.do(t, func(ctx context.Context, tx ledger.Tx) {
		var err error
		id, err = tx.StartRun(ctx, "apply", "stock.csv", generation, at(1))
		require.NoError(t, err)
	})
	return id
}

// record records a submission of creates.
func record(t *testing.T, a account, id string, generation, run int64, skus ...string) error {
	t.Helper()
	var owed []ledger.Owed
	for _, sku := range skus {
		owed = append(owed, ledger.Owed{Kind: decide.WriteCreate, SKU: sku, Quantity: 2})
	}
	return a.Do(t.Context(), func(ctx context.Context, tx ledger.Tx) error {
		return tx.Record(ctx, ledger.Submission{
			ID: id, Kind: decide.WriteCreate, Run: run, Generation: generation, Fence: a.fence, Body: "{}",
			MadeAt: at(2), NotAfter: at(3), NextAt: at(4),
		}, owed)
	})
}

// TestLedger has what both engines must do alike.
func TestLedger(t *testing.T) {
	for _, tc := range []struct {
		name string
		test func(t *testing.T, a, other account)
	}{
		{"SeparatesAccounts", func(t *testing.T, a, other account) {
			planned(t, a, "x", "y")
			planned(t, other, "x")
			a.do(t, func(ctx context.Context, tx ledger.Tx) { require.NoError(t, tx.DirtyAll(ctx)) })
			assert.True(t, must(t, a, func(ctx context.Context, tx ledger.Tx) (bool, error) { return tx.IsDirty(ctx) }))
			assert.False(t, must(t, other, func(ctx context.Context, tx ledger.Tx) (bool, error) { return tx.IsDirty(ctx) }))
			counts := must(t, other, func(ctx context.Context, tx ledger.Tx) ([]ledger.Count, error) { return tx.Counts(ctx) })
			assert.Equal(t, []ledger.Count{{Class: decide.ClassCreated, Rows: 1, Creates: 2}}, counts)
		}},
		{"PagesRowsOnce", func(t *testing.T, a, _ account) {
			// The order is that of the engine and of the database's locale.
			skus := []string{"B", "_", "a", "ab", "a-c", "é", "Z", "10", "9"}
			planned(t, a, skus...)
			var got []string
			for after := ""; ; {
				rows := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]ledger.Row, error) {
					return tx.RowsAfter(ctx, "", after, 2)
				})
				if len(rows) == 0 {
					break
				}
				for _, r := range rows {
					got = append(got, r.SKU)
				}
				after = got[len(got)-1]
			}
			assert.ElementsMatch(t, skus, got)
		}},
		{"DecidesWhatIsDue", func(t *testing.T, a, _ account) {
			planned(t, a, "x", "y")
			due := must(t, a, func(ctx context.Context, tx ledger.Tx) (time.Time, error) { return tx.NextDue(ctx) })
			assert.True(t, due.Equal(at(10)), due)
			a.do(t, func(ctx context.Context, tx ledger.Tx) {
				n, err := tx.DirtyDue(ctx, at(10))
				require.NoError(t, err)
				assert.EqualValues(t, 1, n)
			})
			rows := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]ledger.Row, error) { return tx.DirtyRows(ctx, 9) })
			require.Len(t, rows, 1)
			assert.Equal(t, "x", rows[0].SKU)
			assert.Equal(t, "new", rows[0].Detail)
		}},
		{"RecordsOnlyForTheNewestPlan", func(t *testing.T, a, _ account) {
			generation := planned(t, a, "x")
			first := run(t, a, generation)
			require.NoError(t, record(t, a, "s1", generation, first, "x"))
			newer := must(t, a, func(ctx context.Context, tx ledger.Tx) (ledger.Account, error) { return tx.State(ctx) })
			assert.Equal(t, ledger.Account{Generation: generation, Run: first}, newer)
			a.do(t, func(ctx context.Context, tx ledger.Tx) {
				_, err := tx.NewGeneration(ctx)
				require.NoError(t, err)
			})
			require.ErrorIs(t, record(t, a, "s2", generation, first, "x"), ledger.ErrReplaced)
			fenced := a
			fenced.fence--
			require.ErrorIs(t, record(t, fenced, "s3", generation+1, 0, "x"), db.ErrFenced)
			n := must(t, a, func(ctx context.Context, tx ledger.Tx) (int, error) { return tx.InFlight(ctx) })
			assert.Equal(t, 1, n, "nothing is left of what failed")
		}},
		{"SettlesSubmissions", func(t *testing.T, a, _ account) {
			generation := planned(t, a, "x", "y")
			id := run(t, a, generation)
			require.NoError(t, record(t, a, "s", generation, id, "x", "y"))
			owed := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]ledger.Owed, error) {
				return tx.NextOwed(ctx, decide.WriteCreate, 10)
			})
			assert.Empty(t, owed, "what is in flight is owed no more")
			s := must(t, a, func(ctx context.Context, tx ledger.Tx) (*ledger.Submission, error) { return tx.Unknown(ctx) })
			require.NotNil(t, s)
			assert.True(t, s.NotAfter.Equal(at(3)), s.NotAfter)
			a.do(t, func(ctx context.Context, tx ledger.Tx) {
				s.Batch, s.State, s.Looks, s.Took = "batch", ledger.SubmissionSubmitted, 1, 90*time.Second
				require.NoError(t, tx.SetSubmission(ctx, *s))
				items, err := tx.Items(ctx, "s")
				require.NoError(t, err)
				require.Len(t, items, 2)
				items[0].Made, items[0].State = 2, ledger.ItemDone
				items[1].Made, items[1].Failed, items[1].State, items[1].Error = 1, 1, ledger.ItemFailed, "refused"
				for _, i := range items {
					require.NoError(t, tx.SetItem(ctx, i))
				}
				s.State = ledger.SubmissionDone
				require.NoError(t, tx.SetSubmission(ctx, *s))
				require.NoError(t, tx.EndRun(ctx, id, ledger.RunDone, "", at(5)))
			})
			got := must(t, a, func(ctx context.Context, tx ledger.Tx) (*ledger.Run, error) { return tx.RunOf(ctx, id) })
			require.NotNil(t, got)
			assert.Equal(t, []any{ledger.RunDone, 3, 1, 0, 0}, []any{got.State, got.Made, got.Failed, got.Open, got.Unknown})
			failed := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]ledger.Item, error) {
				return tx.RunItems(ctx, id, ledger.ItemFailed, "", 0, 10)
			})
			require.Len(t, failed, 1)
			assert.Equal(t, "refused", failed[0].Error)
		}},
		{"UnrecordsWhatWasNotSent", func(t *testing.T, a, _ account) {
			generation := planned(t, a, "x")
			id := run(t, a, generation)
			require.NoError(t, record(t, a, "s", generation, id, "x"))
			a.do(t, func(ctx context.Context, tx ledger.Tx) { require.NoError(t, tx.Unrecord(ctx, "s")) })
			rows := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]ledger.Row, error) { return tx.DirtyRows(ctx, 9) })
			require.Len(t, rows, 1, "its row is decided again")
			assert.Empty(t, rows[0].InFlight)
		}},
		{"KeepsRefusals", func(t *testing.T, a, _ account) {
			planned(t, a, "x")
			a.do(t, func(ctx context.Context, tx ledger.Tx) {
				for range 2 {
					require.NoError(t, tx.AddRefusal(ctx, "x", decide.Refusal{Kind: decide.WriteCreate}, "why", at(3)))
				}
				require.NoError(t, tx.ClearFailures(ctx, at(3)), "not before this time")
			})
			rows := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]ledger.Row, error) { return tx.RowsOf(ctx, "x", "unknown") })
			require.Len(t, rows, 1)
			assert.Len(t, rows[0].Refusals, 2)
			assert.Equal(t, "why", rows[0].Failure)
		}},
		{"KnowsListingsAndSales", func(t *testing.T, a, _ account) {
			planned(t, a, "x")
			live := func(id, sku string) ledger.Listing {
				return ledger.Listing{SKU: sku, Reading: 1, Listing: decide.Listing{
					ID: id, Presence: decide.PresenceLive, Variant: "variant-x", Active: true, Amount: "200.10", Currency: "USD",
					ExpiresAt: gen.TimeOf(at(99)), CreatedAt: at(1), ChangedAt: []time.Time{at(1)}, ReadAt: at(2),
				}}
			}
			a.do(t, func(ctx context.Context, tx ledger.Tx) {
				require.NoError(t, tx.PutListing(ctx, live("l1", "x")))
				require.NoError(t, tx.PutListing(ctx, live("l2", "")))
				require.NoError(t, tx.PutListing(ctx, live("l2", "")), "again")
				require.NoError(t, tx.Want(ctx, "l2"))
				for i, status := range []gen.OrderStatus{"CREATED", "CREATED", "COMPLETED"} {
					known, err := tx.PutSale(ctx, ledger.Sale{Number: "o1", Listing: "l1", SoldAt: at(3), Status: status})
					require.NoError(t, err)
					assert.Equal(t, i == 1, known, "only the same status is known")
				}
			})
			found := must(t, a, func(ctx context.Context, tx ledger.Tx) (map[string]ledger.Listing, error) {
				return tx.Listings(ctx, "l1", "l2", "l3")
			})
			require.Len(t, found, 2)
			assert.Equal(t, gen.Amount("200.10"), found["l1"].Amount)
			assert.True(t, found["l1"].ChangedAt[0].Equal(at(1)))
			wanted := must(t, a, func(ctx context.Context, tx ledger.Tx) (*ledger.Listing, error) { return tx.NextWanted(ctx) })
			require.NotNil(t, wanted)
			assert.Equal(t, "l2", wanted.ID)
			sales := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]ledger.Sale, error) { return tx.SalesAfter(ctx, "", 9) })
			require.Len(t, sales, 1)
			assert.Equal(t, "x", sales[0].SKU)
			variants := must(t, a, func(ctx context.Context, tx ledger.Tx) ([]string, error) { return tx.ForeignVariants(ctx, "", 9) })
			assert.Equal(t, []string{"variant-x"}, variants)
			a.do(t, func(ctx context.Context, tx ledger.Tx) { require.NoError(t, tx.EndReading(ctx, 2, at(5))) })
			n := must(t, a, func(ctx context.Context, tx ledger.Tx) (int, error) { return tx.CountLive(ctx) })
			assert.Zero(t, n, "the reading did not show them")
		}},
		{"KeepsMarketsAndLookups", func(t *testing.T, a, _ account) {
			a.do(t, func(ctx context.Context, tx ledger.Tx) {
				require.NoError(t, tx.NeedMarket(ctx, "p", "USD"))
				require.NoError(t, tx.NeedMarket(ctx, "p", "USD"))
				m, err := tx.NextMarket(ctx, at(1))
				require.NoError(t, err)
				require.NotNil(t, m)
				for _, ask := range []gen.Amount{"201", "202"} {
					require.NoError(t, tx.PutMarket(ctx, *m, map[string]decide.Market{"v": {LowestAsk: ask}}, at(2)))
				}
				require.NoError(t, tx.PutLookup(ctx, ledger.Lookup{Item: "gtin:1", Body: "{}", ReadAt: at(1)}))
				require.NoError(t, tx.SetTimeMark(ctx, "sales", at(7)))
			})
			m := must(t, a, func(ctx context.Context, tx ledger.Tx) (decide.Market, error) { return tx.Prices(ctx, "p", "v", "USD") })
			assert.Equal(t, gen.Amount("202"), m.LowestAsk)
			l := must(t, a, func(ctx context.Context, tx ledger.Tx) (*ledger.Lookup, error) { return tx.Lookup(ctx, "gtin:1") })
			require.NotNil(t, l)
			mark := must(t, a, func(ctx context.Context, tx ledger.Tx) (time.Time, error) { return tx.TimeMark(ctx, "sales") })
			assert.True(t, mark.Equal(at(7)), mark)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, database := range dbtest.Databases(t) {
				t.Run(name, func(t *testing.T) {
					d, err := db.Open(t.Context(), db.Config{
						Database: database, Migrations: []db.Migrations{{Name: "ledger", Files: ledger.Migrations()}},
					})
					require.NoError(t, err)
					t.Cleanup(func() { assert.NoError(t, d.Close()) })
					a, other := account{Ledger: ledger.New(d, "a")}, account{Ledger: ledger.New(d, "b")}
					a.do(t, func(ctx context.Context, tx ledger.Tx) {
						a.fence, err = db.NextFence(ctx, tx.Tx, "a")
						require.NoError(t, err)
					})
					tc.test(t, a, other)
				})
			}
		})
	}
}
