package quota

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// NewLimiter returns a limiter that keeps q within this process. It starts with empty windows: what the
// account has used before, the service alone knows.
func NewLimiter(q Quota) Limiter {
	const day = 24 * time.Hour
	l := &limiter{}
	for _, w := range []window{
		{name: RequestsPerSecond, most: q.RequestsPerSecond, per: time.Second},
		{name: RequestsPerDay, most: q.RequestsPerDay, per: day},
		{name: ItemsPerWindow, most: q.ItemsPerWindow, per: cmp.Or(q.ItemsWindow, 5*time.Minute), items: true},
		{name: ItemsPerDay, most: q.ItemsPerDay, per: day, items: true},
	} {
		if w.most > 0 {
			l.windows = append(l.windows, w)
		}
	}
	return l
}

// limiter lets calls go one by one. Nothing is taken from a window before a call goes, so that those who
// leave take nothing with them.
type limiter struct {
	mu sync.Mutex
	schedule
	arrived int
	timer   *time.Timer // Runs while somebody waits.
}

// CountsItems implements [Limiter].
func (l *limiter) CountsItems() bool {
	return slices.ContainsFunc(l.windows, func(w window) bool { return w.items })
}

// Wait implements [Limiter].
func (l *limiter) Wait(ctx context.Context, items int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, err := l.join(ctx, max(items, 0))
	if err != nil {
		return err
	}
	select {
	case <-w.goes:
	case <-ctx.Done():
		if l.leave(w) {
			err = ctx.Err()
		} // else it was let go at that very moment, and has taken its part
	}
	if w.held != nil {
		ContextTrace(ctx).Held(w.held.name)
	}
	return err
}

// join puts a call into its lane, unless it could never go, or not before its deadline.
func (l *limiter) join(ctx context.Context, items int) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.windows {
		if w.cost(items) > w.most {
			return nil, w.refusal(0)
		}
	}
	l.arrived++
	now := time.Now()
	w := &waiter{items: items, nth: l.arrived, came: now, goes: make(chan struct{})}
	lane := l.lane(w)
	*lane = append(*lane, w)
	if deadline, ok := ctx.Deadline(); ok {
		if at, full := l.turn(w, now); full != nil && at.After(deadline) {
			*lane = (*lane)[:len(*lane)-1]
			return nil, full.refusal(at.Sub(now))
		}
	}
	l.advance(nil)
	return w, nil
}

// leave takes a call out of its lane, if it is still there, which it reports, and lets those behind it move up. What
// held back the first of the lane held back all of it.
func (l *limiter) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	lane := l.lane(w)
	i := slices.Index(*lane, w)
	if i < 0 {
		return false
	}
	_, w.held = l.windows.free((*lane)[0].items, time.Now())
	*lane = slices.Delete(*lane, i, i+1)
	l.advance(w.held)
	return true
}

// advance lets everybody go who can, and sets the timer for the next one. Those who were held back by no window of
// their own stood behind somebody who left, whom left held back.
func (l *limiter) advance(left *window) {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	for {
		now := time.Now()
		w, at, _ := l.next(now)
		if w == nil {
			return
		}
		if at.After(now) {
			l.timer = time.AfterFunc(at.Sub(now), l.wake)
			return
		}
		_, own := l.windows.free(w.items, w.came)
		w.held = cmp.Or(own, left)
		l.let(w, now)
		close(w.goes)
	}
}

func (l *limiter) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance(nil)
}
