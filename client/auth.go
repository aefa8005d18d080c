package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// auth adds the API key and an access token to every attempt.
type auth struct {
	apiKey       string
	apiKeyHeader []string // The value of the header, which requests share.
	tokens       oauth2.TokenSource
	lifetime     *lifetime
	latest       atomic.Pointer[bearer] // Of the last attempt of any call.

	mu       sync.Mutex
	inFlight *tokenCall // Nil unless the source is being asked by a goroutine.
}

// tokenCall is one call of a source's Token method. token and err are set before done is closed.
type tokenCall struct {
	done  chan struct{}
	token *oauth2.Token
	err   error
}

// authorize adds the credentials to an attempt. It asks the source for every attempt, because an
// attempt may begin long after the one before.
func (a *auth) authorize(req *http.Request) (*oauth2.Token, error) {
	token, _, err := a.get(req.Context())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", callOf(req).op.ID, err)
	}
	callOf(req).token = token.AccessToken
	credentials := a.latest.Load()
	if credentials == nil || credentials.token != token.AccessToken {
		credentials = &bearer{token: token.AccessToken, header: []string{"Bearer " + token.AccessToken}}
		a.latest.Store(credentials)
	}
	req.Header["Authorization"] = credentials.header
	req.Header["X-Api-Key"] = a.apiKeyHeader
	return token, nil
}

// bearer is an access token and the header that carries it. Requests share the header's value.
type bearer struct {
	token  string
	header []string
}

// get returns the source's access token. It returns early when ctx or the client ends. joined
// reports whether the token comes from a call of the source that began before get was called.
func (a *auth) get(ctx context.Context) (got *oauth2.Token, joined bool, err error) {
	if a.lifetime.closed() {
		return nil, false, ErrClosed
	}
	within := &lifetimeContext{Context: ctx, lifetime: a.lifetime}
	defer within.end()
	got, joined, err = a.ask(within)
	if err != nil && errors.Is(context.Cause(within), ErrClosed) {
		return nil, joined, ErrClosed
	}
	if failed, ok := errors.AsType[*token.Error](err); ok {
		return nil, joined, failed
	}
	if err != nil {
		return nil, joined, &token.Error{Err: err}
	}
	if got == nil || guard.Header(got.AccessToken) != nil {
		return nil, joined, &token.Error{Err: errors.New("token source: returned a token that is not a valid header value")}
	}
	return got, joined, nil
}

// ask calls the source. A source without contexts is called by one goroutine at a time, which may
// outlive its callers and the client; concurrent callers wait for the same result.
func (a *auth) ask(ctx context.Context) (got *oauth2.Token, joined bool, err error) {
	if source, ok := a.tokens.(interface {
		TokenContext(context.Context) (*oauth2.Token, error)
	}); ok {
		got, err = source.TokenContext(ctx)
		return got, false, err
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	a.mu.Lock()
	one := a.inFlight
	joined = one != nil
	if !joined {
		one = &tokenCall{done: make(chan struct{}), err: errors.New("token source: ended its goroutine")}
		a.inFlight = one
		go a.run(one)
	}
	a.mu.Unlock()
	select {
	case <-one.done:
		return one.token, joined, one.err
	case <-ctx.Done():
		return nil, joined, ctx.Err()
	}
}

// run calls the source's Token method once. It turns a panic into an error, because no caller could
// recover it. The value of a panic may contain a secret, unless it is the runtime's.
func (a *auth) run(one *tokenCall) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case runtime.Error:
			one.err = fmt.Errorf("token source: panicked: %w", value)
		default:
			one.err = fmt.Errorf("token source: panicked with a %T", value)
		}
		a.mu.Lock()
		a.inFlight = nil
		a.mu.Unlock()
		close(one.done)
	}()
	one.token, one.err = a.tokens.Token()
}

// renew makes the source drop the token that was refused. If the call may be retried, renew reports
// whether the source has a new token.
func (a *auth) renew(ctx context.Context, refused string, mayRetry bool) (bool, error) {
	if source, ok := a.tokens.(interface{ Invalidate(accessToken string) }); ok {
		source.Invalidate(refused)
	}
	if !mayRetry {
		return false, nil
	}
	fresh, joined, err := a.get(ctx)
	if err == nil && joined && fresh.AccessToken == refused { // the source was asked before the token was refused
		fresh, _, err = a.get(ctx)
	}
	return err == nil && fresh.AccessToken != refused, err
}

// redact removes the credentials from a text that came from outside and may repeat them. An empty
// token means the latest one.
func (a *auth) redact(text, token string) string {
	if latest := a.latest.Load(); token == "" && latest != nil {
		token = latest.token
	}
	return guard.Redact(text, a.apiKey, token)
}
