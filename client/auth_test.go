package client_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
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

// countingSource is a source that returns token-1, token-2 and so on.
type countingSource struct {
	mu    sync.Mutex
	asked int
}

func (s *countingSource) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return &oauth2.Token{AccessToken: "token-" + strconv.Itoa(s.asked)}, nil
}

// sourceFunc is a token source of one function.
type sourceFunc func() (*oauth2.Token, error)

func (f sourceFunc) Token() (*oauth2.Token, error) { return f() }

func TestAuth_CredentialsAreOnEveryAttempt(t *testing.T) {
	for _, call := range []testCall{readCall, writeCall} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).RespondError(http.StatusTooManyRequests, "slow down").Times(2)
			srv.Expect(call.op).RespondExample()
			require.NoError(t, call.do(t.Context(), srv.Client(client.WithTokenSource(&countingSource{}))))
			for i, r := range srv.Requests(call.op) {
				assert.Equal(t, []string{"Bearer token-" + strconv.Itoa(i+1)},
					r.Header["Authorization"], "the source is asked before each attempt")
				assert.Equal(t, []string{clienttest.APIKey}, r.Header["X-Api-Key"])
			}
		})
	}
}

func TestAuth_ReplaysA401OnceWithNewToken(t *testing.T) {
	for _, tc := range []struct {
		tokens   []string // In order; the last one stays.
		refused  int      // Number of 401s.
		requests int
		ok       bool
		why      string
	}{
		{[]string{"old"}, 1, 1, false, "the same token would be refused again"},
		{[]string{"old", "new"}, 1, 2, true, "the source has another token"},
		{[]string{"old", "new", "newer"}, 2, 2, false, "the new token is refused, too"},
	} {
		for _, call := range []testCall{readCall, writeCall} {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(call.op).Times(tc.refused).RespondError(http.StatusUnauthorized, "expired")
				if tc.ok {
					srv.Expect(call.op).RespondExample()
				}
				tokens, revoked := tc.tokens, 0
				source := sourceFunc(func() (*oauth2.Token, error) {
					if seen := len(srv.Requests(call.op)); seen > revoked && len(tokens) > 1 {
						tokens, revoked = tokens[1:], seen
					}
					return &oauth2.Token{AccessToken: tokens[0]}, nil
				})
				err := call.do(t.Context(), srv.Client(client.WithTokenSource(source)))
				requests := srv.Requests(call.op)
				require.Len(t, requests, tc.requests, tc.why)
				for i, r := range requests {
					assert.Equal(t, "Bearer "+tc.tokens[i], r.Header.Get("Authorization"))
					assert.Equal(t, requests[0].Body, r.Body, "the body is sent again in full")
				}
				if tc.ok {
					require.NoError(t, err, tc.why)
					return
				}
				require.ErrorIs(t, err, client.ErrUnauthorized, tc.why)
				assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
			})
		}
	}
}

// revocable is a source whose token ends when it is invalidated. If why is set, it is the error
// instead of the next token.
type revocable struct {
	countingSource
	invalidated []string
	why         error
}

func (s *revocable) Token() (*oauth2.Token, error) {
	if s.asked > 0 && len(s.invalidated) > 0 && s.why != nil {
		s.asked++
		return nil, s.why
	}
	return s.countingSource.Token()
}

func (s *revocable) Invalidate(accessToken string) {
	s.invalidated = append(s.invalidated, accessToken)
}

func TestAuth_A401WithoutNewTokenKeepsBothErrors(t *testing.T) {
	for _, call := range []testCall{readCall, writeCall} {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(call.op).RespondError(http.StatusUnauthorized, "expired")
		source := &revocable{why: &oauth2.RetrieveError{ErrorCode: "invalid_grant"}}
		err := call.do(t.Context(), srv.Client(client.WithTokenSource(source)))
		require.ErrorIs(t, err, client.ErrUnauthorized)
		require.ErrorIs(t, err, token.ErrReauthRequired,
			"the cause is reported with this call, not with the next one")
		assert.Equal(t, 1, infoOf(t, err).Attempts)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	}
}

func TestAuth_LastAttemptAsksForNoToken(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(readCall.op).Times(2).RespondError(http.StatusUnauthorized, "expired")
	source := &revocable{}
	c := srv.Client(oneAttempt, client.WithTokenSource(source))
	require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrUnauthorized)
	assert.Equal(t, 1, source.asked, "there is no attempt left for a new token")
	assert.Equal(t, []string{"token-1"}, source.invalidated, "the next call gets another token")
	require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrUnauthorized)
	assert.Equal(t, 2, source.asked)
}

