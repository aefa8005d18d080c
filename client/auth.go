package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// auth adds the credentials of section 5 of the service's document to every attempt.
type auth struct {
	apiKey string
	tokens oauth2.TokenSource
}

// inject asks for the token anew on each attempt, because an attempt may come long after the one before.
func (a *auth) inject(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		token, err := a.token(req.Context())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", callOf(req).op.ID, err)
		}
		callOf(req).token = token
		req.Header.Set("Authorization", "Bearer "+token)
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
	token, err := get()
	if failed, ok := errors.AsType[*TokenError](err); ok {
		return "", failed
	}
	if err != nil {
		return "", &TokenError{Err: err}
	}
	if token == nil || checkHeaderValue("", token.AccessToken) != nil {
		return "", &TokenError{Err: errors.New("the source returned a token that no header can carry")}
	}
	return token.AccessToken, nil
}

// renewed reports whether the source has another token than the one that was refused.
func (a *auth) renewed(ctx context.Context, refused string) bool {
	if source, ok := a.tokens.(interface{ Invalidate(accessToken string) }); ok {
		source.Invalidate(refused)
	}
	token, err := a.token(ctx)
	return err == nil && token != refused
}

// redact takes the credentials out of text that came from outside and may repeat them.
func (a *auth) redact(text, token string) string {
	for _, secret := range []string{a.apiKey, token} {
		for _, form := range []string{secret, strings.ReplaceAll(secret, "/", `\/`), url.QueryEscape(secret)} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[redacted]")
			}
		}
	}
	return text
}

// Format implements [fmt.Formatter], so that no verb prints the credentials.
func (a *auth) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "client.auth") }

// ErrSignInAgain marks a [TokenError] that no retry will cure: the token endpoint refused the refresh token.
var ErrSignInAgain = errors.New("the refresh token is refused: sign in again")

// TokenError reports that no access token could be had, so that nothing was sent. Its text leaves out the
// token endpoint's answer, which may repeat secrets; Unwrap returns the cause with all of it.
type TokenError struct{ Err error }

func (e *TokenError) Error() string {
	if answer, ok := errors.AsType[*oauth2.RetrieveError](e.Err); ok {
		code := answer.ErrorCode
		if strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
			code = "with words of its own" // prose, not a code of RFC 6749
		}
		text := "get an access token: refused"
		if answer.Response != nil {
			text = fmt.Sprintf("get an access token: the token endpoint answered %d", answer.Response.StatusCode)
		}
		if e.Is(ErrSignInAgain) {
			code += ": " + ErrSignInAgain.Error()
		}
		return strings.TrimRight(text+" "+code, " ")
	}
	return "get an access token: " + e.Err.Error()
}

// Is matches [ErrSignInAgain] when the token endpoint answered invalid_grant, whatever source asked it.
func (e *TokenError) Is(target error) bool {
	answer, ok := errors.AsType[*oauth2.RetrieveError](e.Err)
	return ok && target == ErrSignInAgain && answer.ErrorCode == "invalid_grant"
}

// Unwrap returns the token source's error.
func (e *TokenError) Unwrap() error { return e.Err }
