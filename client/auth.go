package client

import (
	"cmp"
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

// auth adds the credentials of section 5 of the service's document to every attempt.
type auth struct {
	apiKey   string
	tokens   oauth2.TokenSource
	lifetime *lifetime
	latest   atomic.Value // The access token of the last attempt of any call, a string.

	mu     sync.Mutex
	asking *asking // Nil unless the source is being asked by a goroutine.
}

// asking is one call of a source's Token method; token and err are there once done is closed.
type asking struct {
	done  chan struct{}
	token *oauth2.Token
	err   error
}

// authorize adds the credentials to an attempt. It asks for the token each time, because an attempt may come long after
// the one before.
func (a *auth) authorize(req *http.Request) (*oauth2.Token, error) {
	token, _, err := a.get(req.Context())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", callOf(req).op.ID, err)
	}
	callOf(req).token = token.AccessToken
	a.latest.Store(token.AccessToken)
	req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	req.Header.Set("X-Api-Key", a.apiKey)
	return token, nil
}

// get returns the source's access token. It waits no longer than ctx, and not beyond the end of the client; joined
// reports whether the source was asked before get was called.
func (a *auth) get(ctx context.Context) (got *oauth2.Token, joined bool, err error) {
	if a.lifetime.over() {
		return nil, false, ErrClosed
	}
	ctx, cancel := a.lifetime.within(ctx)
	defer cancel()
	got, joined, err = a.ask(ctx)
	if err != nil && errors.Is(context.Cause(ctx), ErrClosed) {
		return nil, joined, ErrClosed
	}
	if failed, ok := errors.AsType[*token.Error](err); ok {
		return nil, joined, failed
	}
	if err != nil {
		return nil, joined, &token.Error{Err: err}
	}
	if got == nil || guard.Header(got.AccessToken) != nil {
		return nil, joined, &token.Error{Err: errors.New("the source returned a token that no header can carry")}
	}
	return got, joined, nil
}

// ask asks the source. One that takes no context is asked by one goroutine at a time, which may outlive its callers
// and the client; callers that come meanwhile wait for the same result.
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
	one := a.asking
	joined = one != nil
	if !joined {
		one = &asking{done: make(chan struct{}), err: errors.New("the token source ended its goroutine")}
		a.asking = one
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

// run makes one call of the source's Token method. A panic is the callers' error, because none of them could recover
// it; its value may hold a secret unless it is the runtime's.
func (a *auth) run(one *asking) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case runtime.Error:
			one.err = fmt.Errorf("the token source panicked: %w", value)
		default:
			one.err = fmt.Errorf("the token source panicked with a %T", value)
		}
		a.mu.Lock()
		a.asking = nil
		a.mu.Unlock()
		close(one.done)
	}()
	one.token, one.err = a.tokens.Token()
}

// renewed has the source drop the token that was refused. If there is another attempt for it, it reports whether
// the source has another one, or why it has none.
func (a *auth) renewed(ctx context.Context, refused string, another bool) (bool, error) {
	if source, ok := a.tokens.(interface{ Invalidate(accessToken string) }); ok {
		source.Invalidate(refused)
	}
	if !another {
		return false, nil
	}
	fresh, joined, err := a.get(ctx)
	if err == nil && joined && fresh.AccessToken == refused { // the source was asked before the token was refused
		fresh, _, err = a.get(ctx)
	}
	return err == nil && fresh.AccessToken != refused, err
}

// redact takes the credentials out of text that came from outside and may repeat them. Where it is not known which
// token they were sent with, it is the latest.
func (a *auth) redact(text, token string) string {
	latest, _ := a.latest.Load().(string)
	return guard.Redact(text, a.apiKey, cmp.Or(token, latest))
}
