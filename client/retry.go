package client

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/sellside-sdk/sellside-go/retry"
)

// RetryPolicy says how often and how patiently a call is repeated; see package retry.
type RetryPolicy = retry.Policy

// classify names the row of the retry table that an attempt belongs to.
func classify(req *http.Request, resp *http.Response, err error) retry.Outcome {
	_, broken := errors.AsType[*DecodeError](err)
	_, unsent := errors.AsType[*TransportError](err)
	switch {
	case err == nil:
		return retry.OfStatus(resp.StatusCode)
	case !broken && !unsent:
		return retry.Refused // by a stage of the chain
	case broken && errors.Is(err, ErrBodyTooLarge):
		return retry.TooLarge
	case req.Context().Err() != nil:
		return retry.Ended
	case broken:
		return retry.Unreadable
	case callOf(req).written:
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

func (r *retrier) repeat(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		c, ctx := callOf(req), req.Context()
		c.started = time.Now()
		tries := retry.Tries{Policy: r.policy, Gate: r.gate, Budget: &r.budget}
		target := redirects{first: req.URL, current: req.URL}
		invalidated := false
		var resp *http.Response // What the last attempt came to that was sent.
		var err error
		notSent := func(why error) (*http.Response, error) { // The next one was refused, or ctx ended first.
			tries.NotMade()
			c.refused = cmp.Or(ctx.Err(), why)
			return resp, c.notAgain(err)
		}
		for {
			sent := c.attempts
			response, failure := attempt(req, target.current, next)
			if c.attempts == sent && tries.Made() > 0 {
				return notSent(failure)
			}
			resp, err = response, failure
			o := classify(req, resp, err)
			if o == retry.Redirect && c.op.RetrySafe && target.follow(resp) {
				continue
			}
			again, unknown := retry.Decide(o, c.op.RetrySafe, c.written)
			pause, again := tries.Another(ctx, o, again, retry.After(headerOf(resp)), c.left(ctx))
			switch {
			case o == retry.Unauthorized && !invalidated:
				invalidated = true
				if again, c.refused = r.auth.renewed(ctx, c.token, again); !again {
					tries.Answered()
				}
			case statusOf(resp)/100 == 2:
				r.gate.Succeeded()
			}
			if !again {
				return r.end(c, unknown, resp, err)
			}
			r.observer.tell(ctx, slog.LevelWarn, c, Event{Kind: EventRetry, StatusCode: statusOf(resp), Delay: pause, Err: err})
			if ended := retry.Pause(ctx, pause); ended != nil {
				return notSent(ended)
			}
			target.current = target.first
		}
	})
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

// maxRedirects bounds how many redirects a read follows.
const maxRedirects = 5

// redirects is where the attempts of a read go. A write follows none: a 302 turns a POST into a GET, and a 307 posts
// again. A read stays on its scheme, host and port, because it carries credentials.
type redirects struct {
	first, current *url.URL
	followed       int
}

// follow moves on to where a response points, if it may.
func (r *redirects) follow(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return false
	}
	location := resp.Header.Get("Location")
	to, err := r.current.Parse(location)
	if location == "" || err != nil || !sameOrigin(to, r.first) || r.followed == maxRedirects {
		return false
	}
	r.followed++
	to.Fragment = ""
	r.current = to
	return true
}

// end returns the last attempt's response or error with what the table says of it.
func (r *retrier) end(c *call, unknown bool, resp *http.Response, err error) (*http.Response, error) {
	c.unknown = unknown
	if failed, ok := errors.AsType[*TransportError](err); ok {
		failed.CallInfo = c.describe()
	}
	if failed, ok := errors.AsType[*DecodeError](err); ok {
		failed.CallInfo = c.describe()
	}
	return resp, err
}

// notAgain adds to the error of an attempt why the call was not sent again although it could have been.
func (c *call) notAgain(err error) error {
	if err == nil || c.refused == nil {
		return err
	}
	return fmt.Errorf("%w; it was not sent again: %w", err, c.refused)
}

func headerOf(resp *http.Response) http.Header {
	if resp == nil {
		return nil
	}
	return resp.Header
}
