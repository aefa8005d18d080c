package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/internal/guard"
	"github.com/sellside-sdk/sellside-go/token"
)

// RefreshTokenSource renews access tokens with a refresh token; see package token.
type RefreshTokenSource = token.RefreshSource

// RefreshConfig says how to renew access tokens; see package token.
type RefreshConfig = token.RefreshConfig

// TokenError reports that no access token could be had, so that the request was not sent; see package token.
type TokenError = token.Error

// Sentinels of a [TokenError].
var (
	ErrSignInAgain  = token.ErrSignInAgain
	ErrTokenRefused = token.ErrRefused
	ErrTokenExpired = token.ErrExpired
)

// NewRefreshTokenSource returns a source for [WithTokenSource]; see package token. It does no I/O.
func NewRefreshTokenSource(config RefreshConfig) (*RefreshTokenSource, error) {
	return token.NewRefreshSource(config)
}

// auth adds the credentials of section 5 of the service's document to every attempt.
type auth struct {
	apiKey string
	tokens oauth2.TokenSource
	latest atomic.Value // The access token of the last attempt of any call, a string.
}

// inject asks for the token anew on each attempt, because an attempt may come long after the one before.
func (a *auth) inject(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		bearer, err := a.token(req.Context())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", callOf(req).op.ID, err)
		}
		callOf(req).token = bearer
		a.latest.Store(bearer)
		req.Header.Set("Authorization", "Bearer "+bearer)
		req.Header.Set("X-Api-Key", a.apiKey)
		return next.Do(req)
	})
}

func (a *auth) token(ctx context.Context) (string, error) {
	get := a.tokens.Token
	if source, ok := a.tokens.(interface {
		TokenContext(context.Context) (*oauth2.Token, error)
	}); ok {
		get = func() (*oauth2.Token, error) { return source.TokenContext(ctx) }
	}
	got, err := get()
	if failed, ok := errors.AsType[*TokenError](err); ok {
		return "", failed
	}
	if err != nil {
		return "", &TokenError{Err: err}
	}
	if got == nil || guard.Header(got.AccessToken) != nil {
		return "", &TokenError{Err: errors.New("the source returned a token that no header can carry")}
	}
	return got.AccessToken, nil
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
	fresh, err := a.token(ctx)
	return err == nil && fresh != refused, err
}

// redact takes the credentials out of text that came from outside and may repeat them. Where it is not known which
// token they were sent with, it is the latest.
func (a *auth) redact(text, token string) string {
	latest, _ := a.latest.Load().(string)
	return guard.Redact(text, a.apiKey, cmp.Or(token, latest))
}
