package token_test

import (
	"context"
	"errors"
	"maps"
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

// arrivals counts the requests of a token endpoint, and how many it has at a time.
type arrivals struct {
	mu        sync.Mutex
	at        []time.Time
	now, most int
}

// around lets a handler take 100 ms.
func (a *arrivals) around(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.at = append(a.at, time.Now())
		a.now++
		a.most = max(a.most, a.now)
		a.mu.Unlock()
		defer func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.now--
		}()
		<-time.After(100 * time.Millisecond)
		handler(w, r)
	}
}

// pauses returns the times from the end of one request to the next.
func (a *arrivals) pauses() []time.Duration {
	var between []time.Duration
	for i := 1; i < len(a.at); i++ {
		between = append(between, a.at[i].Sub(a.at[i-1])-100*time.Millisecond)
	}
	return between
}

var errFullDisk = errors.New("the disk is full")

func TestRefreshSource_PausesInEveryState(t *testing.T) {
	down := says(http.StatusServiceUnavailable, "")
	for why, tc := range map[string]struct {
		before []http.HandlerFunc // What comes before the failures, if it is not a failure itself.
		fails  http.HandlerFunc
		begin  func(t *testing.T, source *token.RefreshSource)
		posts  int // The requests after those before; zero for one each try.
	}{
		"there was never a token": {fails: down},
		"the token has expired": {
			before: []http.HandlerFunc{grants("access-1", `"expires_in":60`)}, fails: down,
			begin: func(t *testing.T, source *token.RefreshSource) {
				t.Helper()
				accessToken(t, source)
				after(time.Minute)
			},
		},
		"the token was invalidated": {
			before: []http.HandlerFunc{grants("access-1", `"expires_in":43200`)}, fails: down,
			begin: func(t *testing.T, source *token.RefreshSource) { t.Helper(); source.Invalidate(accessToken(t, source)) },
		},
		"it is too much":                      {fails: says(http.StatusTooManyRequests, "")},
		"a code that a person may lift":       {fails: says(http.StatusForbidden, `{"error":"access_denied"}`)},
		"a success without a token":           {fails: says(http.StatusOK, `{}`)},
		"a success that is no JSON":           {fails: says(http.StatusOK, `busy`)},
		"a network that breaks off":           {fails: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"a rotated token that cannot be kept": {fails: grants("access-2", `"expires_in":43200`, `"refresh_token":"refresh-2"`), posts: 1},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen arrivals
				var saves []time.Time
				answers := answers(append(tc.before, seen.around(tc.fails))...)
				transport := transportFunc(func(r *http.Request) (resp *http.Response, err error) {
					defer func() {
						if recover() != nil {
							resp, err = nil, errors.New("the connection was reset")
						}
					}()
					return answers.RoundTrip(r)
				})
				source := sourceWithoutEnd(t, transport, func(c *token.RefreshConfig) {
					c.OnRotate = func(context.Context, string) error { saves = append(saves, time.Now()); return errFullDisk }
				})
				if tc.begin != nil {
					tc.begin(t, source)
				}
				start := time.Now()
				var callers sync.WaitGroup
				for range 2700 { // two callers each millisecond and a half, for 2 s
					for range 2 {
						callers.Go(func() {
							ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
							defer cancel()
							_, err := source.TokenContext(ctx)
							requireTokenError(t, err)
						})
					}
					<-time.After(740 * time.Microsecond)
				}
				callers.Wait()
				require.Len(t, seen.at, 1, "at the old commit one for each caller")
				for time.Since(start) < 20*time.Minute { // one caller, who comes again at once
					_, err := source.Token()
					requireTokenError(t, err)
				}
				assert.Equal(t, 1, seen.most, "one at a time")
				if tc.posts > 0 {
					assert.Len(t, seen.at, tc.posts)
					seen.at = saves // with 100 ms less
				}
				require.Greater(t, len(seen.at), 18)
				for i, pause := range seen.pauses() {
					longest := min(5*time.Second<<min(i, 4), time.Minute)
					assert.GreaterOrEqual(t, pause, longest/2-100*time.Millisecond, "pause %d", i)
					assert.LessOrEqual(t, pause, longest, "pause %d", i)
				}
			})
		})
	}
}

// sourceWithoutEnd is inBubble for a source whose Close may fail.
func sourceWithoutEnd(t *testing.T, transport http.RoundTripper, change func(*token.RefreshConfig)) *token.RefreshSource {
	t.Helper()
	config := aConfig("https://auth.invalid/oauth/token")
	config.HTTPClient = &http.Client{Transport: transport}
	change(&config)
	source, err := token.NewRefreshSource(config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = source.Close() })
	return source
}

