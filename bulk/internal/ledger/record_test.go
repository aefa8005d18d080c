package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/db/dbtest"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// oneRow is an account with one row that owes three creates, and a run that may submit them.
type oneRow struct {
	*testing.T
	l          *ledger.Ledger
	fence      int64
	generation int64
	run        int64
}

// each runs a test on every engine.
func each(t *testing.T, test func(a *oneRow)) {
	t.Helper()
	for engine, name := range dbtest.Databases(t) {
		t.Run(engine, func(t *testing.T) {
			d, err := db.Open(t.Context(), db.Config{
				Database: name, Migrations: []db.Migrations{{Name: "ledger", Files: ledger.Migrations()}},
			})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, d.Close()) })
			a := &oneRow{T: t, l: ledger.New(d, "first")}
			a.do(func(ctx context.Context, tx ledger.Tx) (err error) {
				a.fence, err = db.NextFence(ctx, tx, "first")
				require.NoError(t, err)
				a.generation, err = tx.NewGeneration(ctx)
				require.NoError(t, err)
				row := stock.Row{
					SKU: "a", Line: 2, VariantID: "variant", Quantity: 3, Currency: gen.CurrencyCodeUSD,
					Price: stock.Price{Kind: stock.PriceFixed, Amount: "200"},
				}
				require.NoError(t, tx.PutRows(ctx, a.generation, []stock.Row{row}, now))
				a.run, err = tx.StartRun(ctx, "apply", "stock.csv", a.generation, now)
				return err
			})
			a.do(func(ctx context.Context, tx ledger.Tx) error {
				return tx.SetDecided(ctx, a.row(ctx, tx), ledger.Decided{
					Class: decide.ClassCreated, Creates: 3,
					Owed: []ledger.Owed{{Kind: decide.WriteCreate, Line: 2, SKU: "a", Quantity: 3, Body: "{}"}},
				})
			})
			test(a)
		})
	}
}

func (a *oneRow) do(run func(context.Context, ledger.Tx) error) {
	a.Helper()
	require.NoError(a, a.l.Do(a.Context(), run))
}

func (a *oneRow) row(ctx context.Context, tx ledger.Tx) *ledger.Row {
	a.Helper()
	rows, err := tx.RowsOf(ctx, "a")
	require.NoError(a, err)
	require.Len(a, rows, 1)
	return &rows[0]
}

// submission is a batch of some creates of the row.
func (a *oneRow) submission(quantity int) (ledger.Submission, []ledger.Owed) {
	owed := []ledger.Owed{{Kind: decide.WriteCreate, Line: 2, SKU: "a", Quantity: quantity, Body: "{}"}}
	return ledger.Submission{
		ID: "s", Kind: decide.WriteCreate, Run: a.run, Generation: a.generation, Fence: a.fence, Body: "{}",
		MadeAt: now, NotAfter: now.Add(time.Minute), NextAt: now.Add(time.Hour),
	}, owed
}

// owed returns how many creates are owed, and how many submissions are in flight.
func (a *oneRow) owed() (creates, inFlight int) {
	a.Helper()
	a.do(func(ctx context.Context, tx ledger.Tx) (err error) {
		creates, err = tx.OwedItems(ctx, decide.WriteCreate, 0, 100)
		require.NoError(a, err)
		inFlight, err = tx.InFlight(ctx)
		return err
	})
	return creates, inFlight
}

// TestRecord_RefusesWhatIsReplaced records a submission after something has taken its place. What is
// recorded is sent, so that an error here would list items twice.
func TestRecord_RefusesWhatIsReplaced(t *testing.T) {
	for _, row := range []struct {
		change func(a *oneRow, ctx context.Context, tx ledger.Tx) error
		want   error
		why    string
	}{
		{func(*oneRow, context.Context, ledger.Tx) error { return nil }, nil, "nothing has changed"},
		{func(_ *oneRow, ctx context.Context, tx ledger.Tx) error {
			_, err := tx.NewGeneration(ctx)
			return err
		}, ledger.ErrReplaced, "a newer plan"},
		{func(a *oneRow, _ context.Context, _ ledger.Tx) error {
			a.generation--
			return nil
		}, ledger.ErrReplaced, "of an older plan than its run"},
		{func(a *oneRow, ctx context.Context, tx ledger.Tx) error {
			return tx.EndRun(ctx, a.run, ledger.RunCanceled, "", now)
		}, ledger.ErrReplaced, "its run was canceled"},
		{func(a *oneRow, ctx context.Context, tx ledger.Tx) error {
			_, err := tx.StartRun(ctx, "apply", "", a.generation, now)
			return err
		}, ledger.ErrReplaced, "another run of the same plan"},
		{func(_ *oneRow, ctx context.Context, tx ledger.Tx) error {
			_, err := db.NextFence(ctx, tx, "first")
			return err
		}, db.ErrFenced, "a newer worker"},
		{func(_ *oneRow, ctx context.Context, tx ledger.Tx) error {
			_, err := db.NextFence(ctx, tx, "second")
			return err
		}, nil, "a worker of another account"},
	} {
		t.Run(row.why, func(t *testing.T) {
			each(t, func(a *oneRow) {
				a.do(func(ctx context.Context, tx ledger.Tx) error { return row.change(a, ctx, tx) })
				s, owed := a.submission(3)
				err := a.l.Do(a.Context(), func(ctx context.Context, tx ledger.Tx) error { return tx.Record(ctx, s, owed) })
				creates, inFlight := a.owed()
				if row.want == nil {
					require.NoError(a, err)
					assert.Equal(a, []int{0, 1}, []int{creates, inFlight})
					return
				}
				require.ErrorIs(a, err, row.want)
				assert.Equal(a, []int{3, 0}, []int{creates, inFlight}, "nothing of it is kept")
			})
		})
	}
}

