package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/retry"
)

// RetryPolicy says how often and how patiently a call is repeated; see package retry.
type RetryPolicy = retry.Policy

// throttledAttempts is how often a call is sent, at most, that is answered 429 each time: a service that
// keeps being asked may lock the account.
const throttledAttempts = 3

// classify names the row of the retry table that an attempt belongs to.
func classify(req *http.Request, resp *http.Response, err error) retry.Outcome {
	_, broken := errors.AsType[*DecodeError](err)
	_, unsent := errors.AsType[*SendError](err)
	switch {
	case err == nil:
		return retry.OfStatus(resp.StatusCode)
	case broken && errors.Is(err, ErrBodyTooLarge):
		return retry.TooLarge
	case broken && req.Context().Err() == nil:
		return retry.Unreadable
	case req.Context().Err() != nil:
		return retry.Ended
	case !unsent:
		return retry.Final // a stage of the chain refused it
	case callOf(req).written.Load():
		return retry.NoAnswer
	default:
		return retry.NotSent
	}
}

// retrier is the stage that repeats attempts.
type retrier struct {
	policy   RetryPolicy
	auth     *auth
	gate     *retry.Gate
	observer *observer
	budget   retry.Budget
}

func newRetrier(p RetryPolicy, a *auth, g *retry.Gate, o *observer) *retrier {
	return &retrier{policy: p, auth: a, gate: g, observer: o, budget: retry.Budget{Size: 20, Refill: time.Second}}
}

func (r *retrier) repeat(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c := callOf(req)
		replayed := false
		for attempt := 1; ; attempt++ {
			fresh, err := withFreshBody(req)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.op.ID, err)
			}
			c.written.Store(false)
			resp, err := next.Do(fresh)
			o := classify(req, resp, err)
			again, unknown := retry.Decide(o, c.op.RetrySafe, c.written.Load())
			asked := retryAfter(resp)
			wait := r.policy.Delay(attempt, asked)
			switch {
			case o == retry.Throttled:
				wait = r.gate.Close(func(inRow int) time.Duration { return r.policy.Delay(inRow, asked) })
				again = attempt < throttledAttempts
			case o == retry.Unauthorized:
				again, wait = !replayed && r.auth.renewed(req.Context(), c.token), 0
				replayed = true
			case statusOf(resp)/100 == 2:
				r.gate.Succeeded()
			}
			if !again || attempt >= r.policy.MaxAttempts || !r.mayWait(req.Context(), wait, asked) || !r.budget.Take() {
				if o == retry.Final {
					r.budget.GiveBack(attempt - 1)
				}
				return r.end(c, unknown, resp, err)
			}
			r.observer.tell(req.Context(), slog.LevelWarn, c, Event{Kind: EventRetry, StatusCode: statusOf(resp), Delay: wait, Err: err})
			if err := retry.Pause(req.Context(), wait); err != nil {
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

// mayWait reports whether a pause is within the policy's bound and ends before ctx does. If it is not, the
// caller gets the last answer now, with its Retry-After, instead of a pause that helps nobody.
func (r *retrier) mayWait(ctx context.Context, wait, asked time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return asked <= r.policy.MaxRetryAfter && (!ok || time.Until(deadline) > wait)
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

func retryAfter(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	return retry.After(resp.Header)
}
