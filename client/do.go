package client

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Methods of the generated client, by their arguments: an id, parameters or a body, or an id and
// one of the others.
type (
	method[A any]     func(context.Context, A, ...gen.RequestEditorFn) (*http.Response, error)
	method2[A, B any] func(context.Context, A, B, ...gen.RequestEditorFn) (*http.Response, error)
	send              func(context.Context) (*http.Response, error)
)

// do1 runs an operation that takes one argument, unless one of the checks has failed.
func do1[T, A any](
	ctx context.Context, c *Client, op gen.OperationID, m method[A], a A, checks ...error,
) (*T, error) {
	send := func(ctx context.Context) (*http.Response, error) { return m(ctx, a) }
	return do[T](ctx, c, newCall(op, a), send, checks...)
}

// do2 runs an operation that takes two arguments, unless one of the checks has failed.
func do2[T, A, B any](
	ctx context.Context, c *Client, op gen.OperationID, m method2[A, B], a A, b B, checks ...error,
) (*T, error) {
	send := func(ctx context.Context) (*http.Response, error) { return m(ctx, a, b) }
	return do[T](ctx, c, newCall(op, a, b), send, checks...)
}

// newCall returns the call of an operation. Its string arguments are the ids of its path, in order.
func newCall(op gen.OperationID, args ...any) *call {
	row, _ := gen.LookupOperation(op) // this package passes constants of the table only
	c := &call{op: row}
	for _, arg := range args {
		if id, ok := arg.(string); ok {
			c.ids = append(c.ids, id)
		}
	}
	return c
}

// do runs a call on the chain and decodes its response.
func do[T any](ctx context.Context, c *Client, call *call, send send, checks ...error) (*T, error) {
	resp, err := c.roundTrip(ctx, call, send, checks...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := bodyOf(resp)
	v := new(T)
	var decoded gen.Decoded
	if err == nil {
		decoded, err = gen.Decode(ctx, body, v)
	}
	if err == nil {
		err = call.verify(v, decoded)
	}
	if err != nil {
		return nil, c.newDecodeError(call, resp.StatusCode, body, err)
	}
	for _, warning := range decoded.Warnings {
		c.observer.report(ctx, slog.LevelWarn, call, Event{Kind: EventDecodeWarning, Err: errors.New(warning)})
	}
	call.header = resp.Header
	return v, nil
}

// roundTrip runs a call on the chain and returns responses other than 2xx as errors.
func (c *Client) roundTrip(ctx context.Context, call *call, send send, checks ...error) (*http.Response, error) {
	if err := joinErrors(append(checks, checkIDs(call.op, call.ids))...); err != nil {
		return nil, err
	}
	resp, err := send(context.WithValue(ctx, callKey{}, call))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer func() { _ = resp.Body.Close() }()
		return nil, call.withRefusal(c.newAPIError(call, resp))
	}
	return resp, nil
}

// newDecodeError returns the error of a success whose body is not a response to the call.
func (c *Client) newDecodeError(call *call, status int, body []byte, err error) error {
	call.unknown = !call.op.RetrySafe
	excerpt := excerpt(c.redact, call, body)
	return &DecodeError{CallInfo: call.info(), StatusCode: status, Body: excerpt, Err: err}
}

// excerpt returns the part of a body that an error keeps, without credentials.
func excerpt(redact func(text, token string) string, call *call, body []byte) []byte {
	text := redact(string(body[:min(len(body), maxErrorBody)]), call.token)
	return []byte(text[:min(len(text), maxErrorBody)])
}

// requestIDHeaders are the headers in which gateways return a request's id.
var requestIDHeaders = []string{"X-Request-Id", "X-Amzn-Requestid", "X-Correlation-Id", "Cf-Ray"}

// newAPIError returns the error of a response by its status, with whatever its body contains.
func (c *Client) newAPIError(call *call, resp *http.Response) *APIError {
	body, _ := bodyOf(resp)
	e := &APIError{CallInfo: call.info(), StatusCode: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
	for _, name := range requestIDHeaders {
		if e.RequestID == "" {
			e.RequestID = gen.OneLine(c.redact(resp.Header.Get(name), call.token))
		}
	}
	e.Body = excerpt(c.redact, call, body)
	e.Message = gen.OneLine(c.redact(errorMessage(body), call.token))
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	return e
}
