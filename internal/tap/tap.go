// Package tap passes the responses of package client to package recovery, which needs their Date
// header, and members that the models of package gen do not have. It is internal because no user
// needs to name it.
package tap

import (
	"context"
	"net/http"
)

type key struct{}

// With returns a context whose calls pass each response of 2xx to see, before the client reads the
// body. See may replace the body by one that copies the bytes that are read. It is called by the
// goroutine that makes the call.
func With(ctx context.Context, see func(*http.Response)) context.Context {
	return context.WithValue(ctx, key{}, see)
}

// Show passes a response of 2xx to the function of ctx, if there is one.
func Show(ctx context.Context, resp *http.Response) {
	if see, ok := ctx.Value(key{}).(func(*http.Response)); ok && resp.StatusCode/100 == 2 {
		see(resp)
	}
}
