package selling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

func TestEveryOperationInEveryState(t *testing.T) {
	for _, operation := range []string{state.Create, state.Update, state.Activate, state.Deactivate, state.Delete} {
		for _, s := range state.Listing.States() {
			err := allow(operation, store.Listing{ID: "l", Status: s.Name})
			if state.Listing.Allows(s.Name, operation) {
				assert.NoError(t, err, "%s while %s", operation, s.Name)
				continue
			}
			require.ErrorIs(t, err, ErrRefused, "%s while %s", operation, s.Name)
			assert.Regexp(t, `^listing l cannot be \w+: it is [a-z ]+; (it can be|nothing more can be done)`, err.Error())
		}
	}
}

func TestARefusalSaysWhatIsPossible(t *testing.T) {
	for _, row := range []struct{ operation, status, want string }{
		{state.Deactivate, state.Inactive, "listing l cannot be deactivated: it is inactive already; it can be updated, activated or deleted"},
		{state.Activate, state.Active, "listing l cannot be activated: it is active already; it can be updated, deactivated or deleted"},
		{state.Delete, state.Matched, "listing l cannot be deleted: it is sold; nothing more can be done to it"},
		{state.Update, state.Canceled, "listing l cannot be updated: it is canceled; nothing more can be done to it"},
	} {
		assert.EqualError(t, allow(row.operation, store.Listing{ID: "l", Status: row.status}), row.want)
	}
}

func TestAListingEntersOnlyWhatItsTableSays(t *testing.T) {
	now := time.UnixMilli(1)
	c := &change{now: now}
	l := store.Listing{Status: state.Active}
	require.NoError(t, c.enter(&l, state.Sale, state.Matched))
	assert.Equal(t, store.Listing{Status: state.Matched, UpdatedAt: now}, l)
	require.EqualError(t, c.enter(&l, state.Sale, state.Matched), "SALE does not lead a listing from MATCHED to MATCHED")
	assert.Equal(t, state.Matched, l.Status)
}

func TestAnOrderStepSaysWhatIsPossible(t *testing.T) {
	for _, row := range []struct {
		from, to string
		reason   error
		want     string
	}{
		{state.OrderCreated, state.Shipped, nil, ""},
		{state.Shipped, state.PayoutPending, ErrRefused, "order n cannot be moved to PAYOUTPENDING: it is SHIPPED, from which it can be moved to RECEIVED, RETURNED, CANCELED"},
		{state.OrderCompleted, state.Shipped, ErrRefused, "order n cannot be moved to SHIPPED: it is COMPLETED, which is final"},
		{state.OrderCreated, "LOST", ErrInvalid, `there is no order status "LOST": use one of CREATED, CCAUTHORIZATIONFAILED, `},
	} {
		way, err := step(store.Order{Number: "n", Status: row.from}, row.to)
		if row.reason == nil {
			require.NoError(t, err)
			assert.Equal(t, row.to, way.To)
			continue
		}
		require.ErrorIs(t, err, row.reason)
		assert.Contains(t, err.Error(), row.want)
	}
}

func TestSellersListWhatTheyHaveThemselves(t *testing.T) {
	db, err := store.Open(t.Context(), "")
	require.NoError(t, err)
	defer db.Close()
	s := reviewer(t, db)
	for _, kind := range []string{"FLEX", "DFS", "BOGUS", "standard"} {
		_, err := s.Create(t.Context(), 1, NewListing{
			VariantID: s.Catalog.Products()[0].Variants[0].ID, InventoryType: kind, Terms: Terms{Amount: "1"},
		})
		var mistake *Error
		require.ErrorAs(t, err, &mistake, kind)
		require.ErrorIs(t, mistake, ErrInvalid, kind)
		assert.Equal(t, "inventoryType", mistake.Field, kind)
	}
}
