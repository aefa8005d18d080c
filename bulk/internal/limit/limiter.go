// Package limit limits an account to its quota, with the state in the database of the ledger: all
// processes that use the database share the account's quota, and a restart forgets nothing.
package limit

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

const (
	// alive is how long a call keeps its position in the queue without a sign of its process.
	alive = 15 * time.Second
	// recheckAlone and recheckShared are how often a call that waits looks at the database before
	// the time at which it can be admitted: to keep its position, and to see what other processes
	// released.
	recheckAlone  = 5 * time.Second
	recheckShared = 250 * time.Millisecond
	// retryPause is the pause after the database failed.
	retryPause = time.Second
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the schema of the limiters.
func Migrations() (db.Migrations, error) {
	files, err := fs.Sub(migrations, "migrations")
	return db.Migrations{Name: "quota", Files: files}, err
}

// Config describes a limiter.
type Config struct {
	Account string
	Quota   quota.Quota // A zero field sets no limit.
	// AttemptTimeout is how long a request may be under way; 2 minutes if zero. If a process dies,
	// the places that it has in use are charged after this time. Places of this limiter stay in
	// use until they are released.
	AttemptTimeout time.Duration
	Logger         *slog.Logger // Receives failures of the database in the background; may be nil.
}

// Limiter is a [quota.Limiter] whose state is in a database. It is safe for concurrent use. A
// process has one for each account.
//
// Each operation takes time that grows with the number of calls that wait or have a place, not with
// the number of requests in the windows. A release is written in the background. If the database
// fails, Acquire fails.
type Limiter struct {
	db       *db.DB
	config   Config
	owner    string
	specs    []spec
	limits   amount        // Numbers of windows that limit requests, and items.
	step     chan struct{} // Has room for the one step that runs.
	finished sync.WaitGroup

	mu      sync.Mutex
	waiters map[int64]*waiter
	places  map[int64]*place // In use.
	changed map[*place]bool  // Released or corrected, and not written yet.
	removed map[int64]bool   // Calls that were canceled, and not deleted yet.
	timer   *time.Timer      // Runs kick.
	running bool             // A step runs in the background, or will.
	again   bool             // Another one must follow.
	closed  bool
}

// waiter is a call that waits for its place.
type waiter struct {
	cost     amount
	full     quota.Window  // The window expected to make it wait longest; empty if none.
	place    *place        // Set when it is admitted.
	admitted chan struct{} // Closed when it is admitted.
	canceled bool
}

// place is the place of an admitted call.
type place struct {
	number   int64
	cost     amount
	outcome  quota.Outcome // Empty while it is in use.
	released time.Time
	written  quota.Outcome // What the database has.
	charge   int64         // Number of its charge.
}

// New returns the limiter of an account. Close it before the database.
func New(d *db.DB, c Config) *Limiter {
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, 2*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Limiter{
		db: d, config: c, owner: rand.Text(), specs: specsOf(c.Quota),
		step:    make(chan struct{}, 1),
		waiters: map[int64]*waiter{}, places: map[int64]*place{},
		changed: map[*place]bool{}, removed: map[int64]bool{},
	}
	for _, s := range l.specs {
		if s.items {
			l.limits.items++
		} else {
			l.limits.requests++
		}
	}
	return l
}

// CountsItems implements [quota.Limiter].
func (l *Limiter) CountsItems() bool { return l.limits.items > 0 }

// Acquire implements [quota.Limiter].
func (l *Limiter) Acquire(ctx context.Context, items int) (quota.Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cost := amount{min(l.limits.requests, 1), min(l.limits.items, 1) * int64(max(items, 0))}
	if cost == (amount{}) {
		return func(quota.Outcome) {}, nil
	}
	w := &waiter{cost: cost, admitted: make(chan struct{})}
	if err := l.run(ctx, w); err != nil {
		return nil, err
	}
	select {
	case <-w.admitted:
	default:
		if err := l.wait(ctx, w); err != nil {
			return nil, err
		}
	}
	return func(o quota.Outcome) { l.release(w.place, o) }, nil
}

// wait returns nil when the call is admitted. If it is not, because ctx ends or a function of the
// trace panics, the call takes nothing from the quota.
func (l *Limiter) wait(ctx context.Context, w *waiter) error {
	admitted := false
	defer func() {
		if !admitted {
			l.cancel(w)
		}
	}()
	if w.full != "" {
		quota.ContextTrace(ctx).WaitStart(w.full)
	}
	select {
	case <-w.admitted:
		admitted = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Limiter) cancel(w *waiter) {
	l.mu.Lock()
	w.canceled = true
	admitted := w.place
	for number, waiting := range l.waiters {
		if waiting == w {
			delete(l.waiters, number)
			l.removed[number] = true
		}
	}
	l.mu.Unlock()
	if admitted != nil {
		l.release(admitted, quota.NotSent) // admitted at the same moment
		return
	}
	l.kick()
}

func (l *Limiter) release(p *place, o quota.Outcome) {
	if o != quota.NotSent && o != quota.Refused {
		o = quota.Sent
	}
	l.mu.Lock()
	switch {
	case p.outcome == "":
		p.outcome, p.released = o, time.Now()
	case p.outcome == quota.Sent && o == quota.Refused:
		p.outcome = o
	default:
		l.mu.Unlock()
		return
	}
	l.changed[p] = true
	l.mu.Unlock()
	l.kick()
}

// Remaining implements [quota.Limiter].
func (l *Limiter) Remaining(ctx context.Context) ([]quota.WindowState, error) {
	if len(l.specs) == 0 {
		return nil, nil
	}
	if err := l.flush(ctx); err != nil {
		return nil, err
	}
	var states []quota.WindowState
	err := l.db.View(ctx, func(r db.Reader) error {
		now, err := l.db.Now(ctx, r)
		if err != nil {
			return err
		}
		s := &state{reader: r, account: l.config.Account, now: now}
		if err := s.loadAccount(ctx); err != nil {
			return err
		}
		if err := s.loadWindows(ctx, l.specs); err != nil {
			return err
		}
		states, err = s.remaining(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read quota (account %q): %w", l.config.Account, err)
	}
	return states, nil
}

// CoolDown admits no call of the account, in any process, before a time, as a 429 asks. It never
// makes a cooldown shorter.
func (l *Limiter) CoolDown(ctx context.Context, until time.Time) error {
	err := l.db.Tx(ctx, func(tx db.Tx) error {
		if err := lockAccount(ctx, tx, l.config.Account); err != nil {
			return err
		}
		wait := time.Until(until) // before the clock is read, so that a delay makes it longer
		now, err := l.db.Now(ctx, tx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE quota_accounts SET cooldown_until = $2 WHERE account = $1
			AND cooldown_until < $2`, l.config.Account, now.Add(wait).UnixNano())
		return err
	})
	if err != nil {
		return fmt.Errorf("store cooldown (account %q): %w", l.config.Account, err)
	}
	return nil
}

// flush writes what was released, so that nothing in the background does.
func (l *Limiter) flush(ctx context.Context) error {
	l.mu.Lock()
	clean := len(l.changed)+len(l.removed) == 0
	l.mu.Unlock()
	if clean {
		return nil
	}
	return l.run(ctx, nil)
}

// Close writes what was released, and stops what runs in the background. Calls that wait are not
// admitted any more. Places that are in use are charged like those of a dead process.
func (l *Limiter) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	l.finished.Wait()
	return l.flush(ctx)
}

// kick runs a step in the background.
func (l *Limiter) kick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.again = true
	if l.running || l.closed {
		return
	}
	l.running = true
	l.finished.Go(func() {
		for l.next() {
			if err := l.run(context.Background(), nil); err != nil {
				l.config.Logger.Error("write quota", "account", l.config.Account, "error", err)
				l.setTimer(retryPause)
			}
		}
	})
}

// next reports whether another step must run in the background.
func (l *Limiter) next() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = l.again && !l.closed
	l.again = false
	return l.running
}

// setTimer makes a step run after a pause, if any call waits or anything is not written.
func (l *Limiter) setTimer(pause time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed || len(l.waiters)+len(l.changed)+len(l.removed) == 0:
		if l.timer != nil {
			l.timer.Stop()
		}
	case l.timer == nil:
		l.timer = time.AfterFunc(pause, l.kick)
	default:
		l.timer.Reset(pause)
	}
}
