package client

import (
	"net/http"
	"strings"
	"unicode"

	"github.com/sellside-sdk/sellside-go/gen"
)

// requestIDHeaders are the headers that gateways give a request's id in.
var requestIDHeaders = []string{"X-Request-Id", "X-Amzn-Requestid", "X-Correlation-Id", "Cf-Ray"}

// newAPIError makes the error from the status first and takes from the body what is there.
func (c *Client) newAPIError(call *call, resp *http.Response) *APIError {
	body, _ := readAtMost(resp.Body, maxErrorBody)
	e := &APIError{CallInfo: call.describe(), StatusCode: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
	for _, name := range requestIDHeaders {
		if e.RequestID == "" {
			e.RequestID = excerpt(c.redact(resp.Header.Get(name), call.token))
		}
	}
	e.Body = []byte(c.redact(string(body), call.token))
	e.Message = excerpt(c.redact(gen.ErrorMessage(body), call.token)) // JSON may write a secret in more ways than redact knows
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		e.Message = "the service redirects, and a write, or a read to another host, is not sent on"
	}
	return e
}

// excerpt makes one short line of text from outside.
func excerpt(text string) string {
	const most = 300
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), blank), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
