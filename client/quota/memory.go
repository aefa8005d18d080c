package quota

import (
	"context"
	"sync"
	"time"
)

// NewLimiter returns a limiter of q for one process. A zero field of q sets no limit. Its windows
// are empty at first: only the service knows what the account has used before.
func NewLimiter(q Quota) Limiter {
	return &memoryLimiter{schedule: newSchedule(q)}
}

// memoryLimiter is a [Limiter] whose state is in memory: a schedule with a lock and a timer. Each
// time it locks, it takes a bounded number of steps, however many calls wait.
type memoryLimiter struct {
	mu       sync.Mutex
	schedule *schedule
	timer    *time.Timer // Runs advance at the next admission, if its time is known; may be nil.
}

// CountsItems implements [Limiter].
func (m *memoryLimiter) CountsItems() bool { return m.schedule.limits.items > 0 }

// Acquire implements [Limiter].
func (m *memoryLimiter) Acquire(ctx context.Context, items int) (Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cost := m.schedule.cost(max(items, 0))
	if cost == (amount{}) {
		return func(Outcome) {}, nil
	}
	w, err := m.enqueue(ctx, cost)
	if err != nil {
		return nil, err
	}
	m.advance()
	select {
	case <-w.admitted:
	default:
		if err := m.wait(ctx, w); err != nil {
			return nil, err
		}
	}
	return func(o Outcome) { m.release(w.place, o) }, nil
}

// enqueue queues a call, or returns an error if no wait before ctx's deadline is long enough.
func (m *memoryLimiter) enqueue(ctx context.Context, cost amount) (*waiter, error) {
	deadline, ok := ctx.Deadline()
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	at, full := m.schedule.predict(cost, now)
	switch {
	case full != nil && full.count(cost) > full.limit:
		return nil, full.newError(0)
	case ok && full != nil && at.After(deadline):
		return nil, full.newError(at.Sub(now))
	}
	return m.schedule.enqueue(cost, full), nil
}

// wait returns nil when the call is admitted. If it is not, because ctx ends or a function of the
// trace panics, the call takes nothing from the quota.
func (m *memoryLimiter) wait(ctx context.Context, w *waiter) error {
	admitted := false
	defer func() {
		if !admitted {
			m.cancel(w)
		}
	}()
	if w.full != nil {
		ContextTrace(ctx).WaitStart(w.full.name)
	}
	select {
	case <-w.admitted:
		admitted = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *memoryLimiter) cancel(w *waiter) {
	m.mu.Lock()
	removed := m.schedule.remove(w)
	m.mu.Unlock()
	if removed {
		m.advance() // calls behind it may have room now
	} else {
		m.release(w.place, NotSent) // admitted at the same moment
	}
}

func (m *memoryLimiter) release(p *place, o Outcome) {
	m.mu.Lock()
	m.schedule.release(p, o, time.Now())
	m.mu.Unlock()
	m.advance()
}

// advance admits all calls that have room, and sets the timer for the next one. It unlocks between
// batches of steps.
func (m *memoryLimiter) advance() {
	for more := true; more; {
		m.mu.Lock()
		if more = m.schedule.admit(time.Now()); !more {
			m.setTimer()
		}
		m.mu.Unlock()
	}
}

// setTimer sets the timer to the next time at which a call can be admitted. If that time is
// unknown, the next release admits a call.
func (m *memoryLimiter) setTimer() {
	at, ok := m.schedule.nextAdmission()
	switch {
	case !ok && m.timer != nil:
		m.timer.Stop()
	case ok && m.timer == nil:
		m.timer = time.AfterFunc(time.Until(at), m.advance)
	case ok:
		m.timer.Reset(time.Until(at))
	}
}

// Remaining implements [Limiter]. It neither waits nor fails.
func (m *memoryLimiter) Remaining(context.Context) ([]WindowState, error) {
	m.advance() // drops what no longer counts
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.schedule.state(time.Now()), nil
}
