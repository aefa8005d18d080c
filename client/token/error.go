package token

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// ErrRefused marks a [Error] that no retry will cure: the token endpoint refused what the configuration has it sent, so
// that the same request would be refused again. These codes are of that kind: invalid_grant, which also Is
// [ErrReauthRequired], invalid_client, invalid_request, invalid_scope, invalid_target, unauthorized_client and
// unsupported_grant_type. Not of that kind are codes that the service or the seller can lift, after which the same
// request is granted (access_denied, consent_required, temporarily_unavailable, ...), codes that are not standard,
// and any code under a status of 408, 429 or 5xx.
var ErrRefused = errors.New("the token endpoint refuses this configuration: correct it")

// ErrReauthRequired marks a [Error] that is [ErrRefused] because the refresh token is not accepted.
var ErrReauthRequired = errors.New("the refresh token is refused: sign in again")

// Error reports that no access token could be had, so that the request was not sent. Its text leaves out the
// token endpoint's answer, which may repeat secrets; Unwrap returns the cause with all of it.
type Error struct {
	Err     error
	RetryAt time.Time // When the source tries again at the earliest; zero if it does not say.
}

func (e *Error) Error() string {
	text := e.text()
	if !e.RetryAt.IsZero() {
		text += " (next try at " + e.RetryAt.UTC().Format(time.RFC3339) + ")"
	}
	return text
}

func (e *Error) text() string {
	answer, ok := errors.AsType[*oauth2.RetrieveError](e.Err)
	if !ok {
		return "get an access token: " + e.Err.Error()
	}
	code := answer.ErrorCode
	if strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		code = "with words of its own" // prose, not a code of RFC 6749
	}
	text := "get an access token: refused"
	if answer.Response != nil {
		text = fmt.Sprintf("get an access token: the token endpoint answered %d", answer.Response.StatusCode)
	}
	switch {
	case e.Is(ErrReauthRequired):
		code += ": " + ErrReauthRequired.Error()
	case e.Is(ErrRefused):
		code += ": " + ErrRefused.Error()
	}
	return strings.TrimRight(text+" "+code, " ")
}

// Is matches [ErrRefused] and [ErrReauthRequired] by the token endpoint's code, whatever source asked for the token.
func (e *Error) Is(target error) bool {
	answer, ok := errors.AsType[*oauth2.RetrieveError](e.Err)
	if !ok || answer.Response != nil && mayPass(answer.Response.StatusCode) {
		return false
	}
	switch answer.ErrorCode {
	case "invalid_grant":
		return target == ErrReauthRequired || target == ErrRefused
	case "invalid_client", "invalid_request", "invalid_scope", "invalid_target", "unauthorized_client", "unsupported_grant_type":
		return target == ErrRefused
	default:
		return false
	}
}

// mayPass reports whether a status says that the server could not decide now, whatever code is beside it.
func mayPass(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// Unwrap returns the token source's error.
func (e *Error) Unwrap() error { return e.Err }