func TestRefreshSource_ObeysRetryAfter(t *testing.T) {
	const now = "Sat, 01 Jan 2000 00:00:00 GMT" // when a bubble begins
	for _, tc := range []struct {
		header      http.Header
		least, most time.Duration
		why         string
	}{
		{http.Header{}, 2500 * time.Millisecond, 5 * time.Second, "nothing is asked for"},
		{http.Header{"Retry-After": {"90"}}, 90 * time.Second, 90 * time.Second, "seconds"},
		{http.Header{"Retry-After": {"1"}}, 2500 * time.Millisecond, 5 * time.Second, "less than the pause that grows"},
		{http.Header{"Retry-After": {"-90"}}, 2500 * time.Millisecond, 5 * time.Second, "not above zero"},
		{http.Header{"Retry-After": {"soon"}}, 2500 * time.Millisecond, 5 * time.Second, "neither seconds nor a date"},
		{http.Header{"Retry-After": {"1.5e3"}}, 2500 * time.Millisecond, 5 * time.Second, "no whole number"},
		{http.Header{"Retry-After": {"86400"}}, 24 * time.Hour, 24 * time.Hour, "a day"},
		{http.Header{"Retry-After": {"86401"}}, 24 * time.Hour, 24 * time.Hour, "a day at most"},
		{http.Header{"Retry-After": {"99999999999999999999"}}, 24 * time.Hour, 24 * time.Hour, "a number that no integer holds"},
		{http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:02:00 GMT"}}, 2 * time.Minute, 2 * time.Minute, "a date, by this clock if there is no other"},
		{http.Header{"Retry-After": {"Sun, 01 Jan 2023 00:02:00 GMT"}, "Date": {"Sun, 01 Jan 2023 00:00:00 GMT"}}, 2 * time.Minute, 2 * time.Minute, "a date, by the service's clock"},
		{http.Header{"Retry-After": {"Fri, 31 Dec 1999 23:59:00 GMT"}, "Date": {now}}, 2500 * time.Millisecond, 5 * time.Second, "a date that is past"},
		{http.Header{"Retry-After": {"Fri, 31 Dec 9999 23:59:59 GMT"}, "Date": {now}}, 24 * time.Hour, 24 * time.Hour, "a date at the end of time"},
	} {
		for _, status := range []int{429, 503, 400} {
			synctest.Test(t, func(t *testing.T) {
				var seen arrivals
				source := inBubble(t, answers(seen.around(func(w http.ResponseWriter, _ *http.Request) {
					maps.Copy(w.Header(), tc.header)
					w.WriteHeader(status)
				}), seen.around(grants("access-1", `"expires_in":43200`))))
				_, err := source.Token()
				failed := tokenErrorOf(t, err)
				pause := time.Until(failed.RetryAt)
				assert.GreaterOrEqual(t, pause, tc.least, "%d: %s", status, tc.why)
				assert.LessOrEqual(t, pause, tc.most, "%d: %s", status, tc.why)

				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Hour)
				defer cancel()
				_, err = source.TokenContext(ctx)
				require.NoError(t, err, "%d: %s", status, tc.why)
				assert.Equal(t, pause, seen.pauses()[0], "%d: %s", status, tc.why)
			})
		}
	}
}

// TestRefreshSource_WaitsForThePauseInTime has callers come 10 s after a failure that asked for a pause.
func TestRefreshSource_WaitsForThePauseInTime(t *testing.T) {
	const minutes = 60 * time.Second
	for _, tc := range []struct {
		pause   time.Duration // that Retry-After asks for
		timeout time.Duration // of the caller; zero for none
		took    time.Duration
		ok      bool
		why     string
	}{
		{minutes, 0, 50 * time.Second, true, "it waits without a deadline"},
		{minutes, 50*time.Second + 1, 50 * time.Second, true, "it waits up to its deadline"},
		{minutes, 50 * time.Second, 0, false, "the pause ends with its deadline"},
		{minutes, time.Second, 0, false, "the pause outlasts its deadline"},
		{30*minutes + 9*time.Second, 0, 30*minutes - time.Second, true, "without a deadline it waits for half an hour"},
		{30*minutes + 11*time.Second, 0, 0, false, "and no longer"},
		{24 * 60 * minutes, 25 * 60 * minutes, 24*60*minutes - 10*time.Second, true, "with one it waits for a day"},
	} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := answers(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", strconv.Itoa(int(tc.pause/time.Second)))
				says(http.StatusServiceUnavailable, "")(w, r)
			}, grants("access-1", `"expires_in":43200`))
			source := inBubble(t, endpoint)
			_, first := source.Token()
			retryAt := time.Now().Add(tc.pause)
			assert.True(t, tokenErrorOf(t, first).RetryAt.Equal(retryAt), tc.why)
			after(10 * time.Second)
			ctx := t.Context()
			if tc.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tc.timeout)
				defer cancel()
			}
			start := time.Now()
			got, err := source.TokenContext(ctx)
			assert.Equal(t, tc.took, time.Since(start), tc.why)
			if !tc.ok {
				assert.Nil(t, got)
				assert.Same(t, first, err, "%s: the last error", tc.why)
				assert.NotErrorIs(t, err, context.DeadlineExceeded)
				after(tc.pause)
				assert.Len(t, endpoint.sent(), 1, "%s: no request is made for a caller that does not wait", tc.why)
				return
			}
			require.NoError(t, err, tc.why)
			assert.Equal(t, "access-1", got.AccessToken)
		})
	}
}

