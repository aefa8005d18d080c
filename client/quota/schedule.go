package quota

import (
	"cmp"
	"container/list"
	"sort"
	"time"
)

// lockSteps bounds how many entries are dropped, and calls let go, while the lock of a limiter is held once.
const lockSteps = 256

// amount is what a call costs, or a number of calls together.
type amount struct{ requests, items int }

func (a *amount) add(b amount) { a.requests += b.requests; a.items += b.items }
func (a *amount) sub(b amount) { a.requests -= b.requests; a.items -= b.items }

// schedule decides which call goes next, and when. There are two lanes, each in order of arrival: requests alone, and
// batches. A batch may wait minutes for room for its items, and reads do not queue behind it. A call takes nothing
// from a window before it goes.
//
// The caller does the locking and says what time it is. Each method takes a number of steps that does not depend on
// how many calls wait, and grows at most with the logarithm of what the windows hold.
type schedule struct {
	windows []window
	limits  amount // How many windows limit requests, and items.
	lanes   [2]lane
	arrived int
	held    amount // Of the places that are held.
	history history
	steps   int // Since admit was last called.
}

// window is one sliding window.
type window struct {
	name  Window
	limit int
	per   time.Duration
	items bool // It counts items, not requests.

	from    int // The oldest entry of the history that it counts.
	charged int // What the entries from there on are charged.
}

// lane is a queue of calls.
type lane struct {
	calls  list.List // Of *waiter, so that a call can leave from the middle.
	demand amount
}

// waiter is a call that waits to be let go.
type waiter struct {
	cost    amount
	nth     int           // In order of arrival.
	full    *window       // The window expected to make it wait longest; nil if it is expected to go at once.
	queued  *list.Element // Nil once it went or left.
	place   *place        // What it has got when it goes.
	granted chan struct{} // Closed when it goes.
}

// place is what a call holds.
type place struct {
	cost    amount
	outcome Outcome // Empty while it is held.
	entry   int     // Number of its entry in the history, once it is charged.
}

func newSchedule(q Quota) *schedule {
	const day = 24 * time.Hour
	s := &schedule{}
	for _, w := range []window{
		{name: RequestsPerSecond, limit: q.RequestsPerSecond, per: time.Second},
		{name: RequestsPerDay, limit: q.RequestsPerDay, per: day},
		{name: ItemsPerWindow, limit: q.ItemsPerWindow, per: cmp.Or(q.ItemsWindow, 5*time.Minute), items: true},
		{name: ItemsPerDay, limit: q.ItemsPerDay, per: day, items: true},
	} {
		if w.limit < 1 {
			continue
		}
		s.windows = append(s.windows, w)
		if w.items {
			s.limits.items++
		} else {
			s.limits.requests++
		}
	}
	return s
}

// cost returns what a call costs: nothing of what is not limited.
func (s *schedule) cost(items int) amount {
	return amount{requests: min(s.limits.requests, 1), items: min(s.limits.items, 1) * items}
}

func (s *schedule) lane(cost amount) *lane { return &s.lanes[min(cost.items, 1)] }

// join puts a call at the end of its lane.
func (s *schedule) join(cost amount, full *window) *waiter {
	s.arrived++
	w := &waiter{cost: cost, nth: s.arrived, full: full, granted: make(chan struct{})}
	l := s.lane(cost)
	w.queued = l.calls.PushBack(w)
	l.demand.add(cost)
	return w
}

// leave takes a call out of its lane, and reports whether it was still there.
func (s *schedule) leave(w *waiter) bool {
	if w.queued == nil {
		return false
	}
	l := s.lane(w.cost)
	l.calls.Remove(w.queued)
	l.demand.sub(w.cost)
	w.queued = nil
	return true
}

// admit drops what no window counts any more and lets the calls go that have room. It reports whether it stopped
// before it was done, to be called again.
func (s *schedule) admit(now time.Time) (more bool) {
	s.steps = 0
	for i := range s.windows {
		w := &s.windows[i]
		for s.steps < lockSteps && w.from < s.history.end() && !now.Before(w.opens(s.history.at(w.from))) {
			w.charged -= w.of(s.history.at(w.from).charge)
			w.from++
			s.steps++
		}
	}
	s.history.trim(s.windows)
	for s.steps < lockSteps {
		w := s.first()
		if w == nil {
			return false
		}
		s.leave(w)
		s.held.add(w.cost)
		w.place = &place{cost: w.cost}
		close(w.granted)
		s.steps++
	}
	return true
}

// first returns who may go now: of those at the head of their lanes that have room, the one who came first. Reads
// cannot keep a batch waiting by this: it goes before all who came after it, once there is room for its items.
func (s *schedule) first() *waiter {
	var first *waiter
	for i := range s.lanes {
		if w := s.lanes[i].head(); w != nil && s.fits(w.cost) && (first == nil || w.nth < first.nth) {
			first = w
		}
	}
	return first
}

func (l *lane) head() *waiter {
	if e := l.calls.Front(); e != nil {
		return e.Value.(*waiter)
	}
	return nil
}

func (s *schedule) fits(cost amount) bool {
	for i := range s.windows {
		if w := &s.windows[i]; s.over(w, cost) > 0 {
			return false
		}
	}
	return true
}

// over is by how much a window would be exceeded.
func (s *schedule) over(w *window, cost amount) int {
	return w.of(s.held) + w.charged + w.of(cost) - w.limit
}

