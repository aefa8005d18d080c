package token_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
)

var _ oauth2.TokenSource = (*token.RefreshSource)(nil)

func TestARefreshConfigIsCheckedBeforeAnyIO(t *testing.T) {
	for why, tc := range map[string]struct {
		change func(*token.RefreshConfig)
		want   string
	}{
		"http to another host":          {func(c *token.RefreshConfig) { c.TokenURL = "http://auth.example.com/token" }, "use https"},
		"no host":                       {func(c *token.RefreshConfig) { c.TokenURL = "https:///token" }, "host"},
		"no URL":                        {func(c *token.RefreshConfig) { c.TokenURL = "https://[hidden" }, "not a valid URL"},
		"nothing":                       {func(c *token.RefreshConfig) { c.TokenURL = "" }, "host"},
		"credentials in the URL":        {func(c *token.RefreshConfig) { c.TokenURL = "https://me:hidden@auth.example.com/token" }, "not contain credentials"},
		"a client without a name":       {func(c *token.RefreshConfig) { c.ClientID = "" }, "client ID"},
		"nothing to begin with":         {func(c *token.RefreshConfig) { c.RefreshToken = "" }, "refresh token"},
		"https":                         {func(*token.RefreshConfig) {}, ""},
		"a loopback address, for tests": {func(c *token.RefreshConfig) { c.TokenURL = "http://[::1]:8080/token" }, ""},
	} {
		config := aConfig("https://auth.example.com/token")
		tc.change(&config)
		_, err := token.NewRefreshSource(config)
		if tc.want == "" {
			assert.NoError(t, err, why)
			continue
		}
		require.ErrorContains(t, err, tc.want, why)
		assertSecretFree(t, err, "hidden", "refresh-1", "s3cret")
	}
}

func TestARefusedRefreshTokenAsksForASignInAndIsNotSentAgain(t *testing.T) {
	endpoint := answers(says(http.StatusBadRequest, `{"error":"invalid_grant","error_description":"refresh-1 is revoked"}`))
	source := overHTTP(t, endpoint)
	for range 3 {
		_, err := source.Token()
		require.ErrorIs(t, err, token.ErrReauthRequired)
		assert.EqualError(t, err, "get an access token: the token endpoint answered 400 invalid_grant: the refresh token is refused: sign in again")
		assertSecretFree(t, err, "refresh-1")
	}
	assert.Len(t, endpoint.sent(), 1, "asking again with the same token can only do harm")
}

func TestOneFlightServesAllCallers(t *testing.T) {
	endpoint := answers(grants("access-1", `"expires_in":43200`, `"refresh_token":"refresh-2"`), says(500, "a second flight"))
	source := overHTTP(t, endpoint)
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() {
			got, err := source.TokenContext(t.Context())
			if assert.NoError(t, err) {
				assert.Equal(t, "access-1", got.AccessToken)
			}
		})
	}
	callers.Wait()
	assert.Len(t, endpoint.sent(), 1)
}

func TestOnlyTheCurrentTokenIsInvalidated(t *testing.T) {
	endpoint := answers(grants("access-1"), grants("access-2"))
	source := overHTTP(t, endpoint)
	source.Invalidate("access-1") // nothing is there yet
	for _, step := range []struct{ refused, want, why string }{
		{"", "access-1", "the first one"},
		{"access-0", "access-1", "another one was refused"},
		{"access-1", "access-2", "it was refused"},
		{"access-1", "access-2", "a slow call finds that it was renewed already"},
	} {
		source.Invalidate(step.refused)
		got, err := source.Token()
		require.NoError(t, err)
		assert.Equal(t, step.want, got.AccessToken, step.why)
	}
}
