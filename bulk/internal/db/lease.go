package db

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"
)

const (
	defaultTerm = 30 * time.Second
	queuePause  = time.Second // Between two attempts to get a lease: its holder may release it early.
)

// LeaseConfig describes a lease.
type LeaseConfig struct {
	Account string
	// Term is how long the lease of a process that died keeps others waiting; 30 s if zero. It is
	// renewed three times in a term.
	Term time.Duration
	// Queue waits for the lease of another worker instead of returning [ErrWorking].
	Queue bool
}

// Lease is the right to work for an account. A worker that does not renew its lease for a term, since
// it was killed, stopped or cut off, can be replaced. Then its fencing number is no longer valid:
// the lease prevents double work, and the number wrong writes.
type Lease struct {
	db      *DB
	account string
	term    time.Duration
	fence   int64
	cancel  context.CancelFunc
	ended   chan struct{} // Closed when the lease is renewed no more.
}

// AcquireLease acquires the lease of an account. Release it. The time is that of the database.
//
// On SQLite the lock of [DB.Work] excludes other workers, so that the lease of a killed one is
// replaced at once: call Work first.
func (d *DB) AcquireLease(ctx context.Context, c LeaseConfig) (*Lease, error) {
	l := &Lease{db: d, account: c.Account, term: cmp.Or(c.Term, defaultTerm), ended: make(chan struct{})}
	for {
		wait, err := l.acquire(ctx)
		if err == nil && wait > 0 && !c.Queue {
			err = ErrWorking
		}
		if err != nil {
			return nil, fmt.Errorf("acquire lease (account %q): %w", c.Account, err)
		}
		if wait <= 0 {
			break
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("acquire lease (account %q): %w", c.Account, ctx.Err())
		case <-time.After(min(wait, queuePause)):
		}
	}
	renewing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	if !d.engine.manyWorkers() {
		close(l.ended)
		return l, nil
	}
	go l.renew(renewing)
	return l, nil
}

// acquire takes the lease, or returns how long that of another worker lasts.
func (l *Lease) acquire(ctx context.Context) (wait time.Duration, err error) {
	err = l.db.Tx(ctx, func(tx Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO fences (account, fence, expires_at) VALUES ($1, 0, 0)
			ON CONFLICT (account) DO NOTHING`, l.account)
		if err != nil {
			return err
		}
		now, err := l.db.Now(ctx, tx)
		if err != nil {
			return err
		}
		before := now.UnixMicro()
		if !l.db.engine.manyWorkers() {
			before = math.MaxInt64
		}
		found, err := Get(ctx, tx, []any{&l.fence}, `UPDATE fences SET fence = fence + 1, expires_at = $2
			WHERE account = $1 AND expires_at <= $3 RETURNING fence`, l.account, now.Add(l.term).UnixMicro(), before)
		if err != nil || found {
			return err
		}
		var expires int64
		_, err = Get(ctx, tx, []any{&expires}, `SELECT expires_at FROM fences WHERE account = $1`, l.account)
		wait = max(time.UnixMicro(expires).Sub(now), time.Millisecond)
		return err
	})
	return wait, err
}

// renew renews the lease until it is released or lost. While the database fails nothing else can
// take it.
func (l *Lease) renew(ctx context.Context) {
	defer close(l.ended)
	tick := time.NewTicker(l.term / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		kept, err := l.setExpiry(ctx, l.term)
		if err == nil && !kept {
			return
		}
	}
}

// setExpiry makes the lease end after a time from now. It reports whether it is still this one.
func (l *Lease) setExpiry(ctx context.Context, after time.Duration) (kept bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.term)
	defer cancel()
	err = l.db.Tx(ctx, func(tx Tx) error {
		now, err := l.db.Now(ctx, tx)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE fences SET expires_at = $3 WHERE account = $1 AND fence = $2`,
			l.account, l.fence, now.Add(after).UnixMicro())
		kept = n == 1
		return err
	})
	return kept, err
}

// Fence returns the fencing number of the lease, see [LockFence].
func (l *Lease) Fence() int64 { return l.fence }

// Release lets other workers take the account at once. The fencing number stays valid until they do.
func (l *Lease) Release(ctx context.Context) error {
	l.cancel()
	<-l.ended
	if _, err := l.setExpiry(context.WithoutCancel(ctx), 0); err != nil {
		return fmt.Errorf("release lease (account %q): %w", l.account, err)
	}
	return nil
}
