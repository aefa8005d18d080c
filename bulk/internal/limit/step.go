package limit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// run takes one step in one transaction: it writes what changed in this process, enqueues a call if
// there is one, and admits the calls of this process that have room. One step runs at a time.
func (l *Limiter) run(ctx context.Context, arrived *waiter) error {
	select {
	case l.step <- struct{}{}:
		defer func() { <-l.step }()
	case <-ctx.Done():
		return ctx.Err()
	}
	b := l.begin()
	err := l.db.Tx(ctx, func(tx db.Tx) error { return l.transact(ctx, tx, b, arrived) })
	if err == nil {
		l.finish(b)
		return nil
	}
	if _, ok := errors.AsType[*quota.Error](err); ok {
		return err
	}
	return fmt.Errorf("acquire quota (account %q): %w", l.config.Account, err)
}

// batch is what one step writes.
type batch struct {
	changed []*place
	written []quota.Outcome // Of changed, in the same order.
	charges []int64         // Numbers of their charges.
	removed []int64
	waiters map[int64]*waiter
	inUse   map[int64]bool // Places of this process.

	admitted []int64
	pause    time.Duration // Until the next step, if a call waits.
}

func (l *Limiter) begin() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &batch{
		changed: slices.Collect(maps.Keys(l.changed)),
		removed: slices.Collect(maps.Keys(l.removed)),
		waiters: maps.Clone(l.waiters),
		inUse:   map[int64]bool{},
	}
	for number := range l.places {
		b.inUse[number] = true
	}
	slices.SortFunc(b.changed, func(a, b *place) int { return a.released.Compare(b.released) })
	for _, p := range b.changed {
		b.written = append(b.written, p.outcome)
		b.charges = append(b.charges, p.charge)
	}
	return b
}

func (l *Limiter) transact(ctx context.Context, tx db.Tx, b *batch, arrived *waiter) error {
	if err := lockAccount(ctx, tx, l.config.Account); err != nil {
		return err
	}
	// The clock is read after the lock, which other processes may have had for a while. The time of
	// this process is read before it: a delay between them makes releases later, never earlier.
	local := time.Now()
	now, err := l.db.Now(ctx, tx)
	if err != nil {
		return err
	}
	s := &state{reader: tx, account: l.config.Account, now: now, local: local}
	if err := s.loadAccount(ctx); err != nil {
		return err
	}
	if err := l.writeChanges(ctx, tx, s, b); err != nil {
		return err
	}
	if err := l.chargeDead(ctx, tx, s, b); err != nil {
		return err
	}
	if err := s.loadWindows(ctx, l.specs); err != nil {
		return err
	}
	l.keepPositions(s, b)
	l.admit(s, b)
	if arrived != nil {
		if err := l.enqueue(ctx, s, b, arrived); err != nil {
			return err
		}
		l.admit(s, b)
	}
	if err := s.write(ctx, tx, l.owner); err != nil {
		return err
	}
	b.pause, err = l.pause(ctx, s)
	return err
}

// writeChanges writes the places that were released, and deletes the calls that were canceled.
func (l *Limiter) writeChanges(ctx context.Context, tx db.Tx, s *state, b *batch) error {
	for _, number := range b.removed {
		if err := s.deleteCall(ctx, tx, number); err != nil {
			return err
		}
	}
	for i, p := range b.changed {
		switch {
		case p.written == "":
			if err := s.deleteCall(ctx, tx, p.number); err != nil {
				return err
			}
			if b.written[i] == quota.NotSent {
				continue
			}
			cost := p.cost
			if b.written[i] == quota.Refused {
				cost.items = 0
			}
			number, err := s.charge(ctx, tx, cost, s.now.Add(-s.local.Sub(p.released)), retention(l.specs))
			if err != nil {
				return err
			}
			b.charges[i] = number
		case p.written == quota.Sent && b.written[i] == quota.Refused:
			if err := s.refund(ctx, tx, p.charge); err != nil {
				return err
			}
		}
	}
	return nil
}

// chargeDead charges the places of processes that died, as if their requests had arrived at the
// last moment, and removes their calls that wait.
func (l *Limiter) chargeDead(ctx context.Context, tx db.Tx, s *state, b *batch) error {
	for _, c := range slices.Clone(s.calls) {
		if c.expires.After(s.now) || c.owner == l.owner && (b.inUse[c.number] || b.waiters[c.number] != nil) {
			continue
		}
		if err := s.deleteCall(ctx, tx, c.number); err != nil {
			return err
		}
		if c.waiting {
			continue
		}
		if _, err := s.charge(ctx, tx, c.cost, c.expires, retention(l.specs)); err != nil {
			return err
		}
	}
	return nil
}