func TestRefreshSource_CallerLeavesThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := answers(says(http.StatusServiceUnavailable, ""), grants("access-1", `"expires_in":43200`))
		source := inBubble(t, endpoint)
		_, err := source.Token()
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err = source.TokenContext(ctx)
		require.ErrorIs(t, err, context.Canceled)
		requireTokenError(t, err)
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, "access-1", accessToken(t, source), "another caller waits for the same refresh")
		assert.Len(t, endpoint.sent(), 2)
	})
}

func TestRefreshSource_EndsForGood(t *testing.T) {
	for _, tc := range []struct {
		status        int
		code          string
		refused, sign bool
		why           string
	}{
		{400, "invalid_grant", true, true, "another refresh token is needed"},
		{401, "invalid_client", true, false, "the ID or the secret of the client is wrong"},
		{400, "invalid_request", true, false, "the request is made of the configuration alone"},
		{400, "invalid_scope", true, false, "so is what it asks for"},
		{400, "invalid_target", true, false, "and the audience"},
		{403, "unauthorized_client", true, false, "the client may not use the grant"},
		{400, "unsupported_grant_type", true, false, "the endpoint does not know the grant"},
		{200, "invalid_client", true, false, "the code counts, even under a success"},
		{503, "invalid_grant", false, false, "a server that fails cannot refuse"},
		{429, "invalid_client", false, false, "nor one that has too much to do"},
		{408, "invalid_request", false, false, "nor one that got half of the request"},
		{403, "access_denied", false, false, "the service may lift it"},
		{400, "consent_required", false, false, "the seller may give it"},
		{400, "interaction_required", false, false, "the seller may do so"},
		{400, "temporarily_unavailable", false, false, "it says so"},
		{400, "slow_down", false, false, "it says so"},
		{400, "server_error", false, false, "it says so"},
		{400, "bad_verification_code", false, false, "not a standard code"},
		{401, "", false, false, "no code"},
	} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := answers(says(tc.status, `{"error":"`+tc.code+`","error_description":"refresh-1"}`))
			source := inBubble(t, endpoint)
			for range 3 {
				_, err := source.Token()
				failed := tokenErrorOf(t, err)
				assert.Equal(t, tc.refused, errors.Is(err, token.ErrRefused), tc.why)
				assert.Equal(t, tc.sign, errors.Is(err, token.ErrReauthRequired), tc.why)
				assert.Equal(t, tc.refused, failed.RetryAt.IsZero(), tc.why)
				_, kept := errors.AsType[*oauth2.RetrieveError](err)
				assert.True(t, kept, tc.why)
				assertSecretFree(t, err, "refresh-1")
			}
			want := 3
			if tc.refused {
				want = 1
			}
			assert.Len(t, endpoint.sent(), want, tc.why)
			after(48 * time.Hour)
			_, err := source.Token()
			require.Error(t, err)
			if tc.refused {
				assert.Len(t, endpoint.sent(), 1, "%s: no time helps", tc.why)
			}
		})
	}
}

// An endpoint whose tokens are past when they come, by this clock, is asked once a minute and not for each caller.
func TestRefreshSource_PastExpiryLastsAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := answers(grants(passing))
		source := inBubble(t, endpoint)
		for range 600 {
			assert.Equal(t, passing, accessToken(t, source))
			after(time.Second)
		}
		assert.Len(t, endpoint.sent(), 10)
	})
}

func TestRefreshSource_NeverRepeatsByItself(t *testing.T) {
	var request *http.Request
	endpoint := answers(grants("access-1"))
	source := inBubble(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		request = r
		return endpoint.RoundTrip(r)
	}))
	accessToken(t, source)
	assert.NotNil(t, request.Body)
	assert.Nil(t, request.GetBody, "net/http would send the refresh token twice over HTTP/2")
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
