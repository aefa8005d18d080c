package client_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// slowSource takes as long as it is told for each token, and knows no context.
type slowSource struct {
	takes time.Duration

	mu           sync.Mutex
	asked        int
	active, most int
}

func (s *slowSource) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	s.asked++
	n := s.asked
	s.active++
	s.most = max(s.most, s.active)
	s.mu.Unlock()
	<-time.After(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	return &oauth2.Token{AccessToken: "token-" + strconv.Itoa(n)}, nil
}

// counts returns how often it was asked, and how often at a time.
func (s *slowSource) counts() (asked, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.most
}

func TestTokenSource_CallWaitsNoLongerThanItsContext(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		synctest.Test(t, func(t *testing.T) {
			source := &slowSource{takes: time.Minute}
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).RespondExample().Times(50)
			c := srv.Client(client.WithTokenSource(source))
			start := time.Now()
			var calls sync.WaitGroup
			for i := range 100 {
				calls.Go(func() {
					if i%2 == 0 {
						assert.NoError(t, call.do(t.Context(), c))
						assert.Equal(t, time.Minute, time.Since(start))
						return
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					err := call.do(ctx, c)
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
					assert.Equal(t, time.Second, time.Since(start))
				})
			}
			calls.Wait()
			asked, _ := source.counts()
			assert.Equal(t, 1, asked, "calls that come meanwhile wait for the same token")
			for _, r := range srv.Requests(call.op) {
				assert.Equal(t, "Bearer token-1", r.Header.Get("Authorization"))
			}
		})
	}
}

func TestTokenSource_IsAskedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{takes: time.Minute}
		service := servePiped(t, false, serveExample)
		service.byDefault(t)
		c := clientAt(t, service.URL, client.WithTokenSource(source))
		late := 0
		for range 1000 { // callers who leave after a second each leave no goroutine behind
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := aRead.do(ctx, c); err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				late++
			}
			cancel()
		}
		assert.Greater(t, late, 900)
		asked, most := source.counts()
		assert.Equal(t, 1, most)
		assert.LessOrEqual(t, asked, 17, "one a minute")
		<-time.After(time.Minute)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, aRead.do(ended, c), context.Canceled)
		again, _ := source.counts()
		assert.Equal(t, asked, again, "and not for a call whose context has ended")
		require.NoError(t, c.Close())
	})
}

func TestTokenSource_ErrorIsSharedAndNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		why := errors.New("the vault is sealed")
		source := sourceFunc(func() (*oauth2.Token, error) {
			<-time.After(time.Second)
			if asked++; asked == 1 {
				return nil, why
			}
			return &oauth2.Token{AccessToken: "token"}, nil
		})
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondExample()
		c := srv.Client(client.WithTokenSource(source))
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() {
				err := aRead.do(t.Context(), c)
				assert.ErrorIs(t, err, why)
				assert.True(t, isA[*token.Error](err))
			})
		}
		calls.Wait()
		require.NoError(t, aRead.do(t.Context(), c))
		assert.Equal(t, 2, asked)
	})
}

// invalidating is a slow source whose token changes when it is invalidated, for those who ask after that.
type invalidating struct {
	mu      sync.Mutex
	current string
}

func (s *invalidating) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	current := s.current
	s.mu.Unlock()
	<-time.After(10 * time.Second)
	return &oauth2.Token{AccessToken: current}, nil
}

func (s *invalidating) Invalidate(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = "new"
}

// A call that was refused joins the goroutine that already asks for another call, and gets the token that was refused.
func TestTokenSource_IsAskedAgainAfterA401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aWrite.op).RespondError(http.StatusUnauthorized, "revoked").Delay(5 * time.Second)
		srv.Expect(aWrite.op).RespondExample()
		srv.Expect(aRead.op).RespondExample()
		c := srv.Client(client.WithTokenSource(&invalidating{current: "old"}))
		var calls sync.WaitGroup
		calls.Go(func() { assert.NoError(t, aWrite.do(t.Context(), c)) }) // refused at 15 s
		<-time.After(12 * time.Second)
		calls.Go(func() { assert.NoError(t, aRead.do(t.Context(), c)) }) // asks from 12 s to 22 s
		calls.Wait()
		writes := srv.Requests(aWrite.op)
		require.Len(t, writes, 2)
		assert.Equal(t, "Bearer new", writes[1].Header.Get("Authorization"))
	})
}

func TestTokenSource_ThatDoesNotReturn(t *testing.T) {
	for why, tc := range map[string]struct {
		source sourceFunc
		want   string
	}{
		"a panic of the runtime is named":    {func() (*oauth2.Token, error) { return []*oauth2.Token{}[len(t.Name())*0], nil }, "index out of range"},
		"the value of another one is secret": {func() (*oauth2.Token, error) { panic(secretRefresh) }, "panicked with a string"},
		"a panic with nil":                   {func() (*oauth2.Token, error) { panic(nil) }, "panic called with nil"}, //nolint:govet // on purpose
		"a goroutine that ends":              {func() (*oauth2.Token, error) { runtime.Goexit(); return nil, nil }, "ended its goroutine"},
	} {
		c := clienttest.New(t, clienttest.InProcess()).Client(client.WithTokenSource(tc.source))
		for range 2 {
			err := aRead.do(t.Context(), c)
			require.True(t, isA[*token.Error](err), "%s: %v", why, err)
			require.ErrorContains(t, err, tc.want, why)
			assertSecretFree(t, err, secretRefresh)
		}
	}
}

// A source with TokenContext is asked by the call itself, with a context that ends with the call's.
func TestTokenSource_GetsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := contextSource(func(ctx context.Context) (*oauth2.Token, error) {
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, time.Second, time.Until(deadline))
			<-ctx.Done()
			return nil, ctx.Err()
		})
		c := clienttest.New(t, clienttest.InProcess()).Client(client.WithTokenSource(source))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := aWrite.do(ctx, c)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, client.ErrClosed)
	})
}

// contextSource is a source that is asked with a context.
type contextSource func(context.Context) (*oauth2.Token, error)

func (s contextSource) Token() (*oauth2.Token, error) { return s(context.Background()) }

func (s contextSource) TokenContext(ctx context.Context) (*oauth2.Token, error) { return s(ctx) }
