package token_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
)

func TestAnErrorTellsTheCodeAndNotTheWords(t *testing.T) {
	for _, tc := range []struct {
		status      int // of the answer, if there is one
		cause       error
		want        string
		refused     bool
		signInAgain bool
		why         string
	}{
		{0, errors.New("the disk is full"), "get an access token: the disk is full", false, false, "a cause of one's own speaks for itself"},
		{400, &oauth2.RetrieveError{ErrorCode: "invalid_grant", ErrorDescription: secretRefresh}, "get an access token: the token endpoint answered 400 invalid_grant: the refresh token is refused: sign in again", true, true, "no retry cures it"},
		{401, &oauth2.RetrieveError{ErrorCode: "invalid_client", Body: []byte(secretRefresh)}, "get an access token: the token endpoint answered 401 invalid_client: the token endpoint refuses this configuration: correct it", true, false, "a code of RFC 6749"},
		{400, &oauth2.RetrieveError{ErrorCode: "no " + secretRefresh}, "get an access token: the token endpoint answered 400 with words of its own", false, false, "prose may repeat a secret"},
		{502, &oauth2.RetrieveError{}, "get an access token: the token endpoint answered 502", false, false, "no code at all"},
		{0, &oauth2.RetrieveError{ErrorCode: "invalid_grant"}, "get an access token: refused invalid_grant: the refresh token is refused: sign in again", true, true, "a source of one's own has no response"},
		{0, &oauth2.RetrieveError{}, "get an access token: refused", false, false, "nor has this one a code"},
	} {
		if answer, ok := errors.AsType[*oauth2.RetrieveError](tc.cause); ok && tc.status != 0 {
			answer.Response = &http.Response{StatusCode: tc.status}
		}
		err := error(&token.Error{Err: tc.cause})
		assert.EqualError(t, err, tc.want, tc.why)
		assert.Equal(t, tc.refused, errors.Is(err, token.ErrRefused), tc.why)
		assert.Equal(t, tc.signInAgain, errors.Is(err, token.ErrReauthRequired), tc.why)
		assert.ErrorIs(t, err, tc.cause, "who needs the cause unwraps it")
	}
}
