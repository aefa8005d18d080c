package sandbox

import (
	"maps"
	"sync"
)

// Counters counts requests by the id of their operation, such as CreateListing,
// and by the status they were answered with; 0 means that no answer was given.
// The token endpoint counts as "token". Requests that belong to no operation are
// not counted.
type Counters map[string]map[int]int

// Of returns how many requests of an operation there were, whatever came of
// them.
func (c Counters) Of(operation string) int {
	sum := 0
	for _, n := range c[operation] {
		sum += n
	}
	return sum
}

// Counters returns what was counted since the start or the last Reset. A
// request counts from the moment it is answered. The caller owns the map.
func (s *Sandbox) Counters() Counters { return s.counters.snapshot() }

// tally is Counters in the making.
type tally struct {
	mu  sync.Mutex
	all Counters
}

func (t *tally) add(operation string, status int) {
	if operation == "" || operation == controlOperation || operation == healthOperation {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = Counters{}
	}
	if t.all[operation] == nil {
		t.all[operation] = map[int]int{}
	}
	t.all[operation][status]++
}

func (t *tally) snapshot() Counters {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(Counters, len(t.all))
	for operation, statuses := range t.all {
		all[operation] = maps.Clone(statuses)
	}
	return all
}

func (t *tally) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = nil
}
