package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// callLimit is how long a call without a deadline may spend on attempts, pauses and cooldowns.
// Waiting for the client's own quota is not counted.
const callLimit = 30 * time.Minute

// call is the state that the stages share about one call. It travels in the request's context.
type call struct {
	client   *Client // Of a typed call, and so are invalid, ids and header.
	invalid  error   // Why the arguments are refused.
	op       gen.Operation
	ids      []string     // The ids in the path.
	items    int          // Batch items that the call submits, counted as listings.
	options  *callOptions // Of the context; nil if it has none.
	check    sendCheck    // Whether the call may still be sent; nil if nothing is to be checked.
	started  time.Time
	waited   time.Duration // For the quota.
	attempts int           // Requests sent.
	token    string        // The access token of the last attempt.
	place    *place        // The last attempt's place in the quota.
	header   http.Header   // Of the response, once it is decoded.
	buffer   *bytes.Buffer // Of the body, until it is decoded; nil if it is not used again.

	// Counters of the retry stage: attempts that ended, not counting redirects that a read
	// followed; 429s and 401s among their responses; and retries acquired from the budget.
	tries, throttled, unauthorized, retries int

	// written reports whether the service may have seen the last attempt. Only proof of the
	// contrary clears it.
	written bool
	// unknown reports whether the call is a write that may have been applied although no response
	// confirms it.
	unknown bool
	// refused is why a response or failure that could have been retried was not. The caller gets
	// both.
	refused error
}

type callKey struct{}

// callOf returns the call of a request. The identify stage stores it before any other stage runs.
func callOf(req *http.Request) *call { return req.Context().Value(callKey{}).(*call) }

// WithItemCount declares how many listings a batch submitted through [Client.Raw] creates, updates
// or deletes, so that the quota can count them.
func WithItemCount(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, callKey{}, &call{items: n})
}

// OperationFromContext returns the operation of the call that a context belongs to, and false if there
// is none. It is for middleware and for the transport of [WithHTTPClient], with the context of their
// request, and for the function of [WithObserver].
func OperationFromContext(ctx context.Context) (gen.Operation, bool) {
	if c, ok := ctx.Value(callKey{}).(*call); ok && c.op.ID != "" {
		return c.op, true
	}
	op, ok := ctx.Value(rawOperationKey{}).(gen.Operation)
	return op, ok
}

// rawOperationKey is the key of the operation of a call through [Client.Raw] until the identify stage.
type rawOperationKey struct{}

// streamed reports whether the response is a document that the caller reads from the connection.
func (c *call) streamed() bool { return c.op.ID == gen.OpGetShippingDocument }

// timeLeft returns how much longer the call may take, apart from the deadline of ctx. If ctx has a
// deadline, there is no other bound.
func (c *call) timeLeft(ctx context.Context) time.Duration {
	if _, ok := ctx.Deadline(); ok {
		return math.MaxInt64
	}
	return callLimit + c.waited - time.Since(c.started)
}

func (c *call) info() CallInfo {
	return CallInfo{
		Operation: c.op.ID, Method: c.op.Method, Route: c.op.Route,
		Attempts: c.attempts, OutcomeUnknown: c.unknown,
	}
}

// complete updates the CallInfo of the last attempt's error after the retry table was consulted.
func (c *call) complete(err error) error {
	if failed, ok := errors.AsType[*TransportError](err); ok {
		failed.CallInfo = c.info()
	}
	if failed, ok := errors.AsType[*DecodeError](err); ok {
		failed.CallInfo = c.info()
	}
	return err
}

// withRefusal joins the error of an attempt with the reason why the call was not retried, if it
// could have been.
func (c *call) withRefusal(err error) error {
	if err == nil || c.refused == nil {
		return err
	}
	return fmt.Errorf("%w; not retried: %w", err, c.refused)
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
