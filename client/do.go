package client

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
)

// calls returns the operations of the service, to call one of them unless a check has failed.
func (c *Client) calls(checks ...error) gen.Calls { return gen.Calls{Invoker: c.newCall(checks...)} }

// newCall returns the state of a call, for callers that need more of it than its result.
func (c *Client) newCall(checks ...error) *call {
	return &call{client: c, invalid: joinErrors(checks...)}
}

// Invoke implements [gen.Invoker]: it runs the call on the chain and decodes its response. A call is
// invoked once.
func (c *call) Invoke(
	ctx context.Context, op gen.Operation, ids []string, build func(server string) (*http.Request, error), into any,
) error {
	resp, err := c.roundTrip(ctx, op, ids, build)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	defer c.client.buffers.put(c)
	body, err := bodyOf(resp)
	var decoded gen.Decoded
	if err == nil {
		decoded, err = gen.Decode(ctx, body, into)
	}
	if err == nil {
		err = c.verify(into, decoded)
	}
	if err != nil {
		return c.newDecodeError(resp.StatusCode, body, err)
	}
	for _, warning := range decoded.Warnings {
		c.client.observer.report(ctx, slog.LevelWarn, c, Event{Kind: EventDecodeWarning, Err: errors.New(warning)})
	}
	c.header = resp.Header
	return nil
}

// roundTrip runs the call on the chain and returns responses other than 2xx as errors.
func (c *call) roundTrip(
	ctx context.Context, op gen.Operation, ids []string, build func(server string) (*http.Request, error),
) (*http.Response, error) {
	c.op, c.ids = op, ids
	if err := joinErrors(c.invalid, checkIDs(op, ids)); err != nil {
		return nil, err
	}
	req, err := build(c.client.raw.Server)
	if err != nil {
		return nil, err
	}
	resp, err := c.client.raw.Client.Do(req.WithContext(context.WithValue(ctx, callKey{}, c)))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer func() { _ = resp.Body.Close() }()
		return nil, c.withRefusal(c.newAPIError(resp))
	}
	return resp, nil
}

// newDecodeError returns the error of a success whose body is not a response to the call.
func (c *call) newDecodeError(status int, body []byte, err error) error {
	c.unknown = !c.op.RetrySafe
	excerpt := excerpt(c.client.redact, c, body)
	return &DecodeError{CallInfo: c.info(), StatusCode: status, Body: excerpt, Err: err}
}

// excerpt returns the part of a body that an error keeps, without credentials.
func excerpt(redact func(text, token string) string, call *call, body []byte) []byte {
	text := redact(string(body[:min(len(body), maxErrorBody)]), call.token)
	return []byte(text[:min(len(text), maxErrorBody)])
}

// requestIDHeaders are the headers in which gateways return a request's id.
var requestIDHeaders = []string{"X-Request-Id", "X-Amzn-Requestid", "X-Correlation-Id", "Cf-Ray"}

// newAPIError returns the error of a response by its status, with whatever its body contains.
func (c *call) newAPIError(resp *http.Response) *APIError {
	body, _ := bodyOf(resp)
	redact := func(text string) string { return c.client.redact(text, c.token) }
	e := &APIError{CallInfo: c.info(), StatusCode: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
	e.RequestID = requestID(resp.Header, redact)
	e.Body = excerpt(c.client.redact, c, body)
	e.Message = gen.OneLine(redact(errorMessage(body)))
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	return e
}
