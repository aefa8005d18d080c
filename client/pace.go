package client

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
)

// gate is closed for all goroutines of a client when one of them is answered 429, so that they do not
// find out one by one.
type gate struct {
	mu    sync.Mutex
	until time.Time
}

// close keeps the gate closed for d from now, or longer if it already is.
func (g *gate) close(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.until) {
		g.until = until
	}
}

// remaining is how long the gate stays closed.
func (g *gate) remaining() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, time.Until(g.until))
}

// wait returns once the gate is open; it may have been closed again meanwhile.
func (g *gate) wait(ctx context.Context) error {
	for d := g.remaining(); d > 0; d = g.remaining() {
		if err := pause(ctx, d+rand.N(d/8+1)); err != nil { // not all at once
			return err
		}
	}
	return nil
}

// Quota says how much an account may ask of the service; see package quota.
type Quota = quota.Quota

// Limiter holds calls back so that a quota is kept; see package quota.
type Limiter = quota.Limiter

// QuotaError reports that a call would have to wait longer than its deadline, or for ever. Nothing was sent.
type QuotaError = quota.Error

// PublicQuota is what live services of this kind publish for an account, and the default of [New]; Unlimited
// turns the quota off, for the sandbox and for tests.
var (
	PublicQuota = quota.Public
	Unlimited   = quota.Unlimited
)

// pace is the stage that lets an attempt go when the gate is open and the quota has room.
type pace struct {
	gate     *gate
	limiter  Limiter
	observer *observer
}

func (p *pace) hold(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c := callOf(req)
		if c.items < 1 && isBatchSubmission(c.op.ID) && p.limiter.CountsItems() {
			return nil, &ArgumentError{Operation: c.op.ID, Field: "items", Problem: "the quota cannot count a batch of undeclared size: use WithItemCount"}
		}
		start := time.Now()
		if err := p.gate.wait(req.Context()); err != nil {
			return nil, &SendError{CallInfo: c.describe(), Err: err}
		}
		if err := p.limiter.Wait(req.Context(), c.items); req.Context().Err() != nil {
			return nil, &SendError{CallInfo: c.describe(), Err: req.Context().Err()}
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", c.op.ID, err)
		}
		if waited := time.Since(start); waited > time.Millisecond {
			p.observer.tell(req.Context(), slog.LevelDebug, c, Event{Kind: EventWait, Delay: waited})
		}
		return next.Do(req)
	})
}
