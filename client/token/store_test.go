package token_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// memoryStore is a store of one process. It fails the next saves, and checks that it is locked.
type memoryStore struct {
	lock  chan struct{} // Has an element while it is locked.
	fails int

	mu     sync.Mutex
	tokens token.Tokens
	saved  []token.Tokens
}

func newMemoryStore(tokens token.Tokens) *memoryStore {
	return &memoryStore{lock: make(chan struct{}, 1), tokens: tokens}
}

func (s *memoryStore) Lock(ctx context.Context) (func() error, error) {
	select {
	case s.lock <- struct{}{}:
		return func() error { <-s.lock; return nil }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *memoryStore) Load(context.Context) (token.Tokens, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens, s.check()
}

func (s *memoryStore) Save(_ context.Context, t token.Tokens) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return errFullDisk
	}
	s.tokens, s.saved = t, append(s.saved, t)
	return s.check()
}

func (s *memoryStore) check() error {
	if len(s.lock) == 0 {
		return errors.New("the store is not locked")
	}
	return nil
}

// put stores tokens as another process does.
func (s *memoryStore) put(t token.Tokens) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = t
}

func withStore(s token.Store) func(*token.RefreshConfig) {
	return func(c *token.RefreshConfig) { c.RefreshToken, c.OnRotate, c.Store = "", nil, s }
}

func TestStore_SavesRotatedTokenBeforeUse(t *testing.T) {
	endpoint := newEndpoint(
		respondGrant(expiredJWT, `"refresh_token":"refresh-2"`), respondGrant("access-2", `"expires_in":3600`),
	)
	synctest.Test(t, func(t *testing.T) {
		store := newMemoryStore(token.Tokens{RefreshToken: "refresh-1"})
		store.fails = 1
		source := inBubble(t, endpoint, withStore(store))
		_, err := source.Token()
		require.ErrorIs(t, err, errFullDisk)
		assert.Equal(t, []string{"refresh-1"}, endpoint.refreshTokens(), "not sent until it is saved")
		assert.Equal(t, "access-2", accessToken(t, source))
		assert.Equal(t, []string{"refresh-1", "refresh-2"}, endpoint.refreshTokens())
		assert.Equal(t, "refresh-2", store.saved[0].RefreshToken)
		assert.Equal(t, token.Tokens{
			RefreshToken: "refresh-2", AccessToken: "access-2", Expiry: store.tokens.Expiry,
		}, store.tokens, "other processes can use the access token")
		assert.WithinDuration(t, time.Now().Add(time.Hour), store.tokens.Expiry, time.Minute)
	})
}

func TestStore_UsesWhatAnotherProcessSaved(t *testing.T) {
	for why, tc := range map[string]struct {
		stored token.Tokens
		life   time.Duration // Of the stored access token.
		want   string
		sent   []string
	}{
		"a fresh access token":       {token.Tokens{RefreshToken: "r2", AccessToken: "theirs"}, time.Hour, "theirs", nil},
		"one of unknown expiry":      {token.Tokens{RefreshToken: "r2", AccessToken: "theirs"}, 0, "theirs", nil},
		"one that expires soon":      {token.Tokens{RefreshToken: "r2", AccessToken: "theirs"}, 20 * time.Second, "ours", []string{"r2"}},
		"a newer refresh token":      {token.Tokens{RefreshToken: "r2"}, 0, "ours", []string{"r2"}},
		"no header can carry theirs": {token.Tokens{RefreshToken: "r2", AccessToken: "a\nb"}, time.Hour, "ours", []string{"r2"}},
	} {
		endpoint := newEndpoint(respondGrant("ours", `"expires_in":3600`))
		synctest.Test(t, func(t *testing.T) {
			if tc.life > 0 {
				tc.stored.Expiry = time.Now().Add(tc.life)
			}
			source := inBubble(t, endpoint, withStore(newMemoryStore(tc.stored)))
			assert.Equal(t, tc.want, accessToken(t, source), why)
		})
		assert.Equal(t, tc.sent, endpoint.refreshTokens(), why)
	}
}

