// Package tap shows package recovery the responses to the calls that it makes with package client:
// their Date header, and members that the models of package gen do not keep. It is internal because
// no user needs to name it.
package tap

import (
	"context"
	"net/http"
)

type key struct{}

// With returns a context under which the client calls see with every response of 2xx, before it
// reads the body. See may replace the body by one that copies what is read. It is called by the
// goroutine that makes the call.
func With(ctx context.Context, see func(*http.Response)) context.Context {
	return context.WithValue(ctx, key{}, see)
}

// Show calls the function that ctx was given, if there is one.
func Show(ctx context.Context, resp *http.Response) {
	if see, ok := ctx.Value(key{}).(func(*http.Response)); ok && resp.StatusCode/100 == 2 {
		see(resp)
	}
}
