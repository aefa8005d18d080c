package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		if n, err = tx.NextNumber(); err != nil {
			return err
		}
		return end
	})
	require.Equal(t, end, err)
	return n
}

func TestNumbersNeverRepeatAcrossRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	first := reopen(t, path)
	assert.EqualValues(t, 1, next(t, first, nil))
	assert.EqualValues(t, 2, next(t, first, errors.New("rolled back")))
	assert.EqualValues(t, 2, next(t, first, nil), "a number that nobody saw is given out again")
	assert.EqualValues(t, 3, next(t, reopen(t, path), nil), "the file remembers")
	assert.EqualValues(t, 4, next(t, first, nil), "even for two that use it at the same time")
}

func TestAPanicRollsBackAndLeavesTheStoreUsable(t *testing.T) {
	s := reopen(t, "")
	assert.Panics(t, func() {
		_ = s.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.NextNumber()
			require.NoError(t, err)
			panic("boom")
		})
	})
	assert.EqualValues(t, 1, next(t, s, nil))
}

func TestAViewCannotWrite(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "sandbox.db"))
	err := s.View(t.Context(), func(tx *Tx) error {
		_, err := tx.InsertBatch(Batch{ID: "b", Kind: Create, Status: Queued})
		return err
	})
	require.ErrorContains(t, err, "readonly")
}

func TestAMemoryStoreSurvivesACancelledCaller(t *testing.T) {
	s := reopen(t, "")
	assert.EqualValues(t, 1, next(t, s, nil))
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(ctx, func(tx *Tx) error {
		cancel()
		_, err := tx.NextNumber()
		return err
	})
	require.NoError(t, err, "what has begun is finished")
	require.ErrorIs(t, s.View(ctx, func(*Tx) error { return nil }), context.Canceled, "and nothing new begins")
	assert.EqualValues(t, 3, next(t, s, nil), "the database is still there")
}

func TestAnActiveListingNeedsAnAsk(t *testing.T) {
	err := reopen(t, "").Update(t.Context(), func(tx *Tx) error {
		return tx.InsertListing(Listing{ID: "l", Status: Active, ProductID: "p", VariantID: "v", Amount: 1, Currency: "USD", InventoryType: "STANDARD"})
	})
	require.ErrorContains(t, err, "constraint", "the schema holds what the rules promise")
}
