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
	held      bool  // a fault may keep it waiting
	world     int64 // of Sandbox.worlds, if it is held
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
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		this := callOf(r.Context())
		this.route, this.params, this.err = theContract().router.FindRoute(r)
		if path.Clean(r.URL.Path) != r.URL.Path { // a router further in would redirect
			this.err = routers.ErrPathNotFound
		}
		if this.err == nil {
			this.operation = this.route.Operation.OperationID
		}
		next.ServeHTTP(w, r)
	})
}

// allowed returns the methods that there are where a request goes.
func (c *contract) allowed(r *http.Request) (methods []string) {
	other := r.Clone(r.Context())
	for _, other.Method = range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if _, _, err := c.router.FindRoute(other); err == nil {
			methods = append(methods, other.Method)
		}
	}
	return methods
}
