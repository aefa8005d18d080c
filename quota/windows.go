package quota

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// NewLimiter returns a limiter that keeps q within this process. Calls go in the order they came.
func NewLimiter(q Quota) Limiter {
	const day = 24 * time.Hour
	l := &windows{}
	add := func(most int, per time.Duration, items bool) {
		if most > 0 {
			l.list = append(l.list, &window{max: most, per: per, items: items})
		}
	}
	add(q.RequestsPerSecond, time.Second, false)
	add(q.RequestsPerDay, day, false)
	add(q.ItemsPerWindow, cmp.Or(q.ItemsWindow, 5*time.Minute), true)
	add(q.ItemsPerDay, day, true)
	return l
}

// windows gives each call a slot when it arrives: the earliest time at which every window has room, and
// not before the slot of the call before it.
type windows struct {
	mu   sync.Mutex
	list []*window
	last time.Time
}

// window is one sliding window; its slots are in order of time, and those still to come count too.
type window struct {
	max   int
	per   time.Duration
	items bool
	used  []slot
}

type slot struct {
	at time.Time
	n  int
}

// CountsItems implements [Limiter].
func (l *windows) CountsItems() bool {
	for _, w := range l.list {
		if w.items {
			return true
		}
	}
	return false
}

// Wait implements [Limiter].
func (l *windows) Wait(ctx context.Context, items int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait, err := l.reserve(ctx, items)
	if err != nil {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() // the slot stays taken: careful, and over with its window
	}
}

func (l *windows) reserve(ctx context.Context, items int) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	at, full := now, (*window)(nil)
	if l.last.After(at) {
		at = l.last
	}
	for _, w := range l.list {
		if n := w.cost(items); n > w.max {
			return 0, w.refusal(0)
		} else if free := w.freeFrom(now, n); free.After(at) {
			at, full = free, w
		}
	}
	wait := at.Sub(now)
	if deadline, ok := ctx.Deadline(); ok && at.After(deadline) {
		if full == nil {
			full = l.list[0]
		}
		return 0, full.refusal(wait)
	}
	for _, w := range l.list {
		if n := w.cost(items); n > 0 {
			w.used = append(w.used, slot{at, n})
		}
	}
	l.last = at
	return wait, nil
}

func (w *window) cost(items int) int {
	if w.items {
		return items
	}
	return 1
}

// freeFrom returns the earliest time at which the window has room for n more, forgetting what has left it.
func (w *window) freeFrom(now time.Time, n int) time.Time {
	for len(w.used) > 0 && !w.used[0].at.After(now.Add(-w.per)) {
		w.used = w.used[1:]
	}
	if n == 0 {
		return now
	}
	sum := n
	for _, s := range slices.Backward(w.used) {
		if sum += s.n; sum > w.max {
			return s.at.Add(w.per)
		}
	}
	return now
}

func (w *window) refusal(wait time.Duration) *Error {
	unit := "requests"
	if w.items {
		unit = "items"
	}
	return &Error{Limit: w.max, Per: w.per, Unit: unit, Wait: wait}
}
