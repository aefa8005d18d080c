package token

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// ErrRefused marks an [Error] that no retry can fix: the token endpoint refused the configuration,
// so it would refuse the same request again. Its codes are invalid_grant, which also Is
// [ErrReauthRequired], invalid_client, invalid_request, invalid_scope, invalid_target,
// unauthorized_client and unsupported_grant_type.
//
// An Error is not ErrRefused if the status is 408, 429 or 5xx, if the code is not standard, or if
// the service or the seller can remove the cause (access_denied, consent_required,
// temporarily_unavailable, ...).
var ErrRefused = errors.New("the token endpoint refused the configuration: correct it")

// ErrReauthRequired marks an [Error] that is [ErrRefused] because the refresh token is not accepted
// any more: the seller must authenticate again.
var ErrReauthRequired = errors.New("the refresh token was refused: reauthenticate")

// Error reports that there is no access token, so that the request was not sent. Its text does not
// quote the response of the token endpoint, which may repeat secrets. Unwrap returns the error of
// the token source, which may quote it.
type Error struct {
	Err     error
	RetryAt time.Time // The earliest time of the next attempt; zero if it is unknown.
}

func (e *Error) Error() string {
	text := "get an access token: " + e.reason()
	if !e.RetryAt.IsZero() {
		text += " (next attempt at " + e.RetryAt.UTC().Format(time.RFC3339) + ")"
	}
	return text
}

func (e *Error) reason() string {
	failed, ok := errors.AsType[*oauth2.RetrieveError](e.Err)
	if !ok {
		return e.Err.Error()
	}
	text := "refused"
	if failed.Response != nil {
		text = fmt.Sprintf("the token endpoint responded %d", failed.Response.StatusCode)
	}
	switch {
	case failed.ErrorCode == "":
	case strings.Trim(failed.ErrorCode, "abcdefghijklmnopqrstuvwxyz_") == "":
		text += " " + failed.ErrorCode
	default: // prose, which may quote a secret, instead of a code of RFC 6749
		text += " (nonstandard error code)"
	}
	for _, sentinel := range []error{ErrReauthRequired, ErrRefused} {
		if e.Is(sentinel) {
			return text + ": " + sentinel.Error()
		}
	}
	return text
}

// Is matches [ErrRefused] and [ErrReauthRequired] by the code of the token endpoint, for errors of
// any token source that returns an [oauth2.RetrieveError].
func (e *Error) Is(target error) bool {
	failed, ok := errors.AsType[*oauth2.RetrieveError](e.Err)
	if !ok || failed.Response != nil && isTransient(failed.Response.StatusCode) {
		return false
	}
	switch failed.ErrorCode {
	case "invalid_grant":
		return target == ErrReauthRequired || target == ErrRefused
	case "invalid_client", "invalid_request", "invalid_scope", "invalid_target",
		"unauthorized_client", "unsupported_grant_type":
		return target == ErrRefused
	default:
		return false
	}
}

// isTransient reports whether a status means that the server could not decide now. Any code in such
// a response is ignored.
func isTransient(status int) bool {
	return status >= 500 ||
		status == http.StatusTooManyRequests ||
		status == http.StatusRequestTimeout
}

// Unwrap returns the error of the token source.
func (e *Error) Unwrap() error { return e.Err }
