package quota

import (
	"cmp"
	"container/list"
	"sort"
	"time"
)

// lockSteps is how many entries are dropped and calls admitted at most while a limiter holds its
// lock.
const lockSteps = 256

// amount is what one or more calls cost.
type amount struct{ requests, items int }

func (a *amount) add(b amount) { a.requests += b.requests; a.items += b.items }
func (a *amount) sub(b amount) { a.requests -= b.requests; a.items -= b.items }

// schedule decides which call is admitted next, and when. It has two queues in order of arrival,
// one of requests without items and one of batches: a batch may wait minutes for room for its
// items, and reads must not wait behind it. A call takes nothing from a window before it is
// admitted.
//
// The caller locks, and passes the time. The number of steps of each method does not depend on the
// number of calls that wait, and grows at most with the logarithm of the number of entries that the
// windows count.
type schedule struct {
	windows  []window
	limits   amount   // Numbers of windows that limit requests, and items.
	queues   [2]queue // Of requests without items, and of batches.
	enqueued int      // Calls so far.
	inUse    amount   // Of the places that are acquired and not released yet.
	history  history
	steps    int // Since the last call of admit.
}

// window is one sliding window.
type window struct {
	name  Window
	limit int
	per   time.Duration
	items bool // It counts items instead of requests.

	from    int // Number of the oldest entry of the history that it counts.
	charged int // Sum of the entries that it counts.
}

// queue is the calls of one kind that wait, in order of arrival.
type queue struct {
	calls  list.List // Of *waiter. Calls that are canceled leave from the middle.
	demand amount    // Of all of them.
}

// waiter is a call that waits for its place.
type waiter struct {
	cost     amount
	number   int           // In order of arrival, over both queues.
	full     *window       // The window expected to make it wait longest; nil if it should not wait.
	element  *list.Element // Its element of the queue; nil once it was admitted or removed.
	place    *place        // Set when it is admitted.
	admitted chan struct{} // Closed when it is admitted.
}

// place is the place of an admitted call.
type place struct {
	cost    amount
	outcome Outcome // Empty while the place is in use.
	entry   int     // Number of its entry in the history, if it was charged.
}

