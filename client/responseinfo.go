package client

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// ResponseInfo is what is known about a call beside its result; see [WithResponseInfo].
type ResponseInfo struct {
	CallInfo
	StatusCode int         // Of the last response; zero if there was none.
	Header     http.Header // Of the last response. It is a copy, with whatever the service sent.
	RequestID  string      // The service's id of the request, if the response has one.

	QuotaWait time.Duration // How long the call waited for the client's quota.
	// Quota is what the client's limiter knows after the call, as [Client.RemainingQuota] returns it;
	// nil if the limiter could not be asked.
	Quota []quota.WindowState
}

// responseInfos is where calls of a context write their [ResponseInfo].
type responseInfos struct {
	mu   sync.Mutex
	into *ResponseInfo
}

type responseInfoKey struct{}

// WithResponseInfo returns a context whose calls set info when they end, also when they fail. Lists
// and waits make several calls, and leave the info of the last one; a call that is refused before any
// I/O leaves info as it is. Read info when no call of the context is running. A nil info has no
// effect.
//
// A limiter that several processes share is asked once more for each such call.
func WithResponseInfo(ctx context.Context, info *ResponseInfo) context.Context {
	if info == nil {
		return ctx
	}
	return context.WithValue(ctx, responseInfoKey{}, &responseInfos{into: info})
}

// recordInfo is the stage that sets the [ResponseInfo] of a call.
func (c *Client) recordInfo(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.Do(req)
		infos, ok := req.Context().Value(responseInfoKey{}).(*responseInfos)
		if !ok {
			return resp, err
		}
		call := callOf(req)
		info := ResponseInfo{
			CallInfo: call.info(), StatusCode: statusOf(resp), Header: headerOf(resp).Clone(), QuotaWait: call.waited,
			RequestID: requestID(headerOf(resp), func(text string) string { return c.redact(text, call.token) }),
		}
		if left, err := c.limiter.Remaining(req.Context()); err == nil {
			info.Quota = left
		}
		infos.mu.Lock()
		defer infos.mu.Unlock()
		*infos.into = info
		return resp, err
	})
}

// requestID returns the id of a request in the headers of its response.
func requestID(header http.Header, redact func(string) string) string {
	for _, name := range requestIDHeaders {
		if id := gen.OneLine(redact(header.Get(name))); id != "" {
			return id
		}
	}
	return ""
}