// next returns when the next call can go, as far as that is known: it is not while places are held that it needs.
func (s *schedule) next() (next time.Time, ok bool) {
	for i := range s.lanes {
		head := s.lanes[i].head()
		if head == nil {
			continue
		}
		at, known := time.Time{}, true
		for i := range s.windows {
			w := &s.windows[i]
			over := s.over(w, head.cost)
			if over > w.charged {
				known = false
				break
			}
			if over > 0 {
				at = later(at, s.free(w, over))
			}
		}
		if known && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// release ends the hold on a place, or corrects what it was charged.
func (s *schedule) release(p *place, o Outcome, now time.Time) {
	if o != NotSent && o != Refused {
		o = Sent
	}
	switch {
	case p.outcome == "":
		p.outcome = o
		s.held.sub(p.cost)
		if o == NotSent {
			return
		}
		charge := p.cost
		if o == Refused {
			charge.items = 0
		}
		p.entry = s.history.append(now, charge)
		for i := range s.windows {
			s.windows[i].charged += s.windows[i].of(charge)
		}
	case p.outcome == Sent && o == Refused:
		p.outcome = o
		for i := range s.windows {
			if w := &s.windows[i]; w.items && w.from <= p.entry {
				w.charged -= p.cost.items
			}
		}
		s.history.refund(p.entry)
	}
}

// turn predicts when a call that comes now goes, and the window that it waits for longest; that is one that is too
// small for the call, if there is one, and nil if the call has room. The time is a lower bound, if those before the
// call do not leave and what is held is charged: places that are held are released now at the earliest, calls go as
// soon as their units fit, and of the other lane only those count that must go before.
func (s *schedule) turn(cost amount, now time.Time) (at time.Time, full *window) {
	ahead := s.lanes[0].demand
	if cost.items > 0 {
		ahead.add(s.lanes[1].demand) // wherever a batch has room a request has, and goes first if it came first
	}
	at = now
	for i := range s.windows {
		w := &s.windows[i]
		if w.of(cost) > w.limit {
			return now, w
		}
		all := cost
		all.add(ahead)
		over := s.over(w, all)
		if over <= 0 || w.of(cost) == 0 {
			continue
		}
		// So much must come free first. What is charged does so at known times, what is held one window from now, and
		// what waits goes a limit at a time, a window apart.
		used := w.charged + w.of(s.held)
		rounds := max(0, (over-used+w.limit-1)/w.limit)
		over -= rounds * w.limit
		free := now
		if over > w.charged {
			free = now.Add(w.per)
		} else if over > 0 {
			free = later(now, s.free(w, over))
		}
		if free = free.Add(time.Duration(rounds) * w.per); full == nil || free.After(at) {
			at, full = free, w
		}
	}
	return at, full
}

// free returns when n of what a window has charged are free. Refunds make it a little early.
func (s *schedule) free(w *window, n int) time.Time {
	h := &s.history
	before := w.of(h.at(w.from).before)
	i := sort.Search(h.end()-w.from-1, func(i int) bool {
		s.steps++
		return w.of(h.at(w.from+i+1).before)-before >= n
	})
	return w.opens(h.at(w.from + i))
}

// state describes the windows.
func (s *schedule) state(now time.Time) []WindowState {
	states := make([]WindowState, 0, len(s.windows))
	for i := range s.windows {
		w := &s.windows[i]
		state := WindowState{Window: w.name, Limit: w.limit, Per: w.per, Used: w.charged + w.of(s.held)}
		if w.charged > 0 {
			state.NextFree = max(0, s.free(w, 1).Sub(now))
		} else if state.Used > 0 {
			state.NextFree = w.per
		}
		states = append(states, state)
	}
	return states
}

// of returns what the window counts of an amount.
func (w *window) of(a amount) int {
	if w.items {
		return a.items
	}
	return a.requests
}

// opens returns when the window stops to count an entry.
func (w *window) opens(e *entry) time.Time { return e.released.Add(w.per) }

func (w *window) refusal(wait time.Duration) *Error {
	unit := "requests"
	if w.items {
		unit = "items"
	}
	return &Error{Limit: w.limit, Per: w.per, Unit: unit, Wait: wait}
}

// history is what was released and charged, oldest first, as long as a window counts it. The entries are numbered.
type history struct {
	entries []entry
	first   int    // The number of the first of the entries.
	total   amount // Of all entries ever.
}

// entry is a place that was released.
type entry struct {
	released time.Time
	charge   amount
	before   amount // The total before it, which makes sums of neighbours a subtraction.
}

// end is the number of the next entry.
func (h *history) end() int { return h.first + len(h.entries) }

func (h *history) at(number int) *entry { return &h.entries[number-h.first] }

func (h *history) append(now time.Time, charge amount) (number int) {
	h.entries = append(h.entries, entry{released: now, charge: charge, before: h.total})
	h.total.add(charge)
	return h.end() - 1
}

// refund takes the items out of an entry, if it is still there. The totals keep them.
func (h *history) refund(number int) {
	if number >= h.first {
		h.at(number).charge.items = 0
	}
}

// trim forgets what no window counts any more.
func (h *history) trim(windows []window) {
	oldest := h.end()
	for i := range windows {
		oldest = min(oldest, windows[i].from)
	}
	h.entries = h.entries[oldest-h.first:]
	h.first = oldest
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
