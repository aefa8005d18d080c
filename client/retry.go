package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// RetryPolicy says how often and how patiently a call is retried. A field left zero has its default.
type RetryPolicy struct {
	MaxAttempts int           // Attempts of a call, the first included; 4 by default, 1 turns retries off.
	MinDelay    time.Duration // Upper bound of the first pause, doubled each time; 500 ms by default.
	MaxDelay    time.Duration // Upper bound of any pause that the service did not ask for; 30 s by default.

	// MaxRetryAfter is the longest Retry-After that a call waits for; 1 minute by default. A call that meets a longer
	// one fails at once. How long the client sends nothing after a 429 does not depend on it.
	MaxRetryAfter time.Duration

	// AttemptTimeout is how long one request may take, the body of its response included; 30 s by default. For a
	// streamed document it covers the headers only.
	AttemptTimeout time.Duration
}

// check refuses negative fields.
func (p RetryPolicy) check() error {
	if p.MaxAttempts < 0 || min(p.MinDelay, p.MaxDelay, p.MaxRetryAfter, p.AttemptTimeout) < 0 {
		return errors.New("retry policy: no field may be negative")
	}
	return nil
}

// withDefaults fills in the fields that are left zero.
func (p RetryPolicy) withDefaults() RetryPolicy {
	return RetryPolicy{
		MaxAttempts:    cmp.Or(p.MaxAttempts, 4),
		MinDelay:       cmp.Or(p.MinDelay, 500*time.Millisecond),
		MaxDelay:       cmp.Or(p.MaxDelay, 30*time.Second),
		MaxRetryAfter:  cmp.Or(p.MaxRetryAfter, time.Minute),
		AttemptTimeout: cmp.Or(p.AttemptTimeout, 30*time.Second),
	}
}

// delay returns the pause after so many attempts: what the service asked for, up to a day, else a jittered exponential.
func (p RetryPolicy) delay(attempts int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, 24*time.Hour)
	}
	ceiling := p.MaxDelay
	if shift := attempts - 1; p.MinDelay <= ceiling>>shift { // a shift to the right cannot overflow
		ceiling = p.MinDelay << shift
	}
	return ceiling/2 + rand.N(ceiling/2+1)
}

// outcome is what an attempt came to, as far as the retry table distinguishes.
type outcome string

const (
	notSent      outcome = "the request was not sent"
	noResponse   outcome = "no response after sending"
	throttled    outcome = "429"
	transient    outcome = "408 or 5xx"
	redirected   outcome = "3xx"
	unauthorized outcome = "401"
	unreadable   outcome = "success with a body that broke off"
	tooLarge     outcome = "success with a body beyond the bound"
	ended        outcome = "the context ended"
	refused      outcome = "refused before sending" // by the client itself: for want of quota, or of a token
	final        outcome = "final"                  // every other response
)

// classify names the row of the retry table that an attempt belongs to.
func classify(req *http.Request, resp *http.Response, err error) outcome {
	_, broken := errors.AsType[*DecodeError](err)
	_, failed := errors.AsType[*TransportError](err)
	switch {
	case err == nil:
		return outcomeOf(resp.StatusCode)
	case !broken && !failed:
		return refused
	case broken && errors.Is(err, ErrBodyTooLarge):
		return tooLarge
	case req.Context().Err() != nil:
		return ended
	case broken:
		return unreadable
	case callOf(req).written:
		return noResponse
	default:
		return notSent
	}
}

// outcomeOf names the row of the retry table that an HTTP status belongs to.
func outcomeOf(status int) outcome {
	switch {
	case status == http.StatusTooManyRequests:
		return throttled
	case status == http.StatusUnauthorized:
		return unauthorized
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return final // these two say that nothing was tried, and that nothing will change
	case status == http.StatusRequestTimeout || status >= 500: // gateways have codes of their own, such as 524
		return transient
	case status < 200 || status/100 == 3:
		return redirected // 101 points to another protocol
	default:
		return final
	}
}

// decide is the retry table: whether a call may be retried after an outcome, and whether that leaves open what became
// of a write. How often is bounded by another.
func (o outcome) decide(retrySafe, written bool) (retry, unknown bool) {
	switch o {
	case notSent, throttled, unauthorized:
		return true, false // nothing was applied
	case noResponse, transient, unreadable:
		return retrySafe, !retrySafe
	case tooLarge, redirected:
		return false, !retrySafe // the next response would be as large, or point elsewhere again
	case ended:
		return false, written && !retrySafe
	default:
		return false, false
	}
}

// responded reports whether the service gave a response that ends a call, so that it is not failing.
func (o outcome) responded() bool {
	return o == final || o == unauthorized || o == redirected || o == tooLarge
}

// retrier is the stage that repeats attempts.
type retrier struct {
	policy   RetryPolicy
	auth     *auth
	cooldown *cooldown
	observer *observer
	budget   budget
}

