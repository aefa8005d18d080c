package sandbox

import (
	"context"
	"net/http"
	"path"

	"github.com/getkin/kin-openapi/routers"
)

// Names of what is answered besides the operations of the document. Only
// tokenOperation is counted and can be made to fail.
const (
	tokenOperation   = "token"
	controlOperation = "control"
	healthOperation  = "health"
)

// call is what the steps on the way of a request tell each other. It belongs to
// the goroutine of its request.
type call struct {
	operation string // empty if there is none
	account   string // name; empty until it has authenticated
	route     *routers.Route
	params    map[string]string
	err       error // why there is no route
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call of a request, an empty one outside of requests.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// named says which operation it is whose requests come this way.
func named(operation string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		callOf(r.Context()).operation = operation
		next.ServeHTTP(w, r)
	})
}

// identify finds the operation of a request. It refuses nothing: a request
// without credentials is told of these first.
func (c *contract) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		this := callOf(r.Context())
		this.route, this.params, this.err = c.router.FindRoute(r)
		if path.Clean(r.URL.Path) != r.URL.Path { // a router further in would redirect
			this.err = routers.ErrPathNotFound
		}
		if this.err == nil {
			this.operation = this.route.Operation.OperationID
		}
		next.ServeHTTP(w, r)
	})
}
