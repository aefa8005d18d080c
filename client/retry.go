package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// RetryPolicy says how often and how patiently a call is repeated. A field left zero has its default.
type RetryPolicy struct {
	MaxAttempts    int           // Requests a call may send, the first included; 4 by default, 1 turns retries off.
	MinDelay       time.Duration // Upper bound of the first pause, doubled each time; 500 ms by default.
	MaxDelay       time.Duration // Upper bound of any pause that the service did not ask for; 30 s by default.
	MaxRetryAfter  time.Duration // Longest Retry-After that is waited for; 1 minute by default.
	AttemptTimeout time.Duration // How long one request may take, its body included; 30 s by default.
}

// throttledAttempts is how often a call is sent, at most, that is answered 429 each time: a service that
// keeps being asked may lock the account.
const throttledAttempts = 3

// The retry budget of a client: 20 retries in a burst, then one a second. It keeps a brown-out of the
// service from being multiplied by everybody's retries.
const (
	retryBurst  = 20
	retryRefill = rate.Limit(1)
)

func (p RetryPolicy) check() error {
	if p.MaxAttempts < 0 || min(p.MinDelay, p.MaxDelay, p.MaxRetryAfter, p.AttemptTimeout) < 0 {
		return errors.New("retry policy: no field may be negative")
	}
	return nil
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	return RetryPolicy{
		MaxAttempts:    cmp.Or(p.MaxAttempts, 4),
		MinDelay:       cmp.Or(p.MinDelay, 500*time.Millisecond),
		MaxDelay:       cmp.Or(p.MaxDelay, 30*time.Second),
		MaxRetryAfter:  cmp.Or(p.MaxRetryAfter, time.Minute),
		AttemptTimeout: cmp.Or(p.AttemptTimeout, 30*time.Second),
	}
}

// outcome is what one attempt came to, as far as the retry table distinguishes.
type outcome string

// The rows of the retry table.
const (
	outcomeNotSent      outcome = "the request was not sent"
	outcomeNoAnswer     outcome = "no answer after sending"
	outcomeThrottled    outcome = "429"
	outcomeTransient    outcome = "408 or 5xx"
	outcomeRedirect     outcome = "3xx"
	outcomeUnauthorized outcome = "401"
	outcomeUnreadable   outcome = "success with a body that broke off"
	outcomeTooLarge     outcome = "success with a body beyond the bound"
	outcomeEnded        outcome = "the context ended"
	outcomeFinal        outcome = "final" // every other answer, and what was refused before sending
)

// decide is the retry table: whether an attempt of this outcome may be repeated, and whether it leaves open
// what became of a write.
func decide(o outcome, retrySafe, written bool) (retry, unknown bool) {
	switch o {
	case outcomeNotSent, outcomeThrottled, outcomeUnauthorized:
		return true, false // nothing was applied
	case outcomeNoAnswer, outcomeTransient, outcomeUnreadable:
		return retrySafe, !retrySafe
	case outcomeTooLarge, outcomeRedirect:
		return false, !retrySafe // it would be as large, or send us away, the next time
	case outcomeEnded:
		return false, written && !retrySafe
	default:
		return false, false
	}
}

// classify names the row of the retry table that an attempt belongs to.
func classify(req *http.Request, resp *http.Response, err error) outcome {
	_, broken := errors.AsType[*DecodeError](err)
	_, unsent := errors.AsType[*SendError](err)
	switch {
	case err == nil:
		return classifyStatus(resp.StatusCode)
	case broken && errors.Is(err, ErrBodyTooLarge):
		return outcomeTooLarge
	case broken && req.Context().Err() == nil:
		return outcomeUnreadable
	case req.Context().Err() != nil:
		return outcomeEnded
	case !unsent:
		return outcomeFinal // a stage of the chain refused it
	case callOf(req).written.Load():
		return outcomeNoAnswer
	default:
		return outcomeNotSent
	}
}

