package client

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// callOptions are what a context changes about its calls. They are not changed once they are in a
// context.
type callOptions struct {
	attemptTimeout time.Duration // Zero for that of the policy.
	noRetry        bool
	header         http.Header

	// field and problem are the first invalid option, with which every call is refused.
	field, problem string
}

type callOptionsKey struct{}

// callOptionsOf returns the options of ctx, nil if it has none.
func callOptionsOf(ctx context.Context) *callOptions {
	options, _ := ctx.Value(callOptionsKey{}).(*callOptions)
	return options
}

// withCallOptions returns a context with a changed copy of the options of ctx.
func withCallOptions(ctx context.Context, change func(*callOptions)) context.Context {
	options := &callOptions{}
	if outer := callOptionsOf(ctx); outer != nil {
		*options = *outer
		options.header = outer.header.Clone()
	}
	change(options)
	return context.WithValue(ctx, callOptionsKey{}, options)
}

func (o *callOptions) refuse(field, problem string) {
	if o.field == "" {
		o.field, o.problem = field, problem
	}
}

// check returns an [ArgumentError] if an option is invalid.
func (o *callOptions) check(op gen.OperationID) error {
	if o == nil || o.field == "" {
		return nil
	}
	return invalid(op, o.field, "%s", o.problem)
}

// WithAttemptTimeout returns a context whose calls bound each attempt by d instead of
// [RetryPolicy].AttemptTimeout. A deadline of ctx bounds the whole call. If d is not positive, calls
// fail with an [ArgumentError].
func WithAttemptTimeout(ctx context.Context, d time.Duration) context.Context {
	return withCallOptions(ctx, func(o *callOptions) {
		if d <= 0 {
			o.refuse("WithAttemptTimeout", "must be positive")
		}
		o.attemptTimeout = d
	})
}

// WithoutRetry returns a context whose calls make one attempt, as with a [RetryPolicy].MaxAttempts
// of 1. A wait still polls again after a poll that failed.
func WithoutRetry(ctx context.Context) context.Context {
	return withCallOptions(ctx, func(o *callOptions) { o.noRetry = true })
}

// WithHeader returns a context whose calls have another header in every attempt, such as one of a
// tracing system. It replaces a header of the same name of an outer context, and a User-Agent. A name
// or a value that is not valid, and the headers that the client sets or that could change what a
// request means, among them the credentials, make calls fail with an [ArgumentError] before any I/O.
func WithHeader(ctx context.Context, name, value string) context.Context {
	return withCallOptions(ctx, func(o *callOptions) {
		name := http.CanonicalHeaderKey(name)
		switch {
		case !isToken(name):
			o.refuse("WithHeader", "the name is not that of a header")
		case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))):
			o.refuse("WithHeader", name+" is set by the client: leave it out")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			o.refuse("WithHeader", "the value of "+name+" contains characters that a header cannot carry")
		}
		if o.header == nil {
			o.header = http.Header{}
		}
		o.header[name] = []string{value}
	})
}

// reservedHeaders are credentials, headers about the connection or the body, and those with which
// some gateways let a request be of another method.
var reservedHeaders = []string{
	"Authorization", "X-Api-Key", "Proxy-Authorization", "Cookie",
	"Host", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer", "Transfer-Encoding", "Expect",
	"Accept", "Accept-Encoding", "Range", "Content-Encoding", "Content-Length", "Content-Type",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
}

// isToken reports whether a name is a token of RFC 9110, as the names of headers are.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !isLetter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// maxAttempts returns how many attempts a call may make.
func (c *call) maxAttempts(policy RetryPolicy) int {
	if c.options != nil && c.options.noRetry {
		return 1
	}
	return policy.MaxAttempts
}

// attemptTimeout returns how long one attempt may take, by default that of the policy.
func (c *call) attemptTimeout(policy time.Duration) time.Duration {
	if c.options != nil && c.options.attemptTimeout > 0 {
		return c.options.attemptTimeout
	}
	return policy
}
