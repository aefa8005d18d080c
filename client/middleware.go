package client

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// checked wraps a middleware, the nth one counted from 1, so that neither a nil [Doer] nor a missing response makes the
// program panic. refuse is called with what is wrong with the Doer.
func checked(nth int, wrap Middleware, refuse func(error)) Middleware {
	return func(next Doer) Doer {
		doer := wrap(next)
		if guard.Nil(doer) {
			refuse(fmt.Errorf("middleware %d: returned a nil Doer", nth))
			return next
		}
		return DoerFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := doer.Do(req)
			if resp == nil && err == nil {
				return nil, middlewareError(nth, req)
			}
			if resp != nil && resp.Body == nil {
				resp.Body = http.NoBody
			}
			return resp, err
		})
	}
}

// middlewareError is the error of a call for which a middleware returned neither a response nor an error. A write may have
// been applied if an attempt was made, which is not known of a call through [Client.Raw].
func middlewareError(nth int, req *http.Request) error {
	c, ok := req.Context().Value(callKey{}).(*call)
	if !ok || c.op.ID == "" {
		c = &call{op: gen.Operation{ID: operationOf(req), Method: req.Method, RetrySafe: req.Method == http.MethodGet}, attempts: 1}
	}
	c.unknown = !c.op.RetrySafe && c.attempts > 0
	return &TransportError{CallInfo: c.describe(), Err: fmt.Errorf("middleware %d returned neither a response nor an error", nth)}
}

// operationOf names the operation of a request that may not have passed identify yet.
func operationOf(req *http.Request) gen.OperationID {
	c, _ := req.Context().Value(callKey{}).(*call)
	if c == nil {
		return "request"
	}
	return cmp.Or(c.op.ID, "request")
}