func newSchedule(q Quota) *schedule {
	const day = 24 * time.Hour
	itemsWindow := cmp.Or(q.ItemsWindow, 5*time.Minute)
	s := &schedule{}
	for _, w := range []window{
		{name: RequestsPerSecond, limit: q.RequestsPerSecond, per: time.Second},
		{name: RequestsPerDay, limit: q.RequestsPerDay, per: day},
		{name: ItemsPerWindow, limit: q.ItemsPerWindow, per: itemsWindow, items: true},
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

// cost returns what a call costs; zero for what has no limit.
func (s *schedule) cost(items int) amount {
	return amount{requests: min(s.limits.requests, 1), items: min(s.limits.items, 1) * items}
}

// queueOf returns the queue of calls with this cost.
func (s *schedule) queueOf(cost amount) *queue { return &s.queues[min(cost.items, 1)] }

// enqueue appends a call to its queue.
func (s *schedule) enqueue(cost amount, full *window) *waiter {
	s.enqueued++
	w := &waiter{cost: cost, number: s.enqueued, full: full, admitted: make(chan struct{})}
	q := s.queueOf(cost)
	w.element = q.calls.PushBack(w)
	q.demand.add(cost)
	return w
}

// remove removes a call from its queue, and reports whether it was still queued.
func (s *schedule) remove(w *waiter) bool {
	if w.element == nil {
		return false
	}
	q := s.queueOf(w.cost)
	q.calls.Remove(w.element)
	q.demand.sub(w.cost)
	w.element = nil
	return true
}

// admit drops entries that no window counts any more, and admits the calls that have room. It
// reports whether it stopped early, after lockSteps steps, and must be called again.
func (s *schedule) admit(now time.Time) (more bool) {
	s.steps = 0
	for i := range s.windows {
		w := &s.windows[i]
		for s.steps < lockSteps && w.from < s.history.end() {
			oldest := s.history.at(w.from)
			if now.Before(w.expiry(oldest)) {
				break
			}
			w.charged -= w.count(oldest.charge)
			w.from++
			s.steps++
		}
	}
	s.history.trim(s.windows)
	for s.steps < lockSteps {
		w := s.nextWaiter()
		if w == nil {
			return false
		}
		s.remove(w)
		s.inUse.add(w.cost)
		w.place = &place{cost: w.cost}
		close(w.admitted)
		s.steps++
	}
	return true
}

// nextWaiter returns the call to admit now, nil if there is none: of the heads of the queues that
// have room, the one that arrived first. This keeps reads from starving a batch: once there is room
// for its items, the batch is admitted before all calls that arrived later.
func (s *schedule) nextWaiter() *waiter {
	var next *waiter
	for i := range s.queues {
		w := s.queues[i].head()
		if w == nil || !s.fits(w.cost) {
			continue
		}
		if next == nil || w.number < next.number {
			next = w
		}
	}
	return next
}

func (q *queue) head() *waiter {
	if e := q.calls.Front(); e != nil {
		return e.Value.(*waiter)
	}
	return nil
}

func (s *schedule) fits(cost amount) bool {
	for i := range s.windows {
		if s.excess(&s.windows[i], cost) > 0 {
			return false
		}
	}
	return true
}

// excess returns by how much this cost would exceed a window; zero or less if there is room.
func (s *schedule) excess(w *window, cost amount) int {
	return w.count(s.inUse) + w.charged + w.count(cost) - w.limit
}

// nextAdmission returns when the next call can be admitted. The time is unknown while no call
// waits, and while the calls that wait need places that are in use.
func (s *schedule) nextAdmission() (next time.Time, ok bool) {
	for i := range s.queues {
		head := s.queues[i].head()
		if head == nil {
			continue
		}
		at, known := time.Time{}, true
		for i := range s.windows {
			w := &s.windows[i]
			excess := s.excess(w, head.cost)
			if excess > w.charged {
				known = false
				break
			}
			if excess > 0 {
				at = later(at, s.freeTime(w, excess))
			}
		}
		if known && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}

// release releases a place and charges it, or returns the items of a place that was charged.
func (s *schedule) release(p *place, o Outcome, now time.Time) {
	if o != NotSent && o != Refused {
		o = Sent
	}
	switch {
	case p.outcome == "":
		p.outcome = o
		s.inUse.sub(p.cost)
		if o == NotSent {
			return
		}
		charge := p.cost
		if o == Refused {
			charge.items = 0
		}
		p.entry = s.history.append(now, charge)
		for i := range s.windows {
			s.windows[i].charged += s.windows[i].count(charge)
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

// predict returns when a call that arrives now is admitted, and the window that makes it wait
// longest: a window smaller than the call if there is one, nil if the call has room.
//
// The time is a lower bound, given that all calls queued before are admitted and charged. It
// assumes that places in use are released now, and that calls are admitted as soon as their own
// windows have room. Of the other queue it counts only calls that must be admitted before.
func (s *schedule) predict(cost amount, now time.Time) (at time.Time, full *window) {
	before := s.queues[0].demand
	if cost.items > 0 {
		// A request has room wherever a batch has, so that earlier requests are admitted before it.
		before.add(s.queues[1].demand)
	}
	at = now
	for i := range s.windows {
		w := &s.windows[i]
		if w.count(cost) > w.limit {
			return now, w
		}
		all := cost
		all.add(before)
		excess := s.excess(w, all)
		if excess <= 0 || w.count(cost) == 0 {
			continue
		}
		// The excess must become free first. Entries become free at known times, places in use one
		// window from now at the earliest, and calls that wait a limit at a time, one window apart.
		used := w.charged + w.count(s.inUse)
		rounds := max(0, (excess-used+w.limit-1)/w.limit)
		excess -= rounds * w.limit
		free := now
		if excess > w.charged {
			free = now.Add(w.per)
		} else if excess > 0 {
			free = later(now, s.freeTime(w, excess))
		}
		if free = free.Add(time.Duration(rounds) * w.per); full == nil || free.After(at) {
			at, full = free, w
		}
	}
	return at, full
}

// freeTime returns when n of what a window has charged are free. Refunded items make it slightly
// early.
func (s *schedule) freeTime(w *window, n int) time.Time {
	h := &s.history
	before := w.count(h.at(w.from).before)
	i := sort.Search(h.end()-w.from-1, func(i int) bool {
		s.steps++
		return w.count(h.at(w.from+i+1).before)-before >= n
	})
	return w.expiry(h.at(w.from + i))
}

// state returns the states of the windows.
func (s *schedule) state(now time.Time) []WindowState {
	states := make([]WindowState, 0, len(s.windows))
	for i := range s.windows {
		w := &s.windows[i]
		used := w.charged + w.count(s.inUse)
		state := WindowState{Window: w.name, Limit: w.limit, Per: w.per, Used: used}
		if w.charged > 0 {
			state.NextFree = max(0, s.freeTime(w, 1).Sub(now))
		} else if state.Used > 0 {
			state.NextFree = w.per
		}
		states = append(states, state)
	}
	return states
}

// count returns the part of an amount that the window counts.
func (w *window) count(a amount) int {
	if w.items {
		return a.items
	}
	return a.requests
}

// expiry returns when the window stops counting an entry.
func (w *window) expiry(e *entry) time.Time { return e.released.Add(w.per) }

// newError returns the error of a call that would have to wait for the window; zero means that no
// wait is long enough.
func (w *window) newError(wait time.Duration) *Error {
	unit := "requests"
	if w.items {
		unit = "items"
	}
	return &Error{Limit: w.limit, Per: w.per, Unit: unit, Wait: wait}
}

// history is the places that were released and charged, oldest first, as long as a window counts
// them. Its entries are numbered from 0.
type history struct {
	entries []entry
	first   int    // Number of entries[0].
	total   amount // Of all entries ever.
}

// entry is the charge of one place.
type entry struct {
	released time.Time
	charge   amount
	before   amount // The total before it, so that sums of entries are differences of two totals.
}

// end returns the number of the next entry.
func (h *history) end() int { return h.first + len(h.entries) }

func (h *history) at(number int) *entry { return &h.entries[number-h.first] }

func (h *history) append(now time.Time, charge amount) (number int) {
	h.entries = append(h.entries, entry{released: now, charge: charge, before: h.total})
	h.total.add(charge)
	return h.end() - 1
}

// refund removes the items from an entry, if a window still counts it. The totals are not changed.
func (h *history) refund(number int) {
	if number >= h.first {
		h.at(number).charge.items = 0
	}
}

// trim drops the entries that no window counts any more.
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