// TestRows_CountWhatIsInFlight follows a submission of two of three creates through its states.
func TestRows_CountWhatIsInFlight(t *testing.T) {
	item := ledger.Item{Submission: "s", Kind: decide.WriteCreate, SKU: "a", Quantity: 2}
	in := func(state ledger.ItemState, made, failed int) *ledger.Item {
		i := item
		i.State, i.Made, i.Failed = state, made, failed
		return &i
	}
	for _, row := range []struct {
		state    ledger.SubmissionState
		item     *ledger.Item
		want     []decide.Write
		inFlight int
		why      string
	}{
		{ledger.SubmissionRecorded, nil, []decide.Write{{Kind: decide.WriteCreate, Quantity: 2, Unknown: true}}, 1, "it may have been sent"},
		{ledger.SubmissionSubmitted, nil, []decide.Write{{Kind: decide.WriteCreate, Quantity: 2}}, 1, "its batch is known"},
		{ledger.SubmissionSubmitted, in(ledger.ItemOpen, 1, 0), []decide.Write{{Kind: decide.WriteCreate, Quantity: 1}}, 1, "one is made: it is a listing"},
		{ledger.SubmissionSubmitted, in(ledger.ItemOpen, 0, 1), []decide.Write{{Kind: decide.WriteCreate, Quantity: 1}}, 1, "one was refused"},
		{ledger.SubmissionStuck, in(ledger.ItemStuck, 1, 0), []decide.Write{{Kind: decide.WriteCreate, Quantity: 1, Unknown: true}}, 0, "the seller has to say"},
		{ledger.SubmissionDone, in(ledger.ItemStuck, 0, 0), []decide.Write{{Kind: decide.WriteCreate, Quantity: 2, Unknown: true}}, 0, "the results lack the item"},
		{ledger.SubmissionDone, in(ledger.ItemDone, 2, 0), nil, 0, "done"},
		{ledger.SubmissionDone, in(ledger.ItemFailed, 1, 1), nil, 0, "refused in part"},
		{ledger.SubmissionNotMade, in(ledger.ItemNotMade, 0, 0), nil, 0, "it never arrived"},
	} {
		t.Run(row.why, func(t *testing.T) {
			each(t, func(a *oneRow) {
				s, owed := a.submission(2)
				a.do(func(ctx context.Context, tx ledger.Tx) error { return tx.Record(ctx, s, owed) })
				creates, _ := a.owed()
				assert.Equal(a, 1, creates, "the part that was not taken is still owed")
				s.State = row.state
				a.do(func(ctx context.Context, tx ledger.Tx) error {
					if row.item != nil {
						require.NoError(a, tx.SetItem(ctx, *row.item))
					}
					require.NoError(a, tx.SetSubmission(ctx, s))
					assert.Equal(a, row.want, a.row(ctx, tx).InFlight)
					return nil
				})
				_, inFlight := a.owed()
				assert.Equal(a, row.inFlight, inFlight)
			})
		})
	}
}

// TestUnrecord_OwesAgain removes a submission that was not sent.
func TestUnrecord_OwesAgain(t *testing.T) {
	each(t, func(a *oneRow) {
		s, owed := a.submission(3)
		a.do(func(ctx context.Context, tx ledger.Tx) error { return tx.Record(ctx, s, owed) })
		a.do(func(ctx context.Context, tx ledger.Tx) error {
			require.NoError(a, tx.Unrecord(ctx, s.ID))
			isDirty, err := tx.IsDirty(ctx)
			assert.True(a, isDirty, "the row is decided again")
			assert.Empty(a, a.row(ctx, tx).InFlight)
			return err
		})
	})
}

// TestCounts_AreThoseOfTheRows compares the counts of a plan with the decisions of its rows.
func TestCounts_AreThoseOfTheRows(t *testing.T) {
	each(t, func(a *oneRow) {
		a.do(func(ctx context.Context, tx ledger.Tx) error {
			counts, err := tx.Counts(ctx)
			assert.Equal(a, []ledger.Count{{Class: decide.ClassCreated, Rows: 1, Creates: 3}}, counts)
			require.NoError(a, err)
			require.NoError(a, tx.SetDecided(ctx, a.row(ctx, tx), ledger.Decided{Class: decide.ClassDeleted, Deletes: 1, Owed: []ledger.Owed{
				{Kind: decide.WriteDelete, Line: 2, SKU: "a", Listing: "l", Quantity: 1},
			}}))
			counts, err = tx.Counts(ctx)
			assert.Equal(a, []ledger.Count{{Class: decide.ClassDeleted, Rows: 1, Deletes: 1}}, counts)
			return err
		})
		creates, _ := a.owed()
		assert.Zero(a, creates, "the decision before owes nothing any more")
		s, _ := a.submission(0)
		s.Kind = decide.WriteDelete
		a.do(func(ctx context.Context, tx ledger.Tx) error {
			owed, err := tx.NextOwed(ctx, decide.WriteDelete, 100)
			require.NoError(a, err)
			require.Len(a, owed, 1)
			return tx.Record(ctx, s, owed)
		})
		a.do(func(ctx context.Context, tx ledger.Tx) error {
			for _, row := range []struct {
				generation int64
				want       int
			}{{a.generation, 1}, {a.generation + 1, 0}} {
				n, err := tx.DeletesSent(ctx, row.generation)
				require.NoError(a, err)
				assert.Equal(a, row.want, n, "deletes are counted for each plan")
			}
			return nil
		})
	})
}
