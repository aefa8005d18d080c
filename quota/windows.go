package quota

import "time"

// window is one sliding window: what was let go in it, oldest first, and how much that is. It forgets only
// what makes room for more, so it needs no clock, and a call costs the same however much a day holds.
type window struct {
	name  Window
	most  int
	per   time.Duration
	items bool
	used  []use
	held  int
}

// use is a call that was let go, and how much of the window it took.
type use struct {
	at time.Time
	n  int
}

func (w *window) cost(items int) int {
	if w.items {
		return items
	}
	return 1
}

// opens returns the time from which the window has room for n more, which are no more than it can hold.
func (w *window) opens(n int) time.Time {
	var at time.Time
	for over, i := w.held+n-w.most, 0; over > 0; i++ {
		over -= w.used[i].n
		at = w.used[i].at.Add(w.per)
	}
	return at
}

// take writes down a call that goes when the window has room for it.
func (w *window) take(n int, at time.Time) {
	if n == 0 {
		return
	}
	for w.held+n > w.most {
		w.held -= w.used[0].n
		w.used = w.used[1:]
	}
	w.used = append(w.used, use{at, n})
	w.held += n
}

func (w *window) refusal(wait time.Duration) *Error {
	unit := "requests"
	if w.items {
		unit = "items"
	}
	return &Error{Limit: w.most, Per: w.per, Unit: unit, Wait: wait}
}

// windows are all windows of a quota.
type windows []window

// free returns the earliest time, from now on, at which every window has room for a call, and the window that
// is full until then.
func (ws windows) free(items int, now time.Time) (at time.Time, full *window) {
	at = now
	for i := range ws {
		w := &ws[i]
		if opens := w.opens(w.cost(items)); opens.After(at) {
			at, full = opens, w
		}
	}
	return at, full
}

func (ws windows) take(items int, at time.Time) {
	for i := range ws {
		w := &ws[i]
		w.take(w.cost(items), at)
	}
}
