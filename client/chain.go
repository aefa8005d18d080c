package client

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/guard"
	"github.com/sellside-sdk/sellside-go/internal/tap"
)

// Doer sends a request and returns the response, as [http.Client] does.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// DoerFunc is a function that is a [Doer].
type DoerFunc func(*http.Request) (*http.Response, error)

// Do implements [Doer].
func (f DoerFunc) Do(req *http.Request) (*http.Response, error) { return f(req) }

// Middleware wraps a [Doer] in another one.
type Middleware func(next Doer) Doer

// newChain composes the stages that every request passes, outermost first.
func newChain(cfg *config, a *auth, client *Client) Doer {
	o := client.observer
	pause, policy := &cooldown{}, cfg.retry.withDefaults()
	stages := slices.Concat([]Middleware{showRecovery, client.lifetime.refuseWhenClosed, showOperation(cfg)}, cfg.middleware, []Middleware{
		identify(cfg.baseURL),
		client.recordInfo,
		o.watch,
		(&retrier{policy: policy, auth: a, cooldown: pause, observer: o}).retry,
		(&admission{policy: policy, auth: a, cooldown: pause, limiter: cfg.limiter, observer: o}).admit,
		setHeaders(cfg.userAgent),
	})
	if cfg.dump != nil {
		stages = append(stages, (&dumper{redact: client.redact, w: cfg.dump}).dump)
	}
	doer := Doer(&sender{http: cfg.http, timeout: policy.AttemptTimeout, auth: a, buffers: client.buffers})
	for _, wrap := range slices.Backward(stages) {
		doer = wrap(doer)
	}
	return doer
}

// showRecovery passes the responses to calls of package recovery to that package.
func showRecovery(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.Do(req)
		if err == nil && resp != nil {
			tap.Show(req.Context(), resp)
		}
		return resp, err
	})
}

// showOperation makes the operation of a call through [Client.Raw] known to the middleware, of which
// the caller has some or none. Other calls have it already.
func showOperation(cfg *config) Middleware {
	basePath := strings.TrimRight(cfg.baseURL.EscapedPath(), "/")
	return func(next Doer) Doer {
		if len(cfg.middleware) == 0 {
			return next
		}
		return DoerFunc(func(req *http.Request) (*http.Response, error) {
			path, below := strings.CutPrefix(req.URL.EscapedPath(), basePath)
			if _, known := OperationFromContext(req.Context()); below && !known {
				if op, ok := gen.MatchOperation(req.Method, path); ok {
					req = req.WithContext(context.WithValue(req.Context(), rawOperationKey{}, op))
				}
			}
			return next.Do(req)
		})
	}
}

// identify finds the operation of a request. It refuses requests that match no operation or another
// than the caller's, because an unusual id can make a path reach a different operation. It also
// refuses requests that would carry the credentials elsewhere: a middleware or a changed Server of
// the generated client may name another host.
func identify(base *url.URL) Middleware {
	basePath := strings.TrimRight(base.EscapedPath(), "/")
	return func(next Doer) Doer {
		return DoerFunc(func(req *http.Request) (*http.Response, error) {
			otherHost := req.Host != "" && !strings.EqualFold(req.Host, req.URL.Host)
			if otherHost || !sameOrigin(req.URL, base) {
				return nil, invalid("request", "URL",
					"credentials are sent only to the scheme, host and port of the base URL")
			}
			path, below := strings.CutPrefix(req.URL.EscapedPath(), basePath)
			op, ok := gen.MatchOperation(req.Method, path)
			if !below || !ok {
				return nil, invalid("request", "path",
					"%s %s is not an operation of the service", req.Method, req.URL.EscapedPath())
			}
			wanted, _ := req.Context().Value(callKey{}).(*call)
			if wanted != nil && wanted.op.ID != "" && wanted.op.ID != op.ID {
				return nil, invalid(wanted.op.ID, "path", "%s is the path of operation %s", path, op.ID)
			}
			// A typed call reads its own call afterwards. A context from WithItemCount may be used
			// twice, so its call is copied.
			c := wanted
			if c == nil || c.op.ID == "" {
				c = &call{op: op}
				if wanted != nil {
					c.items = wanted.items
				}
				req = req.WithContext(context.WithValue(req.Context(), callKey{}, c))
			}
			c.check = sendCheckOf(req.Context())
			c.options = callOptionsOf(req.Context())
			if err := c.options.check(op.ID); err != nil {
				return nil, err
			}
			if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
				return nil, invalid(op.ID, "body", "can be read only once: use a bytes.Reader or a strings.Reader")
			}
			return next.Do(req)
		})
	}
}

// setHeaders sets the headers of [WithHeader], and the User-Agent and Accept headers unless the caller
// has set them. Requests share the values.
func setHeaders(product string) Middleware {
	userAgent := []string{strings.TrimSpace(product + " sellside-go/" + Version)}
	json := []string{"application/json, */*;q=0.1"}
	document := []string{"application/pdf, application/json;q=0.9, */*;q=0.1"} // an error is JSON
	return func(next Doer) Doer {
		return DoerFunc(func(req *http.Request) (*http.Response, error) {
			accept := json
			if callOf(req).streamed() {
				accept = document
			}
			if options := callOf(req).options; options != nil {
				maps.Copy(req.Header, options.header)
			}
			setDefault(req.Header, "User-Agent", userAgent)
			setDefault(req.Header, "Accept", accept)
			return next.Do(req)
		})
	}
}

// setDefault sets a header, whose name is canonical, unless it has a value.
func setDefault(h http.Header, name string, value []string) {
	if h.Get(name) == "" {
		h[name] = value
	}
}

// checkedMiddleware wraps a middleware so that neither a nil [Doer] nor a missing response makes
// the program panic. nth counts middlewares from 1. refuse is called with the error of a nil Doer.
func checkedMiddleware(nth int, wrap Middleware, refuse func(error)) Middleware {
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

// middlewareError returns the error of a call for which a middleware returned neither a response
// nor an error. A write may have been applied if an attempt was made; for a call through
// [Client.Raw] that is not known, so one is assumed.
func middlewareError(nth int, req *http.Request) error {
	c, ok := req.Context().Value(callKey{}).(*call)
	if !ok || c.op.ID == "" {
		op := gen.Operation{ID: operationOf(req), Method: req.Method, RetrySafe: req.Method == http.MethodGet}
		c = &call{op: op, attempts: 1}
	}
	c.unknown = !c.op.RetrySafe && c.attempts > 0
	return &TransportError{
		CallInfo: c.info(),
		Err:      fmt.Errorf("middleware %d: returned neither a response nor an error", nth),
	}
}

// operationOf returns the operation of a request that may not have passed the identify stage yet.
func operationOf(req *http.Request) gen.OperationID {
	c, _ := req.Context().Value(callKey{}).(*call)
	if c == nil {
		return "request"
	}
	return cmp.Or(c.op.ID, "request")
}