func TestStore_InvalidatedTokenIsNotUsedAgain(t *testing.T) {
	endpoint := newEndpoint(respondGrant("ours", `"expires_in":3600`))
	synctest.Test(t, func(t *testing.T) {
		store := newMemoryStore(token.Tokens{RefreshToken: "r", AccessToken: "revoked", Expiry: time.Now().Add(time.Hour)})
		source := inBubble(t, endpoint, withStore(store))
		require.Equal(t, "revoked", accessToken(t, source))
		source.Invalidate("revoked")
		assert.Equal(t, "ours", accessToken(t, source))
	})
}

// A rotated token that could not be saved is worth nothing once the seller has signed in again.
func TestStore_SignInReplacesUnsavedToken(t *testing.T) {
	endpoint := newEndpoint(
		respondGrant("access-1", `"refresh_token":"refresh-2"`), respondGrant("access-3", `"expires_in":3600`),
	)
	synctest.Test(t, func(t *testing.T) {
		store := newMemoryStore(token.Tokens{RefreshToken: "refresh-1"})
		store.fails = 1
		source := inBubble(t, endpoint, withStore(store))
		_, err := source.Token()
		require.ErrorIs(t, err, errFullDisk)
		store.put(token.Tokens{RefreshToken: "signed-in-again"})
		assert.Equal(t, "access-3", accessToken(t, source))
		assert.Equal(t, []string{"refresh-1", "signed-in-again"}, endpoint.refreshTokens())
		assert.Equal(t, "signed-in-again", store.tokens.RefreshToken)
		require.NoError(t, source.Close())
	})
}

func TestStore_ContinuesAfterSigningInAgain(t *testing.T) {
	for why, stored := range map[string]token.Tokens{
		"revoked":    {RefreshToken: "refresh-1"},
		"signed out": {},
	} {
		endpoint := newEndpoint(respondGrant("access", `"expires_in":3600`))
		if stored.RefreshToken != "" {
			endpoint.responses = append([]http.HandlerFunc{respond(400, `{"error":"invalid_grant"}`)}, endpoint.responses...)
		}
		synctest.Test(t, func(t *testing.T) {
			store := newMemoryStore(stored)
			source := inBubble(t, endpoint, withStore(store))
			start := time.Now()
			for range 3 {
				_, err := source.Token()
				require.ErrorIs(t, err, token.ErrReauthRequired, why)
				assert.LessOrEqual(t, len(endpoint.sent()), 1, "%s: a refused token is sent once", why)
			}
			assert.Zero(t, time.Since(start), "%s: nothing waits", why)
			store.put(token.Tokens{RefreshToken: "refresh-9"})
			assert.Equal(t, "access", accessToken(t, source), why)
		})
	}
}

func TestStore_CloseDoesNotWaitForAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemoryStore(token.Tokens{RefreshToken: "r"})
		unlock, err := store.Lock(t.Context())
		require.NoError(t, err)
		source := newUnclosedSource(t, newEndpoint(respondGrant("access")), withStore(store))
		start := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() {
			_, err := source.Token()
			requireTokenError(t, err)
		})
		synctest.Wait()
		require.NoError(t, source.Close())
		assert.Zero(t, time.Since(start))
		callers.Wait()
		require.NoError(t, unlock())
	})
}

func TestStore_LockThatNeverComesIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemoryStore(token.Tokens{RefreshToken: "r"})
		_, err := store.Lock(t.Context())
		require.NoError(t, err)
		source := inBubble(t, newEndpoint(respondGrant("access")), withStore(store))
		start := time.Now()
		_, err = source.Token()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 90*time.Second, time.Since(start))
	})
}

func TestNewRefreshSource_RefusesTwoHomesOfTheToken(t *testing.T) {
	for why, change := range map[string]func(*token.RefreshConfig){
		"a refresh token": func(c *token.RefreshConfig) { c.RefreshToken = "r" },
		"an OnRotate":     func(c *token.RefreshConfig) { c.OnRotate = func(context.Context, string) error { return nil } },
	} {
		config := testConfig("https://auth.invalid/oauth/token")
		withStore(newMemoryStore(token.Tokens{}))(&config)
		change(&config)
		_, err := token.NewRefreshSource(config)
		require.Error(t, err, why)
	}
}
