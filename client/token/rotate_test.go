package token_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// rotation is an OnRotate that takes a while. The zero value succeeds at once.
type rotation struct {
	takes  time.Duration // Of each call.
	obeys  bool          // Ends with its context.
	fails  int           // How many of the first calls fail.
	mu     sync.Mutex
	calls  []string
	ended  []time.Duration // After how long the context of a call ended; zero if it did not.
	active int
	most   int
}

func (r *rotation) save(ctx context.Context, refreshToken string) error {
	r.mu.Lock()
	n, start, done := len(r.calls), time.Now(), time.After(r.takes)
	r.calls, r.ended = append(r.calls, refreshToken), append(r.ended, 0)
	r.active++
	r.most = max(r.most, r.active)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.active--
	}()
	select {
	case <-done:
	case <-ctx.Done():
		r.mu.Lock()
		r.ended[n] = time.Since(start)
		r.mu.Unlock()
		if r.obeys {
			return ctx.Err()
		}
		<-done
	}
	if n < r.fails {
		return errFullDisk
	}
	return nil
}

// rotating returns a source whose first refresh rotates the token.
func rotating(t *testing.T, r *rotation, rest ...http.HandlerFunc) (*token.RefreshSource, *tokenEndpoint) {
	t.Helper()
	endpoint := answers(append([]http.HandlerFunc{grants("access-1", `"refresh_token":"refresh-2"`, `"expires_in":43200`)}, rest...)...)
	return sourceWithoutEnd(t, endpoint, func(c *token.RefreshConfig) { c.OnRotate = r.save }), endpoint
}

func TestOnRotate_ContextEnds(t *testing.T) {
	for _, tc := range []struct {
		takes  time.Duration // Of the call.
		obeys  bool          // It ends with its context.
		close  time.Duration // When the source is closed, after the call began; zero for never.
		ended  time.Duration // When the context of the call ends; zero for never.
		failed time.Duration // When the callers get their error, and Close returns one; zero if the token is saved.
		why    string
	}{
		{29 * time.Second, false, 0, 0, 0, "there are 30 seconds"},
		{time.Hour, true, 0, 30 * time.Second, 30 * time.Second, "after them it ends"},
		{time.Hour, false, 0, 30 * time.Second, 31 * time.Second, "or is not waited for"},
		{9 * time.Second, false, time.Second, 0, 0, "Close waits 10 seconds"},
		{time.Hour, true, time.Second, 11 * time.Second, 11 * time.Second, "Close ends it after them"},
		{time.Hour, false, time.Second, 11 * time.Second, 12 * time.Second, "Close does not wait for ever"},
		{time.Hour, true, 25 * time.Second, 30 * time.Second, 30 * time.Second, "Close does not prolong the 30 seconds"},
		{40 * time.Second, false, 30*time.Second + 1, 30 * time.Second, 31 * time.Second, "nor the second after them"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &rotation{takes: tc.takes, obeys: tc.obeys}
			source, _ := rotating(t, r)
			start, over := time.Now(), tc.failed
			if over == 0 {
				over = tc.takes
			}
			var closed sync.WaitGroup
			if tc.close > 0 {
				closed.Go(func() {
					<-time.After(tc.close)
					err := source.Close()
					assert.Equal(t, tc.failed > 0, err != nil, "%s: %v", tc.why, err)
					assert.Equal(t, over, time.Since(start), tc.why)
				})
			}
			got, err := source.Token()
			assert.Equal(t, over, time.Since(start), tc.why)
			if tc.failed == 0 {
				require.NoError(t, err, tc.why)
				assert.Equal(t, "access-1", got.AccessToken)
			} else {
				requireTokenError(t, err)
				assertSecretFree(t, err, "refresh-2")
			}
			closed.Wait()
			<-time.After(time.Hour) // until the call that was not waited for has returned
			r.mu.Lock()
			defer r.mu.Unlock()
			assert.Equal(t, []string{"refresh-2"}, r.calls)
			assert.Equal(t, []time.Duration{tc.ended}, r.ended, tc.why)
		})
	}
}

func TestOnRotate_IsCalledOnceAtATime(t *testing.T) {
	for _, tc := range []struct {
		fails int
		calls int
		why   string
	}{
		{0, 1, "what came late was saved all the same"},
		{1, 2, "what failed late is handed over again"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &rotation{takes: 5 * time.Minute, fails: tc.fails}
			source, endpoint := rotating(t, r, grants("access-2", `"expires_in":43200`))
			start := time.Now()
			tries := 0
			for time.Since(start) < 4*time.Minute {
				_, err := source.Token()
				requireTokenError(t, err)
				tries++
			}
			assert.Greater(t, tries, 4)
			assert.Equal(t, []string{"refresh-1"}, endpoint.presented(), "nothing is sent before it is saved")
			r.mu.Lock()
			assert.Len(t, r.calls, 1, "it has not returned yet")
			r.takes = 0 // of the next call
			r.mu.Unlock()
			after(time.Minute)
			assert.Equal(t, "access-2", accessToken(t, source), tc.why)
			assert.Equal(t, []string{"refresh-1", "refresh-2"}, endpoint.presented())
			assert.Len(t, r.calls, tc.calls, tc.why)
			assert.Equal(t, 1, r.most)
			require.NoError(t, source.Close())
		})
	}
}

func TestClose_HandsOverWhatIsNotSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rotation{fails: 2}
		source, endpoint := rotating(t, r)
		_, err := source.Token()
		require.ErrorIs(t, err, errFullDisk)

		start := time.Now()
		require.ErrorIs(t, source.Close(), errFullDisk, "it is handed over, and fails once more")
		require.NoError(t, source.Close(), "Close may be called again")
		require.NoError(t, source.Close())

		assert.Zero(t, time.Since(start), "no pause is waited for")
		assert.Equal(t, []string{"refresh-2", "refresh-2", "refresh-2"}, r.calls)
		assert.Len(t, endpoint.sent(), 1, "nothing is sent")
		_, err = source.Token()
		require.EqualError(t, err, "get an access token: the refresh token source is closed")
	})
}

func TestClose_EndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := answers(says(http.StatusServiceUnavailable, ""))
		source := inBubble(t, endpoint)
		_, err := source.Token()
		require.Error(t, err)
		start := time.Now()
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				_, err := source.Token()
				requireTokenError(t, err)
				assert.EqualError(t, err, "get an access token: the refresh token source is closed")
				assert.Equal(t, time.Second, time.Since(start))
			})
			callers.Go(func() {
				<-time.After(time.Second)
				assert.NoError(t, source.Close(), "safe for concurrent use")
			})
		}
		callers.Wait()
		assert.Equal(t, time.Second, time.Since(start))
		assert.Len(t, endpoint.sent(), 1)
	})
}

func TestClose_WaitsForTheResponseAndForOnRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rotation{takes: 9 * time.Second, obeys: true}
		slow := func(w http.ResponseWriter, request *http.Request) {
			<-time.After(29 * time.Second)
			grants("access-1", `"refresh_token":"refresh-2"`)(w, request)
		}
		source := sourceWithoutEnd(t, answers(slow), func(c *token.RefreshConfig) { c.OnRotate = r.save })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := source.TokenContext(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		start := time.Now()
		require.NoError(t, source.Close())
		assert.Equal(t, 37*time.Second, time.Since(start), "28 seconds for the rest of the response, and then 9")
		assert.Equal(t, []string{"refresh-2"}, r.calls)
		assert.Equal(t, []time.Duration{0}, r.ended, "its 10 seconds begin with it")
		assert.Equal(t, "access-1", accessToken(t, source))
	})
}
