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

// RetryPolicy sets how often a call is retried and how long it pauses. A zero field has its
// default.
type RetryPolicy struct {
	MaxAttempts int           // Attempts of a call, including the first; 4 by default, 1 turns retries off.
	MinDelay    time.Duration // Upper bound of the first pause, doubled each time; 500 ms by default.
	MaxDelay    time.Duration // Upper bound of pauses without a Retry-After; 30 s by default.

	// MaxRetryAfter is the longest Retry-After that a call waits for; 1 minute by default. A call
	// that gets a longer one fails at once. The length of the cooldown after a 429 does not depend
	// on it.
	MaxRetryAfter time.Duration

	// AttemptTimeout bounds one request including the body of its response; 30 s by default. For a
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

// withDefaults fills in the zero fields.
func (p RetryPolicy) withDefaults() RetryPolicy {
	return RetryPolicy{
		MaxAttempts:    cmp.Or(p.MaxAttempts, 4),
		MinDelay:       cmp.Or(p.MinDelay, 500*time.Millisecond),
		MaxDelay:       cmp.Or(p.MaxDelay, 30*time.Second),
		MaxRetryAfter:  cmp.Or(p.MaxRetryAfter, time.Minute),
		AttemptTimeout: cmp.Or(p.AttemptTimeout, 30*time.Second),
	}
}

// delay returns the pause after a number of attempts: what the service requested, up to a day, or
// an exponential one with jitter.
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

// outcome is a row of the retry table: the result of one attempt.
type outcome string

const (
	notSent      outcome = "the request was not sent"
	noResponse   outcome = "no response after sending"
	throttled    outcome = "429"
	transient    outcome = "408 or 5xx"
	redirected   outcome = "3xx"
	unauthorized outcome = "401"
	unreadable   outcome = "success with an incomplete body"
	tooLarge     outcome = "success with a body beyond the limit"
	ended        outcome = "the context ended"
	refused      outcome = "refused before sending" // by the client: no quota, no token, or a cooldown
	final        outcome = "final"                  // every other response
)

// classify returns the outcome of an attempt.
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

// outcomeOf returns the outcome of an attempt with a response.
func outcomeOf(status int) outcome {
	switch {
	case status == http.StatusTooManyRequests:
		return throttled
	case status == http.StatusUnauthorized:
		return unauthorized
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return final // the request was not applied, and a retry would not change that
	case status == http.StatusRequestTimeout || status >= 500: // gateways define codes such as 524
		return transient
	case status < 200 || status/100 == 3:
		return redirected // 101 switches to another protocol
	default:
		return final
	}
}

// decide is the retry table: whether a call may be retried after an outcome, and whether the
// outcome of a write is then unknown. next limits how often.
func (o outcome) decide(retrySafe, written bool) (retry, unknown bool) {
	switch o {
	case notSent, throttled, unauthorized:
		return true, false // nothing was applied
	case noResponse, transient, unreadable:
		return retrySafe, !retrySafe
	case tooLarge, redirected:
		return false, !retrySafe // the next response would be the same
	case ended:
		return false, written && !retrySafe
	default:
		return false, false
	}
}

// isResponse reports whether the outcome is a response that ends a call and shows a working
// service.
func (o outcome) isResponse() bool {
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

func (r *retrier) retry(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c, ctx := callOf(req), req.Context()
		c.started = time.Now()
		target := redirects{first: req.URL, current: req.URL}
		var resp *http.Response // Of the last attempt, not counting redirects that were followed.
		var err error
		for {
			sent := c.attempts
			response, failure := attempt(req, target.current, next)
			if c.attempts == sent && c.tries > 0 { // a later stage refused the retry, or ctx ended
				if target.current == target.first { // else the retry was made, and redirected
					r.releaseOne(c)
				}
				return resp, notRetried(ctx, c, err, failure)
			}
			o := classify(req, response, failure)
			if o == redirected && c.op.RetrySafe && target.follow(response) {
				continue
			}
			resp, err = response, failure
			pause, again := r.next(ctx, c, o, retryAfter(headerOf(resp)))
			switch {
			case o == unauthorized && c.unauthorized == 1:
				if again, c.refused = r.auth.renew(ctx, c.token, again); !again {
					r.releaseRetries(c)
				}
			case statusOf(resp)/100 == 2:
				r.cooldown.succeeded()
			}
			if !again {
				_, c.unknown = o.decide(c.op.RetrySafe, c.written)
				return resp, c.complete(err)
			}
			event := Event{Kind: EventRetry, StatusCode: statusOf(resp), Delay: pause, Err: err}
			r.observer.report(ctx, slog.LevelWarn, c, event)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				r.releaseOne(c)
				return resp, notRetried(ctx, c, err, ctx.Err())
			}
			target.current = target.first
		}
	})
}

