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
		{most: q.RequestsPerSecond, per: time.Second},
		{most: q.RequestsPerDay, per: day},
		{most: q.ItemsPerWindow, per: cmp.Or(q.ItemsWindow, 5*time.Minute), items: true},
		{most: q.ItemsPerDay, per: day, items: true},
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
		return nil
	case <-ctx.Done():
		l.leave(w)
		return ctx.Err()
	}
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
	w := &waiter{items: items, nth: l.arrived, goes: make(chan struct{})}
	lane := l.lane(w)
	*lane = append(*lane, w)
	if deadline, ok := ctx.Deadline(); ok {
		now := time.Now()
		if at, full := l.turn(w, now); full != nil && at.After(deadline) {
			*lane = (*lane)[:len(*lane)-1]
			return nil, full.refusal(at.Sub(now))
		}
	}
	l.advance()
	return w, nil
}

// leave takes a call out of its lane, if it is still there, and lets those behind it move up.
func (l *limiter) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lane := l.lane(w)
	if i := slices.Index(*lane, w); i >= 0 {
		*lane = slices.Delete(*lane, i, i+1)
		l.advance()
	}
}

// advance lets everybody go who can, and sets the timer for the next one.
func (l *limiter) advance() {
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
		l.let(w, now)
		close(w.goes)
	}
}

func (l *limiter) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
}
