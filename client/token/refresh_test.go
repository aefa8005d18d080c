package token_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
)

var _ oauth2.TokenSource = (*token.RefreshSource)(nil)

func TestNewRefreshSource_ChecksConfig(t *testing.T) {
	for why, tc := range map[string]struct {
		change func(*token.RefreshConfig)
		ok     bool
	}{
		"https":            {func(*token.RefreshConfig) {}, true},
		"loopback":         {func(c *token.RefreshConfig) { c.TokenURL = "http://[::1]:8080/token" }, true},
		"http":             {func(c *token.RefreshConfig) { c.TokenURL = "http://auth.example.com/token" }, false},
		"no URL":           {func(c *token.RefreshConfig) { c.TokenURL = "" }, false},
		"invalid URL":      {func(c *token.RefreshConfig) { c.TokenURL = "https://[hidden" }, false},
		"credentials":      {func(c *token.RefreshConfig) { c.TokenURL = "https://me:hidden@auth.example.com/token" }, false},
		"no client ID":     {func(c *token.RefreshConfig) { c.ClientID = "" }, false},
		"no refresh token": {func(c *token.RefreshConfig) { c.RefreshToken = "" }, false},
		"a nil transport": {func(c *token.RefreshConfig) {
			c.HTTPClient = &http.Client{Transport: (*http.Transport)(nil)}
		}, false},
	} {
		config := testConfig("https://auth.example.com/token")
		tc.change(&config)
		_, err := token.NewRefreshSource(config)
		if tc.ok {
			assert.NoError(t, err, why)
			continue
		}
		require.Error(t, err, why)
		assertSecretFree(t, err, "hidden", "refresh-1", "s3cret")
	}
}

func TestRefreshSource_ZeroValue(t *testing.T) {
	var source token.RefreshSource
	for range 2 {
		_, err := source.Token()
		requireTokenError(t, err)
		source.Invalidate("access-1")
		require.NoError(t, source.Close())
	}
}

func TestRefreshSource_RefreshesByAge(t *testing.T) {
	for _, tc := range []struct {
		life, age string // expires_in of the token, and its age when a caller wants it
		got, then string // the token that the caller gets, and the token a moment later
		why       string
	}{
		{"43200", "11h49m59s", "access-1", "access-1", "fresh"},
		{"43200", "11h50m", "access-1", "access-2", "advisory"},
		{"43200", "11h59m29s", "access-1", "access-2", "end of advisory"},
		{"43200", "11h59m30s", "access-2", "access-2", "mandatory"},
		{"43200", "12h", "access-2", "access-2", "expired"},
		{"43200", "900h", "access-2", "access-2", "expired long ago"},
		{"600", "7m29s", "access-1", "access-1", "short life, fresh for three quarters"},
		{"600", "7m30s", "access-1", "access-2", "short life, advisory in the last quarter"},
		{"100", "1m29s", "access-1", "access-2", "shorter life, advisory"},
		{"100", "1m30s", "access-2", "access-2", "shorter life, mandatory in the last tenth"},
		{"", "8760h", "access-1", "access-1", "unknown expiry"},
	} {
		synctest.Test(t, func(t *testing.T) {
			first := respondGrant("access-1")
			if tc.life != "" {
				first = respondGrant("access-1", `"expires_in":`+tc.life)
			}
			source := inBubble(t, newEndpoint(first, respondGrant("access-2", `"expires_in":43200`)))
			require.Equal(t, "access-1", accessToken(t, source))
			age, err := time.ParseDuration(tc.age)
			require.NoError(t, err)
			advance(age)

			assert.Equal(t, tc.got, accessToken(t, source), tc.why)
			synctest.Wait()
			assert.Equal(t, tc.then, accessToken(t, source), tc.why)
		})
	}
}

// TestRefreshSource_ExpiredTokenLastsMinute has an endpoint whose tokens are expired by this clock
// when they are issued.
func TestRefreshSource_ExpiredTokenLastsMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := newEndpoint(respondGrant(expiredJWT))
		source := inBubble(t, endpoint)
		for range 600 {
			assert.Equal(t, expiredJWT, accessToken(t, source))
			advance(time.Second)
		}
		assert.Len(t, endpoint.sent(), 10, "one request a minute")
	})
}

// TestRefreshSource_RunsOneRefresh has callers wait for one refresh. It continues when they leave.
func TestRefreshSource_RunsOneRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		endpoint := newEndpoint(respondAfter(open, respondGrant("access-1", `"expires_in":43200`)))
		source := inBubble(t, endpoint)
		var callers sync.WaitGroup
		leaving, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for i := range 100 {
			ctx, want := leaving, context.DeadlineExceeded
			if i%2 == 0 {
				ctx, want = t.Context(), nil
			}
			callers.Go(func() {
				start := time.Now()
				got, err := source.TokenContext(ctx)
				if want != nil {
					assert.ErrorIs(t, err, want)
					requireTokenError(t, err)
					assert.Equal(t, time.Second, time.Since(start))
					return
				}
				if assert.NoError(t, err) {
					assert.Equal(t, "access-1", got.AccessToken)
				}
			})
		}
		advance(10 * time.Second)
		close(open)
		callers.Wait()
		assert.Len(t, endpoint.sent(), 1)
	})
}

func TestRefreshSource_InvalidatesCurrentToken(t *testing.T) {
	endpoint := newEndpoint(respondGrant("access-1"), respondGrant("access-2"))
	source := overHTTP(t, endpoint)
	source.Invalidate("access-1") // there is no token yet
	for _, step := range []struct{ refused, want, why string }{
		{"", "access-1", "no token was refused"},
		{"access-0", "access-1", "another token was refused"},
		{"access-1", "access-2", "the current token was refused"},
		{"access-1", "access-2", "the previous token was refused"},
	} {
		source.Invalidate(step.refused)
		assert.Equal(t, step.want, accessToken(t, source), step.why)
	}
}

func TestRefreshSource_InvalidatesOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := 0
		source := inBubble(t, newEndpoint(func(w http.ResponseWriter, r *http.Request) {
			count++
			respondGrant("access-"+strconv.Itoa(count), `"expires_in":43200`)(w, r)
		}))
		for range 180 { // each second a call gets a 401, for another reason than the token
			source.Invalidate(accessToken(t, source))
			advance(time.Second)
		}
		assert.Equal(t, 4, count, "the first token, and one a minute")
	})
}
