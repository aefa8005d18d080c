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
	// Audit makes the engine read all pages again and again, within a tenth of the day's requests.
	Audit bool

	// CoolDown is called with the time before which no process of the account should send anything,
	// after a 429. Nil ignores it.
	CoolDown func(ctx context.Context, until time.Time) error
	// OnItem is called with the outcome of each item when it is recorded. Nil ignores it.
	OnItem func(ledger.Item)
	// OnEvent is called with what happens, for people. Nil ignores it.
	OnEvent func(text string)
}

// Engine works for one account. It is used by one goroutine at a time.
type Engine struct {
	Config

	limits    map[decide.WriteKind]int // Items that a batch may have, after one was refused as a whole.
	since     map[string]time.Time     // When a queue was empty last.
	failures  int                      // Consecutive transient failures.
	responded bool                     // The service has responded to this engine.
	pausedTo  time.Time                // No request before this, after a failure.
	needs     Needs
	newPage   int       // Of the new listings, the next to read; 0 if none was read.
	newBegan  time.Time // When the first of them was read.
}

// Defaults of [Config].
const (
	defaultSettle     = 10 * time.Minute
	defaultSendWithin = time.Minute // Less if the settle time is.
	leastSendWithin   = 5 * time.Second
)

// firstFailures is how many failures end the work if the service has never responded.
const firstFailures = 3

// New returns an engine.
func New(c Config) *Engine {
	if c.Settle <= 0 {
		c.Settle = defaultSettle
	}
	if c.SendWithin <= 0 {
		c.SendWithin = min(max(c.Settle, leastSendWithin), defaultSendWithin)
	}
	if c.OnItem == nil {
		c.OnItem = func(ledger.Item) {}
	}
	if c.OnEvent == nil {
		c.OnEvent = func(string) {}
	}
	return &Engine{Config: c, limits: map[decide.WriteKind]int{}, since: map[string]time.Time{}}
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
	// Pages is the page of all listings to read next; 0 if they are read.
	Pages int64
}

// Needs is what has to be known before an account is observed. A zero time is any time.
type Needs struct {
	Sales time.Time // The sales are read again if they were not since.
	Pages time.Time // All listings are.
	// New is the time since which the listings are to be read that were created elsewhere. It is put
	// off while the seller's own new ones would make it cost many requests.
	New     time.Time
	Foreign bool // New is not put off.
	LookUps bool // Items are looked up although no run is authorized.
}

// Observe sets what has to be known.
func (e *Engine) Observe(n Needs) { e.needs, e.newPage = n, 0 }

// Step does the next thing that is due: at most a few requests, or a transaction. It returns an
// error if it cannot go on; failures that may pass are tried again later.
func (e *Engine) Step(ctx context.Context) (Status, error) {
	now := time.Now()
	if err := e.decideDirty(ctx, now); err != nil {
		return Status{}, err
	}
	states, err := e.Client.RemainingQuota(ctx) // before the transaction: the limiter may be in its database
	if err != nil {
		return Status{}, err
	}
	v, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) (view, error) {
		return e.view(ctx, tx, states, now)
	})
	if err != nil {
		return Status{}, err
	}
	s := e.status(&v, now)
	if e.pausedTo.After(now) {
		s.Next = e.pausedTo
		return s, nil
	}
	act := decide.Next(v.View, now)
	if !v.readOnce && hasDayLeft(v.Quota) { // nothing is written before everything was read once
		act = decide.Action{Kind: decide.ActAudit}
	}
	if act.Kind == decide.ActSleep {
		s.Next = act.Until
		if !v.due.IsZero() && (s.Next.IsZero() || v.due.Before(s.Next)) {
			s.Next = v.due
		}
		return s, nil
	}
	s.Next = now
	err = e.do(ctx, act, &v)
	if err == nil {
		e.failures, e.responded = 0, true
	}
	return s, e.passing(ctx, err)
}

// passing pauses after a failure that may pass, and returns any other.
func (e *Engine) passing(ctx context.Context, err error) error {
	switch {
	case err == nil || errors.Is(err, ledger.ErrReplaced):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case !client.IsTransient(err):
		return err
	}
	e.failures++
	if !e.responded && e.failures >= firstFailures {
		return err // there may be no service at this address
	}
	pause := min(time.Second<<min(e.failures-1, 6), time.Minute)
	if failed, ok := errors.AsType[*client.ThrottledError](err); ok {
		pause = max(pause, time.Until(failed.Until))
		if e.CoolDown != nil {
			if err := e.CoolDown(ctx, failed.Until); err != nil {
				return err
			}
		}
	}
	e.pausedTo = time.Now().Add(pause)
	e.OnEvent(fmt.Sprintf("%v: next try in %s", err, pause.Round(time.Second)))
	return nil
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
