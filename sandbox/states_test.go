package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// Every row of the tables of states is walked by these tests, and those of orders by
// TestMoveOrder_FollowsTheTableOfStates.

func TestStates_BatchAndItemMakeEveryTransition(t *testing.T) {
	m := open(t)
	listing := m.sell("200")
	seen := map[*state.Machine]map[string]bool{state.Batch: {}, state.Item: {}}
	for _, row := range []struct {
		kind string
		item map[string]any
		end  string
	}{
		{"create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 1}, state.Completed},
		{
			"create-listing",
			map[string]any{"variantId": "no-such-variant", "amount": "200", "quantity": 1},
			state.Failed,
		},
		{"update-listing", map[string]any{"listingId": listing, "amount": "190"}, state.Completed},
		{"delete-listing", map[string]any{"listingId": listing}, state.Completed},
		{"delete-listing", map[string]any{"listingId": listing}, state.Failed},
	} {
		path := m.batch(row.kind, row.item)
		before := map[*state.Machine]string{}
		for _, status := range []string{state.Queued, state.InProgress, state.Completed} {
			batch := m.get("%s", path)
			assert.Equal(t, status, batch.text("status"), row.kind)
			assert.Equal(t, status == state.Completed, batch.at("completedAt") != nil, row.kind)
			items := m.get("%s/items", path)
			require.Equal(t, 1, items.len("items"), row.kind)
			if status == state.Completed {
				status = row.end
			}
			assert.Equal(t, status, items.text("items", 0, "status"), row.kind)
			for machine, now := range map[*state.Machine]string{state.Batch: batch.text("status"), state.Item: status} {
				seen[machine][before[machine]+">"+now] = true
				before[machine] = now
			}
			m.pass(1100 * time.Millisecond)
		}
	}
	assert.Equal(t, "DELETED", m.get("/selling/listings/%s", listing).text("status"))
	for machine, steps := range seen {
		for _, row := range machine.Transitions() {
			assert.True(t, steps[row.From+">"+row.To],
				"%s %s to %s", machine.Name(), row.From, row.To)
		}
	}
}

func TestStates_OperationMakesEveryTransition(t *testing.T) {
	m := open(t)
	path := "/selling/listings/" + m.sell("200")
	for _, row := range state.Operation.Transitions() {
		op := m.call(http.MethodDelete, path, nil)
		require.Equal(t, row.From, op.text("operationStatus"))
		if row.To == state.Failed { // the listing is sold first
			_, err := m.Buy(t.Context(), op.text("listingId"))
			require.NoError(t, err)
		}
		m.settle()
		assert.Equal(t, row.To,
			m.get("%s/operations/%s", path, op.text("operationId")).text("operationStatus"))
		path = "/selling/listings/" + m.sell("200")
	}
}

func TestStates_ListingMakesEveryTransition(t *testing.T) {
	for _, row := range state.Listing.Transitions() {
		t.Run(row.From+" "+row.Event+" "+row.To, func(t *testing.T) {
			m := open(t)
			id := m.listingIn(row)
			require.Equal(t, row.From, m.get("/selling/listings/%s", id).text("status"))
			m.start(row, id)
			m.settle()
			assert.Equal(t, row.To, m.get("/selling/listings/%s", id).text("status"))
		})
	}
}

// listingIn makes a listing in the state before a transition.
func (m *market) listingIn(row state.Transition) (id string) {
	m.t.Helper()
	if row.From == state.Matched {
		id, _ = m.order("200")
		return id
	}
	terms := map[string]any{
		"variantId": chicago(m.t), "amount": "200", "expiresAt": noon.Add(time.Hour),
		"active": row.From == state.Active || row.To == state.Active && row.Event == state.Create,
	}
	id = m.call(http.MethodPost, "/selling/listings", terms).text("listingId")
	if row.Event != state.Create { // which is pending now
		m.settle()
	}
	return id
}

// start starts a transition of a listing.
func (m *market) start(row state.Transition, id string) {
	m.t.Helper()
	path := "/selling/listings/" + id
	switch row.Event {
	case state.Create:
	case state.Update:
		m.batch("update-listing", map[string]any{"listingId": id, "amount": "210", "active": row.To == state.Active})
	case state.Activate:
		m.call(http.MethodPut, path+"/activate", map[string]any{})
	case state.Deactivate:
		m.call(http.MethodPut, path+"/deactivate", nil)
	case state.Delete:
		m.call(http.MethodDelete, path, nil)
	case state.Expiry:
		m.pass(time.Hour)
	case state.Sale:
		_, err := m.Buy(m.t.Context(), id)
		require.NoError(m.t, err)
	case state.Payout, state.CancelOrder:
		to := map[string]string{state.Payout: state.OrderCompleted, state.CancelOrder: state.OrderCanceled}[row.Event]
		m.move(m.get("%s", path).text("order", "orderNumber"), wayTo(m.t, to)...)
	default:
		require.Fail(m.t, "event without a test", row.Event)
	}
}
