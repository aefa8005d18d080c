package state

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decided repeats the tables, so that they are not changed by accident. States that are not listed
// are final.
var decided = map[*Machine]map[string]string{
	Batch: {
		"QUEUED":      "START>IN_PROGRESS",
		"IN_PROGRESS": "FINISH>COMPLETED",
	},
	Item: {
		"QUEUED":      "START>IN_PROGRESS",
		"IN_PROGRESS": "FINISH>COMPLETED FAIL>FAILED",
	},
	Operation: {
		"PENDING": "SUCCEED>SUCCEEDED FAIL>FAILED",
	},
	Listing: {
		"INACTIVE": "CREATE>ACTIVE CREATE>INACTIVE UPDATE>INACTIVE UPDATE>ACTIVE ACTIVATE>ACTIVE DELETE>DELETED",
		"ACTIVE":   "UPDATE>ACTIVE UPDATE>INACTIVE DEACTIVATE>INACTIVE DELETE>DELETED EXPIRY>INACTIVE SALE>MATCHED",
		"MATCHED":  "PAYOUT>COMPLETED CANCEL_ORDER>CANCELED",
	},
	Order: {
		"CREATED": "SHIP>SHIPPED FULFILL>SYSTEMFULFILLED DECLINE>CCAUTHORIZATIONFAILED REVIEW>PENDING SUSPEND>SUSPENDED " +
			"STOP>DONOTSHIP MISS>DIDNOTSHIP CANCEL>CANCELED",
		"CCAUTHORIZATIONFAILED": "AUTHORIZE>CREATED CANCEL>CANCELED",
		"PENDING":               "RELEASE>CREATED SUSPEND>SUSPENDED CANCEL>CANCELED",
		"SUSPENDED":             "RELEASE>CREATED CANCEL>CANCELED",
		"DONOTSHIP":             "RELEASE>CREATED CANCEL>CANCELED",
		"SHIPPED":               "RECEIVE>RECEIVED RETURN>RETURNED CANCEL>CANCELED",
		"RECEIVED":              "INSPECT>AUTHENTICATING RETURN>RETURNED",
		"AUTHENTICATING":        "PASS>AUTHENTICATED FAIL>AUTHFAILED",
		"AUTHFAILED":            "RETURN>RETURNED",
		"AUTHENTICATED":         "SETTLE>PAYOUTPENDING",
		"SYSTEMFULFILLED":       "SETTLE>PAYOUTPENDING CANCEL>CANCELED",
		"PAYOUTPENDING":         "PAY>PAYOUTCOMPLETED BOUNCE>PAYOUTFAILED",
		"PAYOUTFAILED":          "SETTLE>PAYOUTPENDING",
		"PAYOUTCOMPLETED":       "CLOSE>COMPLETED",
	},
}

func events(m *Machine) []string {
	all := map[string]bool{}
	for _, t := range m.Transitions() {
		all[t.Event] = true
	}
	return slices.Sorted(maps.Keys(all))
}

func TestMachine_AllowsWhatWasDecided(t *testing.T) {
	for _, m := range Machines() {
		require.Contains(t, decided, m, m.Name())
		for _, from := range m.States() {
			possible := strings.Fields(decided[m][from.Name])
			for _, event := range events(m) {
				var allowed bool
				for _, to := range m.States() {
					leads := slices.Contains(possible, event+">"+to.Name)
					allowed = allowed || leads
					assert.Equal(t, leads, m.Leads(from.Name, event, to.Name),
						"%s: %s %s>%s", m.Name(), from.Name, event, to.Name)
				}
				assert.Equal(t, allowed, m.Allows(from.Name, event),
					"%s: %s %s", m.Name(), from.Name, event)
			}
			for _, to := range m.States() {
				way, ok := m.Toward(from.Name, to.Name)
				assert.Equal(t, ok, slices.Contains(m.Targets(from.Name), to.Name))
				if ok {
					assert.Contains(t, possible, way.Event+">"+to.Name)
				}
			}
		}
	}
}

func TestMachine_TablesAreConsistent(t *testing.T) {
	for _, m := range Machines() {
		reached := map[string]bool{m.States()[0].Name: true}
		for range m.States() {
			for _, row := range m.Transitions() {
				reached[row.To] = reached[row.To] || reached[row.From]
			}
		}
		seen := map[[3]string]bool{}
		for _, row := range m.Transitions() {
			assert.True(t, m.Has(row.From) && m.Has(row.To),
				"%s: %v has an unknown state", m.Name(), row)
			assert.False(t, m.Ended(row.From) && !m.Ended(row.To),
				"%s: %v leads out of an ended state", m.Name(), row)
			assert.False(t, seen[[3]string{row.From, row.Event, row.To}],
				"%s: %v is repeated", m.Name(), row)
			seen[[3]string{row.From, row.Event, row.To}] = true
			assert.Regexp(t, `^[A-Z].*\.$`, row.Means, "a sentence")
		}
		for _, s := range m.States() {
			assert.True(t, reached[s.Name], "%s: %s cannot be reached", m.Name(), s.Name)
			assert.True(t, s.Ended || len(m.Targets(s.Name)) > 0,
				"%s: %s is final but has not ended", m.Name(), s.Name)
			assert.Regexp(t, `^[A-Z].*\.$`, s.Means, "a sentence")
		}
	}
}

func TestMachine_MovesAnOrderToThePayoutAutomatically(t *testing.T) {
	way := []string{Order.States()[0].Name}
	for {
		next, ok := Order.Automatic(way[len(way)-1])
		if !ok {
			break
		}
		require.Equal(t, next.From, way[len(way)-1])
		way = append(way, next.To)
	}
	assert.Equal(t, []string{
		"CREATED", "SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHENTICATED", "PAYOUTPENDING",
		"PAYOUTCOMPLETED", "COMPLETED",
	}, way)
}

func TestMachine_IsImmutable(t *testing.T) {
	Order.Transitions()[0].To = "NOWHERE"
	Order.States()[0].Ended = true
	assert.Equal(t, Shipped, Order.Transitions()[0].To)
	assert.False(t, Order.Ended(OrderCreated))
}
