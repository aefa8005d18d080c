package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// Tokens are the tokens of one sign-in, as a [Store] keeps them.
type Tokens struct {
	RefreshToken string    `json:"refreshToken"`
	AccessToken  string    `json:"accessToken,omitempty"` // The last one; it may have expired.
	Expiry       time.Time `json:"expiry,omitzero"`       // Of the access token; zero if it is unknown.
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (Tokens) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "token.Tokens") }

// Store keeps the tokens of one sign-in for all processes that share it. A [RefreshSource] with a
// store uses an access token that another process has saved, and saves a refresh token before it
// sends it: a service that rotates refresh tokens may revoke the sign-in if an old one is sent.
//
// All methods return when ctx ends. Packages below this one have implementations.
type Store interface {
	// Lock waits until no other process has the lock, and takes it. The source holds it from Load
	// until the result of its request is saved, for a minute at most.
	Lock(ctx context.Context) (unlock func() error, err error)
	// Load returns the tokens, the zero Tokens if there are none. The source holds the lock.
	Load(ctx context.Context) (Tokens, error)
	// Save replaces the tokens. They must be durable when it returns. The source holds the lock.
	Save(ctx context.Context, t Tokens) error
}

const (
	lockTimeout = 90 * time.Second // of waiting for the refresh of another process
	loadTimeout = 10 * time.Second
)

// errSignedOut reports that a store has no refresh token. It has the form of the error of a token
// endpoint, so that it Is [ErrReauthRequired].
var errSignedOut = &oauth2.RetrieveError{ErrorCode: "invalid_grant"}

// storeState is what a source knows of its store. Only the running refresh uses it.
type storeState struct {
	Tokens         // As they were last loaded or saved.
	refused string // The refresh token that was last refused: it is not sent again.
}

// openStore locks the store and loads its tokens. It returns the access token that another process
// has saved, or nil if a request is needed. Only the running refresh calls it.
func (s *RefreshSource) openStore() (saved *oauth2.Token, unlock func(), err error) {
	store := s.config().Store
	if store == nil {
		return nil, func() {}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	go func() { // Close does not wait for other processes
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	release, err := store.Lock(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the token store: %w", err)
	}
	unlock = func() { _ = release() } // a lock that cannot be released ends with the process
	saved, err = s.load(store)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return saved, unlock, nil
}

// load takes what other processes have saved since this one did.
func (s *RefreshSource) load(store Store) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
	defer cancel()
	tokens, err := store.Load(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("load the tokens: %w", err)
	case tokens.RefreshToken == "" || tokens.RefreshToken == s.stored().refused:
		return nil, errSignedOut
	case s.unsaved && tokens.RefreshToken == s.stored().RefreshToken:
		return nil, nil // this process has a newer one, which it saves next
	}
	isNew := tokens.AccessToken != s.stored().AccessToken
	s.stored().Tokens = tokens
	s.config().RefreshToken = tokens.RefreshToken
	s.setUnsaved(false)
	access := &oauth2.Token{AccessToken: tokens.AccessToken, Expiry: tokens.Expiry}
	if !isNew || guard.Header(access.AccessToken) != nil || !isFresh(access.Expiry) {
		return nil, nil
	}
	return access, nil
}

// isFresh reports whether a token of this expiry can be used without a refresh.
func isFresh(expiry time.Time) bool {
	const margin = 30 * time.Second // the attempt that carries the token lasts as long by default
	return expiry.IsZero() || time.Until(expiry) > margin
}

// saveRefreshToken is the OnRotate of a source with a store.
func (s *RefreshSource) saveRefreshToken(ctx context.Context, refreshToken string) error {
	tokens := Tokens{RefreshToken: refreshToken}
	if err := s.config().Store.Save(ctx, tokens); err != nil {
		return err
	}
	s.stored().Tokens = tokens
	return nil
}

// share saves an access token for other processes. Without it they send a request each, so that an
// error does not fail the refresh.
func (s *RefreshSource) share(access *oauth2.Token) {
	store := s.config().Store
	if store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
	defer cancel()
	tokens := Tokens{
		RefreshToken: s.config().RefreshToken, AccessToken: access.AccessToken, Expiry: access.Expiry,
	}
	s.stored().AccessToken = tokens.AccessToken // not new to this process, even if it cannot be saved
	_ = store.Save(ctx, tokens)
}

// errTwoHomes reports that a refresh token was given beside a store.
var errTwoHomes = errors.New("refresh token source: store: RefreshToken and OnRotate must be empty beside a Store, which keeps the token")
