package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// callLimit is how long a call without a deadline may spend on attempts, on pauses between them and on waiting after
// a 429. Waiting for the client's own quota is not counted.
const callLimit = 30 * time.Minute

// call is what the stages know of one call; it travels in the request's context.
type call struct {
	op       gen.Operation
	ids      []string // Of the path, of a typed call.
	items    int      // Batch items that the call submits, counted as listings.
	started  time.Time
	waited   time.Duration // For the quota.
	attempts int           // Requests sent.
	token    string        // The access token of the last attempt.
	place    *place        // Of the last attempt, in the quota.
	header   http.Header   // Of the response, once it is decoded.

	// What the retry stage counts: attempts that ended, redirects that a read followed not among them, the 429s and 401s
	// among their responses, and the retries that the call has taken from the budget.
	tries, throttled, unauthorized, retries int

	// written reports whether the service may have seen the last attempt; only proof of the contrary clears it.
	written bool
	// unknown reports whether the call is a write that may have been applied although no response says so.
	unknown bool
	// refused is why a response or failure that could have been retried was not; the caller gets both.
	refused error
}

type callKey struct{}

// callOf returns the call that a request belongs to. identify has put it there before any other stage runs.
func callOf(req *http.Request) *call { return req.Context().Value(callKey{}).(*call) }

// WithItemCount declares how many listings a batch submitted through [Client.Raw] creates, updates or
// deletes, so that the quota can count them.
func WithItemCount(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, callKey{}, &call{items: n})
}

// streamed reports whether the response is a document that is handed through instead of being read.
func (c *call) streamed() bool { return c.op.ID == gen.OpGetShippingDocument }

// left is how much more time the call may spend. The deadline of ctx, if there is one, is the only bound.
func (c *call) left(ctx context.Context) time.Duration {
	if _, ok := ctx.Deadline(); ok {
		return math.MaxInt64
	}
	return callLimit + c.waited - time.Since(c.started)
}

func (c *call) describe() CallInfo {
	return CallInfo{Operation: c.op.ID, Method: c.op.Method, Route: c.op.Route, Attempts: c.attempts, OutcomeUnknown: c.unknown}
}

// describeIn completes the error of the last attempt with what the retry table says of it.
func (c *call) describeIn(err error) error {
	if failed, ok := errors.AsType[*TransportError](err); ok {
		failed.CallInfo = c.describe()
	}
	if failed, ok := errors.AsType[*DecodeError](err); ok {
		failed.CallInfo = c.describe()
	}
	return err
}

// withRefusal adds to the error of an attempt why the call was not retried although it could have been.
func (c *call) withRefusal(err error) error {
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

func statusOf(resp *http.Response) int {
	if resp == nil {
		return 0
	}
	return resp.StatusCode
}