// keepPositions shows that the calls of this process still wait. A call that another process took
// for dead gets its position back.
func (l *Limiter) keepPositions(s *state, b *batch) {
	for number, w := range b.waiters {
		i := slices.IndexFunc(s.calls, func(c *call) bool { return c.number == number })
		if i < 0 {
			s.insert(&call{
				number: number, owner: l.owner, cost: w.cost, waiting: true,
				expires: s.now.Add(alive), isNew: true,
			})
		} else if c := s.calls[i]; c.expires.Sub(s.now) < alive-recheckAlone/2 {
			c.expires, c.changed = s.now.Add(alive), true
		}
	}
}

// enqueue appends a call to the queue, or returns a [quota.Error] if no wait before ctx's deadline is
// long enough.
func (l *Limiter) enqueue(ctx context.Context, s *state, b *batch, w *waiter) error {
	at, full, err := s.predict(ctx, w.cost)
	if err != nil {
		return err
	}
	deadline, ok := ctx.Deadline()
	switch {
	case full == nil:
	case full.count(w.cost) > full.limit:
		return full.newError(0)
	case ok && at.Sub(s.now) > deadline.Sub(s.local):
		return full.newError(at.Sub(s.now))
	default:
		w.full = full.name
	}
	s.lastCall++
	s.insert(&call{
		number: s.lastCall, owner: l.owner, cost: w.cost, waiting: true,
		expires: s.now.Add(alive), isNew: true,
	})
	b.waiters[s.lastCall] = w
	return nil
}

// admit admits the calls that have room, in order. Of the heads of the two queues that have room,
// the one that arrived first is next, so that reads do not starve a batch. The room of another
// process's call is left free; that process admits the call.
func (l *Limiter) admit(s *state, b *batch) {
	if s.now.Before(s.cooldown) {
		return
	}
	for {
		var next *call
		for _, head := range s.heads() {
			if head != nil && s.fits(head.cost) && (next == nil || head.number < next.number) {
				next = head
			}
		}
		if next == nil {
			return
		}
		s.inUse.add(next.cost)
		next.reserved = true
		if next.owner == l.owner {
			next.waiting, next.changed = false, true
			next.expires = s.now.Add(l.config.AttemptTimeout)
			b.admitted = append(b.admitted, next.number)
		}
	}
}

// pause returns how long a call of this process waits until the next step, if nothing is released
// in this process.
func (l *Limiter) pause(ctx context.Context, s *state) (time.Duration, error) {
	pause := recheckAlone
	if slices.ContainsFunc(s.calls, func(c *call) bool { return c.owner != l.owner }) {
		pause = recheckShared
	}
	if !l.db.Shared() {
		pause = 24 * time.Hour
	}
	for _, head := range s.heads() {
		if head == nil {
			continue
		}
		at, known, err := s.admissionTime(ctx, head.cost)
		if err != nil {
			return 0, err
		}
		if known {
			pause = min(pause, at.Sub(s.now))
		}
	}
	return max(pause, time.Nanosecond), nil
}

// finish makes visible in this process what a step has committed.
func (l *Limiter) finish(b *batch) {
	l.mu.Lock()
	for _, number := range b.removed {
		delete(l.removed, number)
	}
	for i, p := range b.changed {
		p.written, p.charge = b.written[i], b.charges[i]
		delete(l.places, p.number)
		if p.outcome == p.written {
			delete(l.changed, p)
		}
	}
	canceled := false
	for number, w := range b.waiters {
		if w.canceled {
			continue // removed by its own step, or below
		}
		l.waiters[number] = w
	}
	for _, number := range b.admitted {
		w := b.waiters[number]
		delete(l.waiters, number)
		w.place = &place{number: number, cost: w.cost}
		l.places[number] = w.place
		close(w.admitted)
		if w.canceled {
			w.place.outcome, w.place.released = quota.NotSent, time.Now()
			l.changed[w.place] = true
			delete(l.removed, number)
			canceled = true
		}
	}
	l.mu.Unlock()
	l.setTimer(b.pause)
	if canceled {
		l.kick()
	}
}
