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

// arrivals records when requests arrive at a token endpoint, and how many it has at a time.
type arrivals struct {
	mu        sync.Mutex
	at        []time.Time
	now, most int
}

// record returns a handler that records a request and takes 100 ms.
func (a *arrivals) record(handler http.HandlerFunc) http.HandlerFunc {
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

// pauses returns the times from the end of each request to the next.
func (a *arrivals) pauses() []time.Duration {
	var between []time.Duration
	for i := 1; i < len(a.at); i++ {
		between = append(between, a.at[i].Sub(a.at[i-1])-100*time.Millisecond)
	}
	return between
}

var errFullDisk = errors.New("the disk is full")

func TestRefreshSource_PausesInEveryState(t *testing.T) {
	down := respond(http.StatusServiceUnavailable, "")
	for why, tc := range map[string]struct {
		before []http.HandlerFunc // The responses before the failures.
		fails  http.HandlerFunc
		begin  func(t *testing.T, source *token.RefreshSource)
		posts  int // Requests after those before; zero for one for each attempt.
	}{
		"no token yet": {fails: down},
		"the token has expired": {
			before: []http.HandlerFunc{respondGrant("access-1", `"expires_in":60`)}, fails: down,
			begin: func(t *testing.T, source *token.RefreshSource) {
				t.Helper()
				accessToken(t, source)
				advance(time.Minute)
			},
		},
		"the token was invalidated": {
			before: []http.HandlerFunc{respondGrant("access-1", `"expires_in":43200`)}, fails: down,
			begin: func(t *testing.T, source *token.RefreshSource) {
				t.Helper()
				source.Invalidate(accessToken(t, source))
			},
		},
		"too many requests":                  {fails: respond(http.StatusTooManyRequests, "")},
		"a cause that the seller can remove": {fails: respond(http.StatusForbidden, `{"error":"access_denied"}`)},
		"a success without a token":          {fails: respond(http.StatusOK, `{}`)},
		"a success without JSON":             {fails: respond(http.StatusOK, `busy`)},
		"a broken connection":                {fails: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"a rotated token that is not saved":  {fails: respondGrant("access-2", `"expires_in":43200`, `"refresh_token":"refresh-2"`), posts: 1},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen arrivals
				var saves []time.Time
				endpoint := newEndpoint(append(tc.before, seen.record(tc.fails))...)
				transport := transportFunc(func(r *http.Request) (resp *http.Response, err error) {
					defer func() {
						if recover() != nil {
							resp, err = nil, errors.New("the connection was reset")
						}
					}()
					return endpoint.RoundTrip(r)
				})
				source := newUnclosedSource(t, transport, func(c *token.RefreshConfig) {
					c.OnRotate = func(context.Context, string) error {
						saves = append(saves, time.Now())
						return errFullDisk
					}
				})
				if tc.begin != nil {
					tc.begin(t, source)
				}
				start := time.Now()
				var callers sync.WaitGroup
				for range 2700 { // two callers every 740 us, for 2 s
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
				require.Len(t, seen.at, 1, "one request for all callers")
				for time.Since(start) < 20*time.Minute { // one caller, which repeats at once
					_, err := source.Token()
					requireTokenError(t, err)
				}
				assert.Equal(t, 1, seen.most, "one at a time")
				if tc.posts > 0 {
					assert.Len(t, seen.at, tc.posts)
					seen.at = saves // which do not take 100 ms
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

// newUnclosedSource is inBubble for a source whose Close may fail.
func newUnclosedSource(
	t *testing.T, transport http.RoundTripper, change func(*token.RefreshConfig),
) *token.RefreshSource {
	t.Helper()
	config := testConfig("https://auth.invalid/oauth/token")
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
		{http.Header{}, 2500 * time.Millisecond, 5 * time.Second, "no header"},
		{http.Header{"Retry-After": {"90"}}, 90 * time.Second, 90 * time.Second, "seconds"},
		{http.Header{"Retry-After": {"1"}}, 2500 * time.Millisecond, 5 * time.Second, "less than the pause"},
		{http.Header{"Retry-After": {"-90"}}, 2500 * time.Millisecond, 5 * time.Second, "negative"},
		{http.Header{"Retry-After": {"soon"}}, 2500 * time.Millisecond, 5 * time.Second, "neither seconds nor a date"},
		{http.Header{"Retry-After": {"1.5e3"}}, 2500 * time.Millisecond, 5 * time.Second, "a fraction"},
		{http.Header{"Retry-After": {"86400"}}, 24 * time.Hour, 24 * time.Hour, "a day"},
		{http.Header{"Retry-After": {"86401"}}, 24 * time.Hour, 24 * time.Hour, "more than a day"},
		{http.Header{"Retry-After": {"99999999999999999999"}}, 24 * time.Hour, 24 * time.Hour, "a number out of range"},
		{http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:02:00 GMT"}}, 2 * time.Minute, 2 * time.Minute, "a date, by the local clock"},
		{http.Header{"Retry-After": {"Sun, 01 Jan 2023 00:02:00 GMT"}, "Date": {"Sun, 01 Jan 2023 00:00:00 GMT"}}, 2 * time.Minute, 2 * time.Minute, "a date, by the Date header"},
		{http.Header{"Retry-After": {"Fri, 31 Dec 1999 23:59:00 GMT"}, "Date": {now}}, 2500 * time.Millisecond, 5 * time.Second, "a past date"},
		{http.Header{"Retry-After": {"Fri, 31 Dec 9999 23:59:59 GMT"}, "Date": {now}}, 24 * time.Hour, 24 * time.Hour, "a date in another age"},
	} {
		for _, status := range []int{429, 503, 400} {
			synctest.Test(t, func(t *testing.T) {
				var seen arrivals
				fail := func(w http.ResponseWriter, _ *http.Request) {
					maps.Copy(w.Header(), tc.header)
					w.WriteHeader(status)
				}
				grant := respondGrant("access-1", `"expires_in":43200`)
				source := inBubble(t, newEndpoint(seen.record(fail), seen.record(grant)))
				_, err := source.Token()
				failed := asTokenError(t, err)
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

// TestRefreshSource_WaitsForPauseWithinDeadline has a caller 10 s after a failure with a Retry-After.
func TestRefreshSource_WaitsForPauseWithinDeadline(t *testing.T) {
	const minutes = 60 * time.Second
	for _, tc := range []struct {
		pause   time.Duration // of Retry-After
		timeout time.Duration // of the caller; zero for none
		took    time.Duration
		ok      bool
		why     string
	}{
		{minutes, 0, 50 * time.Second, true, "no deadline"},
		{minutes, 50*time.Second + 1, 50 * time.Second, true, "the pause ends before the deadline"},
		{minutes, 50 * time.Second, 0, false, "the pause ends at the deadline"},
		{minutes, time.Second, 0, false, "the pause ends after the deadline"},
		{30*minutes + 9*time.Second, 0, 30*minutes - time.Second, true, "no deadline, half an hour"},
		{30*minutes + 11*time.Second, 0, 0, false, "no deadline, more than half an hour"},
		{24 * 60 * minutes, 25 * 60 * minutes, 24*60*minutes - 10*time.Second, true, "a deadline of more than a day"},
	} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := newEndpoint(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", strconv.Itoa(int(tc.pause/time.Second)))
				respond(http.StatusServiceUnavailable, "")(w, r)
			}, respondGrant("access-1", `"expires_in":43200`))
			source := inBubble(t, endpoint)
			_, first := source.Token()
			retryAt := time.Now().Add(tc.pause)
			assert.True(t, asTokenError(t, first).RetryAt.Equal(retryAt), tc.why)
			advance(10 * time.Second)
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
				advance(tc.pause)
				assert.Len(t, endpoint.sent(), 1, "%s: nothing is sent", tc.why)
				return
			}
			require.NoError(t, err, tc.why)
			assert.Equal(t, "access-1", got.AccessToken)
		})
	}
}

func TestRefreshSource_CallerLeavesPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := newEndpoint(respond(http.StatusServiceUnavailable, ""), respondGrant("access-1", `"expires_in":43200`))
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

func TestRefreshSource_StopsWhenRefused(t *testing.T) {
	for _, tc := range []struct {
		status          int
		code            string
		refused, reauth bool
		why             string
	}{
		{400, "invalid_grant", true, true, "the refresh token"},
		{401, "invalid_client", true, false, "the client ID or secret"},
		{400, "invalid_request", true, false, "the request"},
		{400, "invalid_scope", true, false, "the scope"},
		{400, "invalid_target", true, false, "the audience"},
		{403, "unauthorized_client", true, false, "the client may not use the grant"},
		{400, "unsupported_grant_type", true, false, "the grant type"},
		{200, "invalid_client", true, false, "the code counts, not the status"},
		{503, "invalid_grant", false, false, "a failing server does not refuse"},
		{429, "invalid_client", false, false, "neither does a busy one"},
		{408, "invalid_request", false, false, "nor one that timed out"},
		{403, "access_denied", false, false, "the service can remove the cause"},
		{400, "consent_required", false, false, "the seller can remove the cause"},
		{400, "interaction_required", false, false, "the seller can remove the cause"},
		{400, "temporarily_unavailable", false, false, "temporary"},
		{400, "slow_down", false, false, "temporary"},
		{400, "server_error", false, false, "temporary"},
		{400, "bad_verification_code", false, false, "not a standard code"},
		{401, "", false, false, "no code"},
	} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := newEndpoint(respond(tc.status, `{"error":"`+tc.code+`","error_description":"refresh-1"}`))
			source := inBubble(t, endpoint)
			for range 3 {
				_, err := source.Token()
				failed := asTokenError(t, err)
				assert.Equal(t, tc.refused, errors.Is(err, token.ErrRefused), tc.why)
				assert.Equal(t, tc.reauth, errors.Is(err, token.ErrReauthRequired), tc.why)
				assert.Equal(t, tc.refused, failed.RetryAt.IsZero(), tc.why)
				_, ok := errors.AsType[*oauth2.RetrieveError](err)
				assert.True(t, ok, tc.why)
				assertSecretFree(t, err, "refresh-1")
			}
			want := 3
			if tc.refused {
				want = 1
			}
			assert.Len(t, endpoint.sent(), want, tc.why)
			advance(48 * time.Hour)
			_, err := source.Token()
			require.Error(t, err)
			if tc.refused {
				assert.Len(t, endpoint.sent(), 1, "%s: for good", tc.why)
			}
		})
	}
}

func TestRefreshSource_PausesInBackground(t *testing.T) {
	for range 5 { // the jitter differs
		synctest.Test(t, func(t *testing.T) {
			var seen arrivals
			endpoint := newEndpoint(
				respondGrant("access-1", `"expires_in":43200`),
				seen.record(respond(http.StatusServiceUnavailable, "")),
			)
			source := inBubble(t, endpoint)
			accessToken(t, source)
			advance(12*time.Hour - 10*time.Minute)
			for range 9 * 60 * 10 { // ten calls a second until a minute before the expiry
				require.Equal(t, "access-1", accessToken(t, source))
				advance(100 * time.Millisecond)
			}
			for i, pause := range seen.pauses() {
				longest := min(5*time.Second<<min(i, 4), time.Minute)
				assert.GreaterOrEqual(t, pause, longest/2, "pause %d", i)
				assert.LessOrEqual(t, pause, longest+100*time.Millisecond, "pause %d", i)
			}

			advance(time.Minute)
			_, err := source.Token()
			requireStatus(t, err, http.StatusServiceUnavailable, "")
			endpoint.responses[1] = respondGrant("access-2", `"expires_in":43200`)
			start := time.Now()
			assert.Equal(t, "access-2", accessToken(t, source))
			assert.GreaterOrEqual(t, time.Since(start), 30*time.Second, "a caller waits for the pause")
		})
	}
}

func TestRefreshSource_SuccessResetsPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		endpoint := newEndpoint(func(w http.ResponseWriter, r *http.Request) {
			at = append(at, time.Now())
			if n := len(at); n == 1 || n == 5 {
				respondGrant("access", `"expires_in":4000`)(w, r)
				return
			}
			respond(http.StatusServiceUnavailable, "")(w, r)
		})
		source := inBubble(t, endpoint)
		for len(at) < 7 {
			accessToken(t, source)
			advance(500 * time.Millisecond)
		}
		fresh := at[5].Sub(at[4]).Truncate(time.Second)
		assert.Equal(t, 3400*time.Second, fresh, "advisory in the last ten minutes")
		assert.Greater(t, at[4].Sub(at[3]), 9*time.Second, "the pause after three failures")
		assert.LessOrEqual(t, at[6].Sub(at[5]), 5500*time.Millisecond, "the pause after one failure")
	})
}

func TestRefreshSource_ReportsRefusalWhenTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := newEndpoint(
			respondGrant("access-1", `"expires_in":43200`),
			respond(400, `{"error":"invalid_grant"}`),
		)
		source := inBubble(t, endpoint)
		accessToken(t, source)
		advance(12*time.Hour - 5*time.Minute)
		for range 4 {
			assert.Equal(t, "access-1", accessToken(t, source), "the token is still valid")
			advance(time.Minute)
		}
		advance(time.Minute)
		_, err := source.Token()
		require.ErrorIs(t, err, token.ErrReauthRequired)
		assert.Len(t, endpoint.sent(), 2)
	})
}