func TestAuth_InvalidatesOnce(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(readCall.op).Times(2).RespondError(http.StatusUnauthorized, "expired")
	source := &revocable{}
	require.ErrorIs(t, readCall.do(t.Context(), srv.Client(client.WithTokenSource(source))),
		client.ErrUnauthorized)
	assert.Equal(t, []string{"token-1"}, source.invalidated,
		"the second 401 has another cause than the token")
}

func TestAuth_SendsNothingWithoutToken(t *testing.T) {
	why := errors.New("the disk is full")
	for _, tc := range []struct {
		token *oauth2.Token
		err   error
	}{
		{nil, why},
		{&oauth2.Token{}, nil},
		{&oauth2.Token{AccessToken: "two\r\nlines"}, nil},
	} {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) { return tc.token, tc.err })))
		err := readCall.do(t.Context(), c)
		require.True(t, isA[*token.Error](err), "%v", err)
		assertSecretFree(t, err, "two")
		if tc.err != nil {
			assert.ErrorIs(t, err, tc.err)
		}
	}
}

func TestAuth_CallsRefusedTogetherRefreshOnce(t *testing.T) {
	const calls = 20
	var refused sync.WaitGroup // all of the calls, before any of them gets its response
	refused.Add(calls)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer access-1" {
			refused.Done()
			refused.Wait()
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(clienttest.ExampleOf(readCall.op))
	}))
	defer service.Close()
	endpoint := &tokenEndpoint{responses: []http.HandlerFunc{
		grant("access-1", `"expires_in":43200`), grant("access-2", `"expires_in":43200`), grant("access-3"),
	}}
	source := newRefreshSource(t, refreshConfig, endpoint)
	defer source.Close()
	c := newServerClient(t, service, client.WithTokenSource(source))
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() { assert.NoError(t, readCall.do(t.Context(), c)) })
	}
	wg.Wait()
	assert.Equal(t, 2, endpoint.asked())
}

