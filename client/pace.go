package client

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
	"github.com/sellside-sdk/sellside-go/retry"
)

type (
	// Quota says how much an account may ask of the service; see package quota.
	Quota = quota.Quota
	// Limiter holds calls back so that a quota is kept; see package quota.
	Limiter = quota.Limiter
	// QuotaError reports that a call would have to wait longer than its deadline, or for ever; see package quota.
	QuotaError = quota.Error
	// ThrottledError reports that a call would have to wait beyond its deadline after a 429; see package retry.
	ThrottledError = retry.ThrottledError
)

// PublicQuota is what live services of this kind publish for an account, and the default of [New]; Unlimited
// turns the quota off, for the sandbox and for tests.
var (
	PublicQuota = quota.Public
	Unlimited   = quota.Unlimited
)

// pace is the stage that lets an attempt go when the gate is open and the quota has room.
type pace struct {
	gate     *retry.Gate
	policy   RetryPolicy
	limiter  Limiter
	observer *observer
}

func (p *pace) hold(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c := callOf(req)
		if c.items < 1 && isBatchSubmission(c.op.ID) && p.limiter.CountsItems() {
			return nil, &ArgumentError{Operation: c.op.ID, Field: "items", Problem: "the quota cannot count a batch of undeclared size: use WithItemCount"}
		}
		// If the gate closes while the quota holds calls back, they would all go when it opens, more than the
		// quota allows: they ask it again.
		for ok := false; !ok; ok = p.gate.Remaining() == 0 {
			cooldown := func(ctx context.Context) error {
				return p.gate.Wait(ctx, min(p.policy.MaxRetryAfter, c.left(ctx)))
			}
			if err := p.wait(req, ReasonThrottled, cooldown); err != nil {
				return nil, err
			}
			start := time.Now()
			if err := p.wait(req, ReasonQuota, func(ctx context.Context) error { return p.limiter.Wait(ctx, c.items) }); err != nil {
				return nil, err
			}
			c.waited += time.Since(start)
		}
		return next.Do(req)
	})
}

// wait lets a call wait for one thing and tells of it.
func (p *pace) wait(req *http.Request, reason string, wait func(context.Context) error) error {
	c, ctx, start := callOf(req), req.Context(), time.Now()
	var full quota.Window
	err := wait(quota.WithTrace(ctx, &quota.Trace{Held: func(w quota.Window) { full = w }}))
	if waited := time.Since(start); waited > time.Millisecond {
		p.observer.tell(ctx, slog.LevelDebug, c, Event{Kind: EventWait, Reason: reason, Window: full, Delay: waited})
	}
	if ctx.Err() != nil {
		return &SendError{CallInfo: c.describe(), Err: ctx.Err()}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.op.ID, err)
	}
	return nil
}
