package sandbox_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// stateChange is one thing that was in one state in an answer, and in another in
// the next, or in the same after an operation.
type stateChange struct {
	what, from, to string
	by             string // the operation that did it, or EXPIRY; empty if answers do not say
}

// snapshot is what an answer has said about a thing.
type snapshot struct {
	what, status string
	updated      string // a timestamp; may be empty
	operation    string // the last one of a listing that has succeeded
	by           string // its type
}

// observe compares the things in an answer with what the same run of a test was
// told about them before.
func (c *coverage) observe(run, test string, answer any) {
	each(answer, func(object map[string]any) {
		id, now := look(object)
		if id == "" {
			return
		}
		key := run + " " + now.what + " " + id
		before, known := c.last[key]
		if now.operation == "" {
			now.operation = before.operation // what is pending has done nothing
		}
		c.last[key] = now
		change := stateChange{what: now.what, from: before.status, to: now.status}
		if now.operation != before.operation {
			change.by = now.by
		}
		// A thing that was changed earlier than before is another one, of a second
		// sandbox with the same seed.
		if known && now.updated >= before.updated && (change.from != change.to || change.by != "") {
			add(c.changes, change, test)
		}
	})
}

// each calls f with all objects within a value.
func each(value any, f func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		f(v)
		for _, member := range v {
			each(member, f)
		}
	case []any:
		for _, element := range v {
			each(element, f)
		}
	}
}

// look recognises what has a state by the members that it has.
func look(object map[string]any) (id string, s snapshot) {
	text := func(name string) string {
		s, _ := object[name].(string)
		return s
	}
	s = snapshot{status: text("status"), updated: text("updatedAt")}
	switch {
	case object["lastOperation"] != nil:
		last, _ := object["lastOperation"].(map[string]any)
		if last["operationStatus"] == state.Succeeded {
			s.operation, _ = last["operationId"].(string)
			s.by, _ = last["operationType"].(string)
		}
		if s.by == state.Deactivate && last["operationInitiatedBy"] == "SYSTEM" {
			s.by = state.Expiry
		}
		s.what = state.Listing.Name()
		return text("listingId"), s
	case text("operationStatus") != "" && text("listingId") != "":
		s.what, s.status = state.Operation.Name(), text("operationStatus")
		return text("operationId"), s
	case object["itemStatuses"] != nil:
		s.what = state.Batch.Name()
		return text("batchId"), s
	case object["listingInput"] != nil:
		s.what = state.Item.Name()
		return text("itemId"), s
	case text("orderNumber") != "" && s.status != "":
		s.what = state.Order.Name()
		return text("orderNumber"), s
	case text("ingestionId") != "" && s.status != "":
		input, _ := object["input"].(map[string]any)
		title, _ := input["productTitle"].(string)
		s.what = "ingestion item"
		return text("ingestionId") + " " + title, s
	}
	return "", s
}

// sawRow returns the tests that have seen a row of a table happen.
func (c *coverage) sawRow(m *state.Machine, row state.Transition) map[string]bool {
	tests := map[string]bool{}
	for change, by := range c.changes {
		if change.what == m.Name() && change.from == row.From && change.to == row.To && tells(m, change.by, row.Event) {
			maps.Copy(tests, by)
		}
	}
	return tests
}

// tells reports whether what did a change is the event of a row. Only listings
// say what it was, and only if it is recorded as an operation.
func tells(m *state.Machine, by, event string) bool {
	if m != state.Listing {
		return true
	}
	if event == state.Sale || event == state.Payout {
		return by == ""
	}
	return by == event
}

// impossible returns the changes that no rows lead to, one after the other.
func (c *coverage) impossible() []string {
	var all []string
	for _, m := range state.Machines() {
		for change, tests := range c.changes {
			if change.what == m.Name() && change.from != change.to && !leads(m, change.from, change.to) {
				all = append(all, fmt.Sprintf("%s %s to %s in %s", change.what, change.from, change.to, c.closest(tests)))
			}
		}
	}
	slices.Sort(all)
	return all
}

func leads(m *state.Machine, from, to string) bool {
	seen := map[string]bool{}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range m.Targets(queue[0]) {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return seen[to]
}
