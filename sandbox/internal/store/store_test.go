package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

func reopen(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func next(t *testing.T, s *Store, end error) int64 {
	t.Helper()
	var n int64
	err := s.Update(t.Context(), func(tx *Tx) (err error) {
		if n, err = tx.NextNumber("listing"); err != nil {
			return err
		}
		return end
	})
	require.Equal(t, end, err)
	return n
}

func TestNumbers_NeverRepeatAcrossRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	first := reopen(t, path)
	assert.EqualValues(t, 1, next(t, first, nil))
	assert.EqualValues(t, 2, next(t, first, errors.New("rolled back")))
	assert.EqualValues(t, 2, next(t, first, nil), "a number that was rolled back is returned again")
	require.NoError(t, first.Close())
	assert.EqualValues(t, 3, next(t, reopen(t, path), nil), "after a restart")
}

func TestNumbers_BelongToTheirSequence(t *testing.T) {
	s := reopen(t, "")
	assert.EqualValues(t, 1, next(t, s, nil))
	assert.EqualValues(t, 2, next(t, s, nil))
	require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
		for _, want := range []int64{1, 2} {
			n, err := tx.NextNumber("order")
			require.NoError(t, err)
			assert.Equal(t, want, n)
		}
		return nil
	}))
	assert.EqualValues(t, 3, next(t, s, nil), "other sequences do not matter")
}

func TestUpdate_PanicRollsBack(t *testing.T) {
	s := reopen(t, "")
	assert.Panics(t, func() {
		_ = s.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.NextNumber("listing")
			require.NoError(t, err)
			panic("boom")
		})
	})
	assert.EqualValues(t, 1, next(t, s, nil))
}

func TestView_CannotWrite(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "sandbox.db"))
	err := s.View(t.Context(), func(tx *Tx) error {
		_, err := tx.InsertBatch(Batch{ID: "b", Kind: state.Create}, nil)
		return err
	})
	require.ErrorContains(t, err, "readonly")
}

func TestView_DoesNotWaitForTheWriter(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "sandbox.db"))
	batches := func() (n int) {
		require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
			return tx.get(`SELECT count(*) FROM batches`, nil, []any{&n})
		}))
		return n
	}
	require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.InsertBatch(Batch{ID: "b", Kind: state.Create, CreatedAt: start}, []Item{{ID: "i", DueAt: start}})
		assert.Zero(t, batches(), "readers see the state before the transaction")
		return err
	}))
	assert.Equal(t, 1, batches())
}

func TestClose_WaitsForTransactionsAndRefusesNewOnes(t *testing.T) {
	for name, path := range map[string]string{"in memory": "", "in a file": filepath.Join(t.TempDir(), "sandbox.db")} {
		t.Run(name, func(t *testing.T) {
			s := reopen(t, path)
			closed := make(chan error, 1)
			require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
				go func() { closed <- s.Close() }()
				_, err := tx.NextNumber("listing")
				return err
			}), "a running transaction finishes")
			require.NoError(t, <-closed)
			require.ErrorIs(t, s.View(t.Context(), func(*Tx) error { return nil }), ErrClosed)
			require.ErrorIs(t, s.Update(t.Context(), func(*Tx) error { return nil }), ErrClosed)
			require.NoError(t, s.Close(), "a second Close does nothing")
		})
	}
}

func TestConnection_LimitsPreparedStatements(t *testing.T) {
	s := reopen(t, "")
	require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
		for n := range 3 * maxPrepared {
			var got int
			require.NoError(t, tx.get(fmt.Sprintf(`SELECT %d`, n), nil, []any{&got}))
			assert.Equal(t, n, got)
			assert.LessOrEqual(t, len(tx.conn.prepared), maxPrepared)
		}
		return nil
	}))
}

func TestUpdate_FinishesAfterItsContextEnds(t *testing.T) {
	s := reopen(t, "")
	assert.EqualValues(t, 1, next(t, s, nil))
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(ctx, func(tx *Tx) error {
		cancel()
		_, err := tx.NextNumber("listing")
		return err
	})
	require.NoError(t, err, "a running transaction finishes")
	require.ErrorIs(t, s.View(ctx, func(*Tx) error { return nil }), context.Canceled,
		"no new transaction begins")
	assert.EqualValues(t, 3, next(t, s, nil), "the database in memory still exists")
}

func TestSchema_ActiveListingNeedsAnAsk(t *testing.T) {
	err := reopen(t, "").Update(t.Context(), func(tx *Tx) error {
		return tx.InsertListing(Listing{ID: "l", Status: state.Active, ProductID: "p", VariantID: "v", Amount: 1, Currency: "USD", InventoryType: "STANDARD"})
	})
	require.ErrorContains(t, err, "constraint")
}

func TestSavepoint_FailsAfterAnAbort(t *testing.T) {
	s := reopen(t, "")
	err := s.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.NextNumber("ids")
		require.NoError(t, err)
		err = tx.Savepoint(func() error {
			require.NoError(t, tx.conn.control("ROLLBACK")) // as SQLite does when the disk is full
			return errors.New("disk full")
		})
		require.ErrorIs(t, err, ErrAborted)
		require.ErrorContains(t, err, "disk full")
		_, err = tx.InsertBid(Bid{VariantID: "v", Currency: "USD", Amount: 1})
		require.ErrorIs(t, err, ErrAborted, "it would be another transaction")
		return nil
	})
	require.ErrorIs(t, err, ErrAborted, "even if f ignores it")
	assert.EqualValues(t, 1, next(t, s, nil), "the next transaction works")
}

func TestMigrations_RewriteProposedSizes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	old := reopen(t, path)
	require.NoError(t, old.Update(t.Context(), func(tx *Tx) error {
		for _, input := range []string{
			`{"brand":"Fjord","retailPrice":129.5,"variants":[{"size":"10"},{"size":"10.5","gtin":"4006381333931"}]}`,
			`{"brand":"Fjord","retailPrice":"40","variants":["One Size"]}`,
		} {
			if err := tx.InsertProposal(Proposal{
				IngestionID: "i1", Account: 1, Status: InReview, ProductID: input, Input: input,
				DueAt: time.Unix(1, 0), CreatedAt: time.Unix(1, 0), UpdatedAt: time.Unix(1, 0),
			}); err != nil {
				return err
			}
		}
		if err := tx.exec(`DROP TABLE grants`); err != nil {
			return err
		}
		return tx.exec(`DELETE FROM goose_db_version WHERE version_id >= 20`)
	}))
	require.NoError(t, old.Close())
	var inputs []string
	require.NoError(t, reopen(t, path).View(t.Context(), func(tx *Tx) error {
		proposals, err := tx.Ingestion(1, "i1")
		for _, p := range proposals {
			inputs = append(inputs, p.Input)
		}
		return err
	}))
	require.Len(t, inputs, 2)
	assert.JSONEq(t, `{"brand":"Fjord","retailPrice":"129.5","variants":["10","10.5"]}`, inputs[0], "of an older program")
	assert.JSONEq(t, `{"brand":"Fjord","retailPrice":"40","variants":["One Size"]}`, inputs[1], "of this one")
}