func (r *retrier) repeat(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c, ctx := callOf(req), req.Context()
		c.started = time.Now()
		target := redirects{first: req.URL, current: req.URL}
		var resp *http.Response // Of the last attempt that was made.
		var err error
		for {
			sent := c.attempts
			response, failure := attempt(req, target.current, next)
			if c.attempts == sent && c.tries > 0 { // a stage refused it, or ctx ended first
				return resp, r.notRetried(ctx, c, err, failure)
			}
			resp, err = response, failure
			o := classify(req, resp, err)
			if o == redirected && c.op.RetrySafe && target.follow(resp) {
				continue
			}
			pause, again := r.another(ctx, c, o, retryAfter(headerOf(resp)))
			switch {
			case o == unauthorized && c.unauthorized == 1:
				if again, c.refused = r.auth.renewed(ctx, c.token, again); !again {
					r.settle(c)
				}
			case statusOf(resp)/100 == 2:
				r.cooldown.succeeded()
			}
			if !again {
				_, c.unknown = o.decide(c.op.RetrySafe, c.written)
				return resp, c.describeIn(err)
			}
			r.observer.report(ctx, slog.LevelWarn, c, Event{Kind: EventRetry, StatusCode: statusOf(resp), Delay: pause, Err: err})
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return resp, r.notRetried(ctx, c, err, ctx.Err())
			}
			target.current = target.first
		}
	})
}

// maxThrottled is how many 429s a call may get: a service that keeps being asked may lock the account.
const maxThrottled = 3

// another reports whether a call has another attempt after one of this outcome, and how long to pause before it, and
// takes a retry from the budget for it. A call that has none and got a response returns what it took.
//
// There is none either if the pause would be longer than the policy allows or than what is left of the call's time, or
// not over before ctx ends: the caller gets the last response at once, with its Retry-After.
func (r *retrier) another(ctx context.Context, c *call, o outcome, asked time.Duration) (pause time.Duration, again bool) {
	c.tries++
	again, _ = o.decide(c.op.RetrySafe, c.written)
	pause = r.policy.delay(c.tries, asked)
	switch o {
	case throttled:
		c.throttled++
		pause = r.cooldown.begin(func(inRow int) time.Duration { return r.policy.delay(inRow, asked) })
		again = again && c.throttled < maxThrottled && r.cooldown.remaining() <= r.policy.MaxRetryAfter
	case unauthorized:
		c.unauthorized++
		pause, again = 0, again && c.unauthorized == 1
	}
	deadline, ends := ctx.Deadline()
	inTime := asked <= r.policy.MaxRetryAfter && pause < c.left(ctx) && (!ends || time.Until(deadline) > pause)
	if again && c.tries < r.policy.MaxAttempts && inTime && r.budget.take() {
		c.retries++
		return pause, true
	}
	if o.responded() {
		r.settle(c)
	}
	return 0, false
}

// settle returns to the budget what a call took that got a response after all.
func (r *retrier) settle(c *call) {
	r.budget.giveBack(c.retries)
	c.retries = 0
}

// notRetried returns the error of the last attempt with the reason why the next one was not made, and its retry to the
// budget. What the attempts before it took stays taken: they were made, and failed.
func (r *retrier) notRetried(ctx context.Context, c *call, last, why error) error {
	r.budget.giveBack(1)
	c.retries--
	c.refused = cmp.Or(ctx.Err(), why)
	return c.withRefusal(last)
}

// attempt makes one attempt, with headers and a body of its own. The response refers to the caller's request, which
// has no credentials.
func attempt(req *http.Request, target *url.URL, next Doer) (*http.Response, error) {
	c, fresh := callOf(req), req.Clone(req.Context())
	c.written = false
	fresh.URL = target
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.op.ID, err)
		}
		fresh.Body = body
	}
	resp, err := next.Do(fresh)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// The retries that a client may have taken at a time, and how long it takes until one comes back that was not returned.
const (
	budgetSize   = 20
	budgetRefill = time.Second
)

// budget keeps a brown-out of the service from being multiplied by the retries of all calls. A call that gets a
// response after all returns what it took: scattered faults never use the budget up, faults that last do so at once. The
// zero value is full. It is safe for concurrent use.
type budget struct {
	mu    sync.Mutex
	taken int
	since time.Time // When the last one came back.
}

// take takes one retry, and reports whether there was one left.
func (b *budget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	back := int(time.Since(b.since) / budgetRefill)
	b.since = b.since.Add(time.Duration(back) * budgetRefill)
	if b.taken = max(0, b.taken-back); b.taken == 0 {
		b.since = time.Now()
	}
	if b.taken >= budgetSize {
		return false
	}
	b.taken++
	return true
}

func (b *budget) giveBack(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = max(0, b.taken-n)
}
