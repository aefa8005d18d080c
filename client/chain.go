package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
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
	pause, policy := &cooldown{}, cfg.retry.withDefaults()
	stages := slices.Concat(cfg.middleware, []Middleware{
		identify(cfg.baseURL),
		o.watch,
		(&retrier{policy: policy, auth: a, cooldown: pause, observer: o}).repeat,
		(&admission{policy: policy, auth: a, cooldown: pause, limiter: cfg.limiter, observer: o}).admit,
		setHeaders,
	})
	doer := Doer(&sender{http: newHTTPClient(cfg.http), timeout: policy.AttemptTimeout, auth: a})
	for _, wrap := range slices.Backward(stages) {
		doer = wrap(doer)
	}
	return doer
}

// identify finds the operation that a request belongs to. It refuses what belongs to none, or to another one than the
// caller meant, because an unusual id can make a path reach a different operation. It also refuses what would carry the
// credentials elsewhere: a middleware or a changed Server of the generated client may name another host.
func identify(base *url.URL) Middleware {
	basePath := strings.TrimRight(base.EscapedPath(), "/")
	return func(next Doer) Doer {
		return DoerFunc(func(req *http.Request) (*http.Response, error) {
			if !sameOrigin(req.URL, base) || req.Host != "" && !strings.EqualFold(req.Host, req.URL.Host) {
				return nil, &ArgumentError{Operation: "request", Field: "URL", Problem: "credentials go only to the scheme, host and port of the base URL"}
			}
			path, below := strings.CutPrefix(req.URL.EscapedPath(), basePath)
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
