package selling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

func TestAllow_FollowsTheTableOfStates(t *testing.T) {
	for _, operation := range []string{
		state.Create, state.Update, state.Activate, state.Deactivate, state.Delete,
	} {
		for _, s := range state.Listing.States() {
			err := allow(operation, store.Listing{ID: "l", Status: s.Name})
			if state.Listing.Allows(s.Name, operation) {
				assert.NoError(t, err, "%s while %s", operation, s.Name)
				continue
			}
			require.ErrorIs(t, err, ErrRefused, "%s while %s", operation, s.Name)
			for _, event := range state.Listing.Events(s.Name) {
				if participle, ok := participles[event]; ok && event != state.Create {
					assert.Contains(t, err.Error(), participle, "what is possible while %s", s.Name)
				}
			}
		}
	}
}

func TestSetStatus_FollowsTheTableOfStates(t *testing.T) {
	now := time.UnixMilli(1)
	c := &change{now: now}
	l := store.Listing{Status: state.Active}
	require.NoError(t, c.setStatus(&l, state.Sale, state.Matched))
	assert.Equal(t, store.Listing{Status: state.Matched, UpdatedAt: now}, l)
	require.Error(t, c.setStatus(&l, state.Sale, state.Matched))
	assert.Equal(t, state.Matched, l.Status)
}

func TestTransition_FollowsTheTableOfStates(t *testing.T) {
	for _, row := range []struct {
		from, to string
		reason   error
	}{
		{state.OrderCreated, state.Shipped, nil},
		{state.Shipped, state.PayoutPending, ErrRefused},
		{state.OrderCompleted, state.Shipped, ErrRefused},
		{state.OrderCreated, "LOST", ErrInvalid},
	} {
		got, err := transition(store.Order{Number: "n", Status: row.from}, row.to)
		if row.reason == nil {
			require.NoError(t, err)
			assert.Equal(t, row.to, got.To)
			continue
		}
		require.ErrorIs(t, err, row.reason)
		for _, target := range state.Order.Targets(row.from) {
			assert.Contains(t, err.Error(), target, "what is possible from %s", row.from)
		}
	}
}

func TestCreate_RefusesInventoryTypesOfTheService(t *testing.T) {
	db, err := store.Open(t.Context(), "")
	require.NoError(t, err)
	defer db.Close()
	s := reviewer(t, db)
	for _, kind := range []string{"FLEX", "DFS", "BOGUS", "standard"} {
		_, err := s.Create(t.Context(), 1, NewListing{
			VariantID: s.Catalog.Products()[0].Variants[0].ID, InventoryType: kind,
			Terms: Terms{Amount: "1"},
		})
		var mistake *Error
		require.ErrorAs(t, err, &mistake, kind)
		require.ErrorIs(t, mistake, ErrInvalid, kind)
		assert.Equal(t, "inventoryType", mistake.Field, kind)
	}
}
