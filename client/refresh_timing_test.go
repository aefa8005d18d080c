package client_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
)

// inBubble returns a source of an endpoint that is reached without a socket.
func inBubble(t *testing.T, transport http.RoundTripper, change ...func(*client.RefreshConfig)) *client.RefreshTokenSource {
	t.Helper()
	config := refreshConfig("https://auth.invalid/oauth/token")
	config.HTTPClient = &http.Client{Transport: transport}
	return sourceOf(t, config, change...)
}

// after lets the bubble's time pass, and everything that is due then happen.
func tokenAfter(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func accessToken(t *testing.T, source *client.RefreshTokenSource) string {
	t.Helper()
	token, err := source.Token()
	require.NoError(t, err)
	return token.AccessToken
}

func TestTheContractOfARefreshTokenSource(t *testing.T) {
	for _, tc := range []struct {
		life, age string // of the token: what expires_in says, and how old it is when it is asked for
		got, then string // the token that a caller gets, and the one a moment later
		why       string
	}{
		{"43200", "11h49m59s", "access-1", "access-1", "fresh"},
		{"43200", "11h50m", "access-1", "access-2", "advisory: the old one at once, the new one when it is there"},
		{"43200", "11h59m29s", "access-1", "access-2", "advisory to its end"},
		{"43200", "11h59m30s", "access-2", "access-2", "mandatory: the caller waits"},
		{"43200", "12h", "access-2", "access-2", "it has expired"},
		{"43200", "900h", "access-2", "access-2", "long ago"},
		{"600", "7m29s", "access-1", "access-1", "a short one is fresh for three quarters"},
		{"600", "7m30s", "access-1", "access-2", "and advisory for the last one"},
		{"100", "1m29s", "access-1", "access-2", "advisory"},
		{"100", "1m30s", "access-2", "access-2", "mandatory in the last tenth"},
		{"", "8760h", "access-1", "access-1", "nobody says when it expires"},
	} {
		synctest.Test(t, func(t *testing.T) {
			answers := []http.HandlerFunc{grants("access-1"), grants("access-2", `"expires_in":43200`)}
			if tc.life != "" {
				answers[0] = grants("access-1", `"expires_in":`+tc.life)
			}
			source := inBubble(t, &tokenEndpoint{answers: answers})
			require.Equal(t, "access-1", accessToken(t, source))
			age, err := time.ParseDuration(tc.age)
			require.NoError(t, err)
			tokenAfter(age)

			assert.Equal(t, tc.got, accessToken(t, source), tc.why)
			synctest.Wait()
			assert.Equal(t, tc.then, accessToken(t, source), tc.why)
		})
	}
}

func TestAFailedBackgroundRefreshBacksOffAndTheTokenGoesOn(t *testing.T) {
	for range 5 { // the jitter differs
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"expires_in":43200`), func(w http.ResponseWriter, r *http.Request) {
				at = append(at, time.Now())
				tokenAnswer(http.StatusServiceUnavailable, "")(w, r)
			}}}
			source := inBubble(t, endpoint)
			accessToken(t, source)
			tokenAfter(12*time.Hour - 10*time.Minute)
			for range 9 * 60 * 10 { // callers come ten times a second until a minute before the expiry
				require.Equal(t, "access-1", accessToken(t, source))
				tokenAfter(100 * time.Millisecond)
			}
			for i, most := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute, time.Minute} {
				pause := at[i+1].Sub(at[i])
				assert.GreaterOrEqual(t, pause, most/2, "pause %d", i)
				assert.LessOrEqual(t, pause, most+100*time.Millisecond, "pause %d", i)
			}

			tokenAfter(time.Minute)
			_, err := source.Token()
			require.EqualError(t, err, "get an access token: the token endpoint answered 503", "now it is mandatory")
			tries := len(at)
			_, err = source.Token()
			require.Error(t, err)
			assert.Len(t, at, tries+1, "who needs a token does not wait for a pause")
			endpoint.answers = append(endpoint.answers[:1], grants("access-2", `"expires_in":43200`))
			assert.Equal(t, "access-2", accessToken(t, source))
		})
	}
}

func TestARefusalInTheBackgroundComesOutWhenTheTokenIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{grants("access-1", `"expires_in":43200`), tokenAnswer(400, `{"error":"invalid_grant"}`)}}
		source := inBubble(t, endpoint)
		accessToken(t, source)
		tokenAfter(12*time.Hour - 5*time.Minute)
		for range 4 {
			assert.Equal(t, "access-1", accessToken(t, source), "it is still good")
			tokenAfter(time.Minute)
		}
		tokenAfter(time.Minute)
		_, err := source.Token()
		require.ErrorIs(t, err, client.ErrSignInAgain)
		assert.Len(t, endpoint.sent(), 2)
	})
}

// gated answers when it is opened, and counts who came.
func gated(open <-chan struct{}, answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-open:
			answer(w, r)
		case <-r.Context().Done():
		}
	}
}

func TestACallersContextEndsItsWaitAndNotTheRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{gated(open, grants("access-1", `"expires_in":43200`))}}
		source := inBubble(t, endpoint)
		var wg sync.WaitGroup
		leaving, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for i := range 100 {
			ctx, want := leaving, context.DeadlineExceeded
			if i%2 == 0 {
				ctx, want = t.Context(), nil
			}
			wg.Go(func() {
				start := time.Now()
				token, err := source.TokenContext(ctx)
				if want != nil {
					assert.ErrorIs(t, err, want)
					assert.True(t, isA[*client.TokenError](err))
					assert.Equal(t, time.Second, time.Since(start))
					return
				}
				if assert.NoError(t, err) {
					assert.Equal(t, "access-1", token.AccessToken)
				}
			})
		}
		tokenAfter(10 * time.Second)
		close(open)
		wg.Wait()
		assert.Len(t, endpoint.sent(), 1, "one flight, the one whose first caller may have left")
	})
}

func TestARefreshHasATimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{gated(nil, nil)}}
		source := inBubble(t, endpoint)
		start := time.Now()
		_, err := source.Token()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "get an access token: the token endpoint did not answer: context deadline exceeded")
		assert.Equal(t, 30*time.Second, time.Since(start))
	})
}

func TestInvalidatingWorksOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := 0
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			count++
			grants("access-"+strconv.Itoa(count), `"expires_in":43200`)(w, r)
		}}}
		source := inBubble(t, endpoint)
		for range 180 { // a call each second, and each is answered 401, because the API key is blocked
			source.Invalidate(accessToken(t, source))
			tokenAfter(time.Second)
		}
		assert.Equal(t, 4, count, "the first token, and one for each minute")
	})
}

func TestCloseWaitsForTheRefreshAndEndsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		endpoint := &tokenEndpoint{answers: []http.HandlerFunc{
			grants("access-1", `"expires_in":3600`),
			gated(open, grants("access-2", `"expires_in":3600`, `"refresh_token":"refresh-2"`)),
		}}
		saved := ""
		source := inBubble(t, endpoint, func(c *client.RefreshConfig) {
			c.OnRotate = func(token string) error { saved = token; return nil }
		})
		accessToken(t, source)
		tokenAfter(55 * time.Minute)
		assert.Equal(t, "access-1", accessToken(t, source), "a refresh begins")
		time.AfterFunc(7*time.Second, func() { close(open) })

		start := time.Now()
		require.NoError(t, source.Close())

		assert.Equal(t, 7*time.Second, time.Since(start))
		assert.Equal(t, "refresh-2", saved, "a rotated token is not lost")
		require.NoError(t, source.Close(), "twice is fine")
		assert.Equal(t, "access-2", accessToken(t, source), "what it brought is used")
		tokenAfter(time.Hour)
		_, err := source.Token()
		require.EqualError(t, err, "get an access token: the refresh token source is closed")
		assert.Len(t, endpoint.sent(), 2)
	})
}

func TestARefreshEndsWithTheErrorOfTheNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := inBubble(t, transportFunc(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("a transport of one's own says " + secretRefresh)
		}), withSecrets)
		_, err := source.Token()
		require.True(t, isA[*client.TokenError](err))
		assertSecretFree(t, err, secretRefresh)
	})
}
