package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// turnstile is a source with a new token each time, token-1 first.
type turnstile struct {
	mu    sync.Mutex
	asked int
}

func (s *turnstile) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return &oauth2.Token{AccessToken: "token-" + strconv.Itoa(s.asked)}, nil
}

// sourceFunc is a token source of one function.
type sourceFunc func() (*oauth2.Token, error)

func (f sourceFunc) Token() (*oauth2.Token, error) { return f() }

func TestCredentialsAreOnEveryAttempt(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).RespondError(http.StatusTooManyRequests, "slow down").Times(2)
			srv.Expect(call.op).RespondExample()
			require.NoError(t, call.do(t.Context(), srv.Client(client.WithTokenSource(&turnstile{}))))
			for i, r := range srv.Requests(call.op) {
				assert.Equal(t, []string{"Bearer token-" + strconv.Itoa(i+1)}, r.Header["Authorization"], "the source is asked before each attempt")
				assert.Equal(t, []string{clienttest.APIKey}, r.Header["X-Api-Key"])
			}
		})
	}
}

func TestA401IsReplayedOnceIfTheTokenIsNew(t *testing.T) {
	for _, tc := range []struct {
		tokens   []string // one after the other; the last one stays
		refused  int      // answers of 401 in a row
		requests int
		ok       bool
		why      string
	}{
		{[]string{"old"}, 1, 1, false, "the same token would be refused again"},
		{[]string{"old", "new"}, 1, 2, true, "the source has renewed it"},
		{[]string{"old", "new", "newer"}, 2, 2, false, "a new token that is refused too ends it"},
	} {
		for _, call := range []aCall{aRead, aWrite} {
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

// revocable is a source whose token ends when it is invalidated; why is why there is no next one.
type revocable struct {
	turnstile
	invalidated []string
	why         error
}

func (s *revocable) Token() (*oauth2.Token, error) {
	if s.asked > 0 && len(s.invalidated) > 0 && s.why != nil {
		s.asked++
		return nil, s.why
	}
	return s.turnstile.Token()
}

func (s *revocable) Invalidate(accessToken string) {
	s.invalidated = append(s.invalidated, accessToken)
}

func TestA401WithoutANewTokenTellsWhy(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(call.op).RespondError(http.StatusUnauthorized, "expired")
		source := &revocable{why: &oauth2.RetrieveError{ErrorCode: "invalid_grant"}}
		err := call.do(t.Context(), srv.Client(client.WithTokenSource(source)))
		require.ErrorIs(t, err, client.ErrUnauthorized)
		require.ErrorIs(t, err, token.ErrReauthRequired, "it is known now, not on the next call only")
		require.ErrorContains(t, err, "401 expired; it was not sent again: get an access token: refused invalid_grant")
		assert.Equal(t, 1, infoOf(t, err).Attempts)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	}
}

func TestA401WithoutAnAttemptLeftAsksForNoToken(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aRead.op).Times(2).RespondError(http.StatusUnauthorized, "expired")
	source := &revocable{}
	c := srv.Client(oneAttempt, client.WithTokenSource(source))
	require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrUnauthorized)
	assert.Equal(t, 1, source.asked, "there is nothing to use a new token for")
	assert.Equal(t, []string{"token-1"}, source.invalidated, "but the next call is not to be refused for this one")
	require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrUnauthorized)
	assert.Equal(t, 2, source.asked)
}

func TestA401InvalidatesOnce(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aRead.op).Times(2).RespondError(http.StatusUnauthorized, "expired")
	source := &revocable{}
	require.ErrorIs(t, aRead.do(t.Context(), srv.Client(client.WithTokenSource(source))), client.ErrUnauthorized)
	assert.Equal(t, []string{"token-1"}, source.invalidated, "what the next token is refused for has another cause")
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	why := errors.New("the disk is full")
	for _, tc := range []struct {
		token *oauth2.Token
		err   error
		text  string
	}{
		{nil, why, "GetListing: get an access token: the disk is full"},
		{&oauth2.Token{}, nil, "no header can carry"},
		{&oauth2.Token{AccessToken: "two\r\nlines"}, nil, "no header can carry"},
	} {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) { return tc.token, tc.err })))
		err := aRead.do(t.Context(), c)
		require.True(t, isA[*token.Error](err), "%v", err)
		require.ErrorContains(t, err, tc.text)
		assert.NotContains(t, err.Error(), "two")
		if tc.err != nil {
			assert.ErrorIs(t, err, tc.err)
		}
	}
}

func TestATokenErrorHidesTheTokenEndpointsAnswer(t *testing.T) {
	const refresh = "refresh-4f9c1b"
	for _, tc := range []struct{ body, want string }{
		{`{"error":"invalid_grant","error_description":"no such token ` + refresh + `"}`, "the token endpoint responded 400 invalid_grant"},
		{`{"error":"no such token ` + refresh + `"}`, "the token endpoint responded 400 (nonstandard error code)"},
		{`<html>` + refresh + `</html>`, "the token endpoint responded 400"},
	} {
		endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(tc.body))
		}))
		defer endpoint.Close()
		source := (&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: endpoint.URL}}).TokenSource(t.Context(), &oauth2.Token{RefreshToken: refresh})
		srv := clienttest.New(t, clienttest.InProcess())
		err := aRead.do(t.Context(), srv.Client(client.WithTokenSource(source)))
		require.ErrorContains(t, err, tc.want)
		assertSecretFree(t, err, refresh)
		assert.True(t, isA[*oauth2.RetrieveError](err), "whoever needs the answer unwraps it")
	}
	err := &token.Error{Err: &oauth2.RetrieveError{ErrorCode: "invalid_grant"}}
	assert.EqualError(t, err, "get an access token: refused invalid_grant: "+token.ErrReauthRequired.Error(), "a source of one's own has no response")
}