func classifyStatus(status int) outcome {
	switch {
	case status == http.StatusTooManyRequests:
		return outcomeThrottled
	case status == http.StatusUnauthorized:
		return outcomeUnauthorized
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return outcomeFinal // these two say that nothing was tried, and that nothing will change
	case status == http.StatusRequestTimeout || status >= 500: // gateways have codes of their own, such as 524
		return outcomeTransient
	case status >= 300 && status < 400:
		return outcomeRedirect
	default:
		return outcomeFinal
	}
}

// retrier is the stage that repeats attempts.
type retrier struct {
	policy   RetryPolicy
	auth     *auth
	gate     *gate
	observer *observer
	budget   *rate.Limiter
}

func newRetrier(p RetryPolicy, a *auth, g *gate, o *observer) *retrier {
	return &retrier{policy: p, auth: a, gate: g, observer: o, budget: rate.NewLimiter(retryRefill, retryBurst)}
}

func (r *retrier) retry(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c := callOf(req)
		replayed := false
		for attempt := 1; ; attempt++ {
			again, err := withFreshBody(req)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.op.ID, err)
			}
			c.written.Store(false)
			resp, err := next.Do(again)
			o := classify(req, resp, err)
			retry, unknown := decide(o, c.op.RetrySafe, c.written.Load())
			wait := r.delay(attempt, resp)
			switch o {
			case outcomeThrottled:
				r.gate.close(min(wait, r.policy.MaxRetryAfter))
				retry = attempt < throttledAttempts
			case outcomeUnauthorized:
				retry, wait = !replayed && r.auth.renewed(req.Context(), c.token), 0
				replayed = true
			}
			if !retry || attempt >= r.policy.MaxAttempts || !r.mayWait(req.Context(), wait, resp) || !r.budget.Allow() {
				return r.end(c, unknown, resp, err)
			}
			r.observer.tell(req.Context(), slog.LevelWarn, c, Event{Kind: EventRetry, StatusCode: statusOf(resp), Delay: wait, Err: err})
			if err := pause(req.Context(), wait); err != nil {
				return nil, &SendError{CallInfo: c.describe(), Err: err}
			}
		}
	})
}

// end returns the last attempt's answer or error with what the table says of it.
func (r *retrier) end(c *call, unknown bool, resp *http.Response, err error) (*http.Response, error) {
	c.unknown = unknown
	if failed, ok := errors.AsType[*SendError](err); ok {
		failed.CallInfo = c.describe()
	}
	if failed, ok := errors.AsType[*DecodeError](err); ok {
		failed.CallInfo = c.describe()
	}
	return resp, err
}

// delay is how long to wait before the next attempt: what the service asks for, else a jittered exponential.
func (r *retrier) delay(attempt int, resp *http.Response) time.Duration {
	if resp != nil && retryAfter(resp.Header) > 0 {
		return retryAfter(resp.Header)
	}
	ceiling := r.policy.MaxDelay
	if shift := attempt - 1; r.policy.MinDelay <= ceiling>>shift { // a shift to the right cannot overflow
		ceiling = r.policy.MinDelay << shift
	}
	return ceiling/2 + rand.N(ceiling/2+1)
}

// mayWait reports whether a pause is within the policy's bound and ends before ctx does. If it is not, the
// caller gets the last answer now, with its Retry-After, instead of a pause that helps nobody.
func (r *retrier) mayWait(ctx context.Context, wait time.Duration, resp *http.Response) bool {
	deadline, ok := ctx.Deadline()
	tooLong := resp != nil && retryAfter(resp.Header) > r.policy.MaxRetryAfter
	return !tooLong && (!ok || time.Until(deadline) > wait)
}

// pause waits, or returns the error of ctx when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withFreshBody returns the request for one attempt, with headers and a body of its own.
func withFreshBody(req *http.Request) (*http.Request, error) {
	again := req.Clone(req.Context())
	if req.GetBody == nil {
		return again, nil
	}
	body, err := req.GetBody()
	again.Body = body
	return again, err
}

// retryAfter reads the Retry-After header, in seconds or as a date; zero when it is missing, past or odd.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		const most = 366 * 24 * 3600 // keeps the product in range
		return time.Duration(max(0, min(seconds, most))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
