package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/retry"
)

// Doer sends a request and returns the answer, as [http.Client] does.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// DoerFunc is a function that is a [Doer].
type DoerFunc func(*http.Request) (*http.Response, error)

// Do implements [Doer].
func (f DoerFunc) Do(req *http.Request) (*http.Response, error) { return f(req) }

// Middleware wraps a [Doer] in another one.
type Middleware func(next Doer) Doer

// newChain puts the stages that every request passes into their order, outermost first.
func newChain(cfg *config, a *auth, o *observer) Doer {
	g, policy := &retry.Gate{}, cfg.retry.WithDefaults()
	stages := slices.Concat(cfg.middleware, []Middleware{
		identify(cfg.baseURL.EscapedPath()),
		o.watch,
		(&retrier{policy: policy, auth: a, gate: g, observer: o}).repeat,
		(&pace{gate: g, limiter: cfg.limiter, observer: o}).hold,
		a.inject,
		setHeaders,
	})
	doer := Doer(&sender{http: newHTTPClient(cfg.http), timeout: policy.AttemptTimeout, auth: a})
	for _, wrap := range slices.Backward(stages) {
		doer = wrap(doer)
	}
	return doer
}

// call is what the stages know of one call; it travels in the request's context.
type call struct {
	op       gen.Operation
	ids      []string // Of the path, of a typed call.
	items    int      // Batch items that the call submits, counted as listings.
	attempts int
	token    string      // The access token of the last attempt.
	header   http.Header // Of the answer, once it is decoded.

	// written tells whether the service may have seen the last attempt; only proof of the contrary clears it.
	written atomic.Bool
	// unknown tells whether the call is a write that may have been applied although it was not answered so.
	unknown bool
	// refused is why an answer or failure that could have been repeated was not; the caller gets it with that.
	refused error
}

// streamed reports whether the answer is a document that is handed through instead of being read.
func (c *call) streamed() bool { return c.op.ID == gen.OpGetShippingDocument }

type callKey struct{}

// callOf returns the call that a request belongs to. identify has put it there before any other stage runs.
func callOf(req *http.Request) *call { return req.Context().Value(callKey{}).(*call) }

// WithItemCount declares how many listings a batch submitted through [Client.Low] creates, updates or
// deletes, so that the quota can count them.
func WithItemCount(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, callKey{}, &call{items: n})
}

// identify finds the operation that a request belongs to and refuses what belongs to none, or to another one
// than the caller meant: an odd id can make a path reach a different operation.
func identify(basePath string) Middleware {
	return func(next Doer) Doer {
		return DoerFunc(func(req *http.Request) (*http.Response, error) {
			path, below := strings.CutPrefix(req.URL.EscapedPath(), strings.TrimRight(basePath, "/"))
			op, ok := gen.MatchOperation(req.Method, path)
			if !below || !ok {
				return nil, &ArgumentError{Operation: "request", Field: "path", Problem: fmt.Sprintf("%s %s is no operation of the service", req.Method, req.URL.EscapedPath())}
			}
			meant, _ := req.Context().Value(callKey{}).(*call)
			if meant != nil && meant.op.ID != "" && meant.op.ID != op.ID {
				return nil, &ArgumentError{Operation: meant.op.ID, Field: "path", Problem: fmt.Sprintf("%s reaches the operation %s", path, op.ID)}
			}
			// A typed call reads the call back, so that one is used; a context used by hand may be reused.
			c := meant
			if c == nil || c.op.ID == "" {
				c = &call{op: op}
				if meant != nil {
					c.items = meant.items
				}
				req = req.WithContext(context.WithValue(req.Context(), callKey{}, c))
			}
			if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
				return nil, &ArgumentError{Operation: op.ID, Field: "body", Problem: "it can be read only once: give a bytes.Reader or a strings.Reader"}
			}
			return next.Do(req)
		})
	}
}

// setHeaders adds what every request carries beside its credentials.
func setHeaders(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		for name, value := range map[string]string{"User-Agent": "sellside-go/" + Version, "Accept": "application/json, */*;q=0.1"} {
			if req.Header.Get(name) == "" {
				req.Header.Set(name, value)
			}
		}
		return next.Do(req)
	})
}
