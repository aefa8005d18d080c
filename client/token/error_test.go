package token_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// TestError_Is has errors of any token source. TestRefreshSource_StopsWhenRefused has all codes.
func TestError_Is(t *testing.T) {
	for _, tc := range []struct {
		status  int // Of the response; zero for an error without one.
		cause   error
		refused bool
		reauth  bool
		why     string
	}{
		{0, errors.New("the disk is full"), false, false, "an error of another type"},
		{400, &oauth2.RetrieveError{ErrorCode: "invalid_grant", ErrorDescription: secretRefresh}, true, true, "the refresh token"},
		{401, &oauth2.RetrieveError{ErrorCode: "invalid_client", Body: []byte(secretRefresh)}, true, false, "another code"},
		{400, &oauth2.RetrieveError{ErrorCode: "no " + secretRefresh}, false, false, "prose instead of a code"},
		{502, &oauth2.RetrieveError{}, false, false, "no code"},
		{0, &oauth2.RetrieveError{ErrorCode: "invalid_grant"}, true, true, "no response"},
		{0, &oauth2.RetrieveError{}, false, false, "neither a response nor a code"},
	} {
		if failed, ok := errors.AsType[*oauth2.RetrieveError](tc.cause); ok && tc.status != 0 {
			failed.Response = &http.Response{StatusCode: tc.status}
		}
		err := error(&token.Error{Err: tc.cause})
		assert.Equal(t, tc.refused, errors.Is(err, token.ErrRefused), tc.why)
		assert.Equal(t, tc.reauth, errors.Is(err, token.ErrReauthRequired), tc.why)
		assert.ErrorIs(t, err, tc.cause, tc.why)
		assert.NotContains(t, err.Error(), secretRefresh, tc.why)
	}
}
