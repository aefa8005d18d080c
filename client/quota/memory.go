package quota

import (
	"context"
	"sync"
	"time"
)

// NewLimiter returns a limiter that keeps q within this process. A zero field of q is no limit. The windows start
// empty: only the service knows what the account used before.
func NewLimiter(q Quota) Limiter {
	return &memory{schedule: newSchedule(q)}
}

// memory is the limiter of one process: a schedule, and the calls that wait for it. Its lock is never held for more
// than a bounded number of steps, however many calls wait.
type memory struct {
	mu       sync.Mutex
	schedule *schedule
	timer    *time.Timer // Runs while the next change is known that lets a call go; nil until first needed.
}

// CountsItems implements [Limiter].
func (m *memory) CountsItems() bool { return m.schedule.limits.items > 0 }

// Acquire implements [Limiter].
func (m *memory) Acquire(ctx context.Context, items int) (Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cost := m.schedule.cost(max(items, 0))
	if cost == (amount{}) {
		return func(Outcome) {}, nil
	}
	w, err := m.join(ctx, cost)
	if err != nil {
		return nil, err
	}
	m.advance()
	select {
	case <-w.granted:
	default:
		if err := m.wait(ctx, w); err != nil {
			return nil, err
		}
	}
	return func(o Outcome) { m.release(w.place, o) }, nil
}

// join puts a call into its lane, unless it could never go, or not before its deadline.
func (m *memory) join(ctx context.Context, cost amount) (*waiter, error) {
	deadline, ok := ctx.Deadline()
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	at, full := m.schedule.turn(cost, now)
	switch {
	case full != nil && full.of(cost) > full.limit:
		return nil, full.refusal(0)
	case ok && full != nil && at.After(deadline):
		return nil, full.refusal(at.Sub(now))
	}
	return m.schedule.join(cost, full), nil
}

// wait returns when the call is let go. A call that is not, because ctx ends or a traced function panics, takes nothing.
func (m *memory) wait(ctx context.Context, w *waiter) error {
	granted := false
	defer func() {
		if !granted {
			m.leave(w)
		}
	}()
	if w.full != nil {
		ContextTrace(ctx).WaitStart(w.full.name)
	}
	select {
	case <-w.granted:
		granted = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *memory) leave(w *waiter) {
	m.mu.Lock()
	left := m.schedule.leave(w)
	m.mu.Unlock()
	if left {
		m.advance() // those behind it may have room
	} else {
		m.release(w.place, NotSent) // it was let go at that very moment
	}
}

func (m *memory) release(p *place, o Outcome) {
	m.mu.Lock()
	m.schedule.release(p, o, time.Now())
	m.mu.Unlock()
	m.advance()
}

// advance lets all calls go that can, and sets the timer for the next one. It gives the lock up every few steps.
func (m *memory) advance() {
	for more := true; more; {
		m.mu.Lock()
		if more = m.schedule.admit(time.Now()); !more {
			m.arm()
		}
		m.mu.Unlock()
	}
}

// arm sets the timer. Without one, a call goes when a place is released.
func (m *memory) arm() {
	at, ok := m.schedule.next()
	switch {
	case !ok && m.timer != nil:
		m.timer.Stop()
	case ok && m.timer == nil:
		m.timer = time.AfterFunc(time.Until(at), m.advance)
	case ok:
		m.timer.Reset(time.Until(at))
	}
}

// Remaining implements [Limiter]. It reads memory, so that it neither waits nor fails.
func (m *memory) Remaining(context.Context) ([]WindowState, error) {
	m.advance() // which drops what does not count any more
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.schedule.state(time.Now()), nil
}
