package token

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/oauth2"
)

// ErrSignInAgain marks a [Error] that no retry will cure: the token endpoint refused the refresh token.
var ErrSignInAgain = errors.New("the refresh token is refused: sign in again")

// Error reports that no access token could be had, so that the request was not sent. Its text leaves out the
// token endpoint's answer, which may repeat secrets; Unwrap returns the cause with all of it.
type Error struct{ Err error }

func (e *Error) Error() string {
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
func (e *Error) Is(target error) bool {
	answer, ok := errors.AsType[*oauth2.RetrieveError](e.Err)
	return ok && target == ErrSignInAgain && answer.ErrorCode == "invalid_grant"
}

// Unwrap returns the token source's error.
func (e *Error) Unwrap() error { return e.Err }