// maxThrottled is how many 429s a call may get: a service may lock an account that ignores them.
const maxThrottled = 3

// next reports whether a call has another attempt after this outcome, and how long to pause before
// it. It acquires a retry from the budget for the attempt. It releases the call's retries if there
// is no other attempt and the call ends with a response.
//
// There is no other attempt if the pause would outlast the policy's limit, the call's remaining
// time or ctx's deadline: the caller gets the last response at once, with its Retry-After.
func (r *retrier) next(
	ctx context.Context, c *call, o outcome, requested time.Duration,
) (pause time.Duration, again bool) {
	c.tries++
	again, _ = o.decide(c.op.RetrySafe, c.written)
	pause = r.policy.delay(c.tries, requested)
	switch o {
	case throttled:
		c.throttled++
		pause = r.cooldown.begin(func(inRow int) time.Duration { return r.policy.delay(inRow, requested) })
		again = again && c.throttled < maxThrottled && r.cooldown.remaining() <= r.policy.MaxRetryAfter
	case unauthorized:
		c.unauthorized++
		pause, again = 0, again && c.unauthorized == 1
	}
	deadline, ends := ctx.Deadline()
	inTime := requested <= r.policy.MaxRetryAfter && pause < c.timeLeft(ctx) && (!ends || time.Until(deadline) > pause)
	if again && c.tries < c.maxAttempts(r.policy) && inTime && r.budget.acquire() {
		c.retries++
		return pause, true
	}
	if o.isResponse() {
		r.releaseRetries(c)
	}
	return 0, false
}

// releaseRetries returns the call's retries to the budget.
func (r *retrier) releaseRetries(c *call) {
	r.budget.release(c.retries)
	c.retries = 0
}

// releaseOne returns the retry of an attempt that was not made to the budget. The retries of
// attempts that were made stay acquired.
func (r *retrier) releaseOne(c *call) {
	r.budget.release(1)
	c.retries--
}

// notRetried returns the error of the last attempt joined with the reason why there is no other.
func notRetried(ctx context.Context, c *call, last, why error) error {
	c.refused = cmp.Or(ctx.Err(), why)
	return c.withRefusal(last)
}

// attempt makes one attempt with its own headers and body. The response refers to the caller's
// request, which has no credentials.
func attempt(req *http.Request, target *url.URL, next Doer) (*http.Response, error) {
	c, fresh := callOf(req), req.WithContext(req.Context())
	c.written = false
	fresh.URL, fresh.Header = target, req.Header.Clone()
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

const (
	budgetSize   = 20          // Retries in a full budget.
	budgetRefill = time.Second // The time after which one retry is restored.
)

// budget limits the retries of all calls, so that they do not multiply the load on a failing
// service. A call that ends with a response returns its retries, so that single faults never use up
// the budget. The zero value is full. It is safe for concurrent use.
type budget struct {
	mu    sync.Mutex
	taken int
	since time.Time // When the last retry was restored.
}

// acquire acquires one retry and reports whether there was one.
func (b *budget) acquire() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	restored := int(time.Since(b.since) / budgetRefill)
	b.since = b.since.Add(time.Duration(restored) * budgetRefill)
	if b.taken = max(0, b.taken-restored); b.taken == 0 {
		b.since = time.Now()
	}
	if b.taken >= budgetSize {
		return false
	}
	b.taken++
	return true
}

func (b *budget) release(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = max(0, b.taken-n)
}
