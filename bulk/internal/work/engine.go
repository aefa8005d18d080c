// Package work does what an account needs: it reads the service into the ledger, decides rows, and
// submits what they owe.
package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
)

// Config is what an engine works with.
type Config struct {
	Client *client.Client
	Ledger *ledger.Ledger
	DB     *db.DB
	Fence  int64 // Of this worker.

	// Settle is the longest time that the service takes to show a write, see [recovery.Options].
	Settle time.Duration
	// SendWithin is how long after it is recorded a submission may be sent.
	SendWithin time.Duration
	// FirstPoll is when a batch is polled first, until the engine has seen how long batches take;
	// LastPoll is the longest time between polls.
	FirstPoll, LastPoll time.Duration
	// Sales is how often sales are read while there is other work.
	Sales time.Duration
	// Audit is how often a page of all listings is read again; zero reads them once.
	Audit time.Duration
	// MarketAge is how old the market of a product may be.
	MarketAge time.Duration

	// OnItem is called with the outcome of each item when it is recorded. Nil ignores it.
	OnItem func(ledger.Item)
	// OnEvent is called with what happens, for people. Nil ignores it.
	OnEvent func(text string)
}

// Engine works for one account. It is used by one goroutine at a time.
type Engine struct {
	Config

	limits    map[decide.WriteKind]int // Items that a batch may have, after one was refused as a whole.
	turn      int                      // Of creates and updates.
	duration  time.Duration            // That batches took last.
	failures  int                      // Consecutive transient failures.
	pausedTo  time.Time                // No request before this, after a failure.
	noRoom    time.Time                // No submission before this, for lack of quota.
	salesFrom time.Time                // Sales are read again if they were not since.
	resolve   bool                     // Items are looked up although no run is authorized.
}

// Defaults of [Config].
const (
	defaultSettle     = 10 * time.Minute
	defaultSendWithin = time.Minute
	defaultFirstPoll  = 3 * time.Second
	defaultLastPoll   = time.Minute
	defaultSales      = 5 * time.Minute
	defaultMarketAge  = time.Hour
)

// New returns an engine.
func New(c Config) *Engine {
	for _, field := range []struct {
		value *time.Duration
		other time.Duration
	}{
		{&c.Settle, defaultSettle},
		{&c.SendWithin, defaultSendWithin},
		{&c.FirstPoll, defaultFirstPoll},
		{&c.LastPoll, defaultLastPoll},
		{&c.Sales, defaultSales},
		{&c.MarketAge, defaultMarketAge},
	} {
		if *field.value <= 0 {
			*field.value = field.other
		}
	}
	if c.OnItem == nil {
		c.OnItem = func(ledger.Item) {}
	}
	if c.OnEvent == nil {
		c.OnEvent = func(string) {}
	}
	return &Engine{Config: c, limits: map[decide.WriteKind]int{}}
}

// Status is what a step leaves behind.
type Status struct {
	// Next is when there is something to do again, if nothing changes before: not later than now if
	// there is more to do at once, zero if there is nothing to do at all.
	Next time.Time
	// Observed means that the ledger knows what it needs for decisions, and all are made.
	Observed bool
	// Idle means that nothing is owed or in flight: what is left waits for the seller.
	Idle bool
}

// Observe makes the engine read the sales again if they were not read since a time, and look up
// items even if no run is authorized.
func (e *Engine) Observe(since time.Time, resolve bool) { e.salesFrom, e.resolve = since, resolve }

// Step does the next thing that is due: at most a few requests, or a transaction. It returns an
// error if it cannot go on; failures that may pass are tried again later.
func (e *Engine) Step(ctx context.Context) (Status, error) {
	now := time.Now()
	if err := e.decideDirty(ctx, now); err != nil {
		return Status{}, err
	}
	v, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) (view, error) {
		return e.view(ctx, tx, now)
	})
	if err != nil {
		return Status{}, err
	}
	act := v.next(now)
	if act.kind == actWait {
		return act.status, nil
	}
	err = e.do(ctx, act, v)
	switch {
	case err == nil:
		e.failures = 0
	case ctx.Err() != nil:
		return act.status, ctx.Err()
	case errors.Is(err, ledger.ErrReplaced):
		act.status.Next = now
		return act.status, nil
	case client.IsTransient(err):
		e.failures++
		pause := min(time.Second<<min(e.failures-1, 6), time.Minute)
		if failed, ok := errors.AsType[*client.ThrottledError](err); ok {
			pause = max(pause, time.Until(failed.Until))
		}
		e.pausedTo = time.Now().Add(pause)
		e.OnEvent(fmt.Sprintf("%v: next try in %s", err, pause.Round(time.Second)))
	default:
		return act.status, err
	}
	act.status.Next = now
	return act.status, nil
}

// Run steps until done returns true, nothing is left to do, or until a time, zero for none. It
// returns the last status.
func (e *Engine) Run(ctx context.Context, until time.Time, done func(Status) bool) (Status, error) {
	for {
		s, err := e.Step(ctx)
		if err != nil || done(s) || s.Next.IsZero() {
			return s, err
		}
		if !until.IsZero() && (s.Next.After(until) || !time.Now().Before(until)) {
			return s, nil
		}
		wait := time.Until(s.Next)
		if wait <= 0 {
			if ctx.Err() != nil {
				return s, ctx.Err()
			}
			continue
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

// options are those of every recovery.
func (e *Engine) options(s *ledger.Submission) recovery.Options {
	return recovery.Options{Settle: e.Settle, SentBy: s.NotAfter}
}

// windows returns how many batch items the quota has room for now, and when there may be more.
func (e *Engine) windows(ctx context.Context, now time.Time) (room int, more time.Time, err error) {
	states, err := e.Client.RemainingQuota(ctx)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("read quota: %w", err)
	}
	room, more = maxItems, now.Add(time.Second)
	for _, w := range states {
		if w.Window != quota.ItemsPerWindow && w.Window != quota.ItemsPerDay {
			continue
		}
		if w.Left() < room {
			room, more = w.Left(), now.Add(max(w.NextFree, time.Second))
		}
	}
	return max(room, 0), more, nil
}