func TestWithToken_ExpiredTokenIsNotSent(t *testing.T) {
	expired := "eyJhbGciOiJIUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp":946684799}`)) + ".c2lnbmF0dXJl"
	srv := clienttest.New(t, clienttest.InProcess()) // which fails the test if a request comes
	err := readCall.do(t.Context(), srv.Client(client.WithToken(expired)))
	require.ErrorIs(t, err, token.ErrExpired)
	require.True(t, isA[*token.Error](err))
	assertSecretFree(t, err, expired)
}

// slowSource takes some time for each token, and takes no context.
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

// counts returns how often the source was asked, and how often at once.
func (s *slowSource) counts() (asked, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.most
}

func TestTokenSource_CallWaitsNoLongerThanItsContext(t *testing.T) {
	for _, call := range []testCall{readCall, writeCall} {
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
			assert.Equal(t, 1, asked, "later calls wait for the same token")
			for _, r := range srv.Requests(call.op) {
				assert.Equal(t, "Bearer token-1", r.Header.Get("Authorization"))
			}
		})
	}
}

func TestTokenSource_IsAskedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &slowSource{takes: time.Minute}
		service := startPipeService(t, false, serveExample)
		service.useByDefault(t)
		c := newClient(t, service.URL, client.WithTokenSource(source))
		late := 0
		for range 1000 { // A caller that leaves after a second leaves no goroutine behind.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := readCall.do(ctx, c); err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				late++
			}
			cancel()
		}
		assert.Greater(t, late, 900)
		asked, most := source.counts()
		assert.Equal(t, 1, most)
		assert.LessOrEqual(t, asked, 17, "one per minute")
		<-time.After(time.Minute)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, readCall.do(ended, c), context.Canceled)
		again, _ := source.counts()
		assert.Equal(t, asked, again, "a call whose context has ended does not ask")
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
		srv.Expect(readCall.op).RespondExample()
		c := srv.Client(client.WithTokenSource(source))
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() {
				err := readCall.do(t.Context(), c)
				assert.ErrorIs(t, err, why)
				assert.True(t, isA[*token.Error](err))
			})
		}
		calls.Wait()
		require.NoError(t, readCall.do(t.Context(), c))
		assert.Equal(t, 2, asked)
	})
}

// invalidatingSource is a slow source whose token changes when it is invalidated. A call of Token
// that began before returns the old one.
type invalidatingSource struct {
	mu      sync.Mutex
	current string
}

func (s *invalidatingSource) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	current := s.current
	s.mu.Unlock()
	<-time.After(10 * time.Second)
	return &oauth2.Token{AccessToken: current}, nil
}

func (s *invalidatingSource) Invalidate(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = "new"
}

// TestTokenSource_IsAskedAgainAfterA401 has a refused call join a goroutine that has asked before
// the refusal, and so got the refused token.
func TestTokenSource_IsAskedAgainAfterA401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(writeCall.op).RespondError(http.StatusUnauthorized, "revoked").Delay(5 * time.Second)
		srv.Expect(writeCall.op).RespondExample()
		srv.Expect(readCall.op).RespondExample()
		c := srv.Client(client.WithTokenSource(&invalidatingSource{current: "old"}))
		var calls sync.WaitGroup
		calls.Go(func() { assert.NoError(t, writeCall.do(t.Context(), c)) }) // refused at 15 s
		<-time.After(12 * time.Second)
		calls.Go(func() { assert.NoError(t, readCall.do(t.Context(), c)) }) // asks from 12 s to 22 s
		calls.Wait()
		writes := srv.Requests(writeCall.op)
		require.Len(t, writes, 2)
		assert.Equal(t, "Bearer new", writes[1].Header.Get("Authorization"))
	})
}

func TestTokenSource_ThatDoesNotReturn(t *testing.T) {
	for why, source := range map[string]sourceFunc{
		"a panic of the runtime": func() (*oauth2.Token, error) { return []*oauth2.Token{}[len(t.Name())*0], nil },
		"a panic with a secret":  func() (*oauth2.Token, error) { panic(secretToken) },
		"a panic with nil":       func() (*oauth2.Token, error) { panic(nil) }, //nolint:govet // on purpose
		"a goroutine that ends":  func() (*oauth2.Token, error) { runtime.Goexit(); return nil, nil },
	} {
		c := clienttest.New(t, clienttest.InProcess()).Client(client.WithTokenSource(source))
		for range 2 {
			err := readCall.do(t.Context(), c)
			require.True(t, isA[*token.Error](err), "%s: %v", why, err)
			assertSecretFree(t, err, secretToken)
		}
	}
}

// TestTokenSource_GetsTheContext has a source with TokenContext, which a call asks itself, with its
// context.
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
		err := writeCall.do(ctx, c)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, client.ErrClosed)
	})
}

// contextSource is a source of one function that takes a context.
type contextSource func(context.Context) (*oauth2.Token, error)

func (s contextSource) Token() (*oauth2.Token, error) { return s(context.Background()) }

func (s contextSource) TokenContext(ctx context.Context) (*oauth2.Token, error) { return s(ctx) }

// tokenEndpoint is a transport that responds to grants one after the other, and repeats
// the last response.
type tokenEndpoint struct {
	mu        sync.Mutex
	responses []http.HandlerFunc
	grants    int
}

// RoundTrip implements [http.RoundTripper].
func (e *tokenEndpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	e.mu.Lock()
	e.grants++
	respond := e.responses[min(e.grants, len(e.responses))-1]
	e.mu.Unlock()
	w := httptest.NewRecorder()
	respond(w, r)
	return w.Result(), nil
}

// asked returns how many grants there were.
func (e *tokenEndpoint) asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.grants
}

// tokenResponse responds with a body of JSON.
func tokenResponse(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// grant responds with an access token and further members, such as `"expires_in":43200`.
func grant(accessToken string, members ...string) http.HandlerFunc {
	members = append([]string{`"access_token":"` + accessToken + `"`}, members...)
	return tokenResponse(http.StatusOK, "{"+strings.Join(members, ",")+"}")
}

var refreshConfig = token.RefreshConfig{TokenURL: "https://auth.invalid/oauth/token", ClientID: "seller-app", RefreshToken: "refresh-1"}

// newRefreshSource returns a source whose grants go to an endpoint. The caller closes the source.
func newRefreshSource(t *testing.T, config token.RefreshConfig, endpoint http.RoundTripper) *token.RefreshSource {
	t.Helper()
	config.HTTPClient = &http.Client{Transport: endpoint}
	source, err := token.NewRefreshSource(config)
	require.NoError(t, err)
	return source
}
