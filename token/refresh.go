package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

// RefreshConfig says how to renew access tokens. TokenURL, ClientID and RefreshToken are required.
type RefreshConfig struct {
	TokenURL     string // Must be https, or http to a loopback address.
	ClientID     string
	ClientSecret string // Sent in the form; empty for a public client, which has none.
	Audience     string // What the access token is meant for; left out when empty.
	RefreshToken string
	HTTPClient   *http.Client // Copied, and the copy follows no redirects; nil means a new one.

	// OnRotate is given a refresh token that replaces the one before, which may no longer work, for the
	// program to save. It is called before that token, or the access token that came with it, is used. If it
	// fails, so does the refresh; the token is kept in memory, and the next refresh begins by handing it over
	// again. It must not wait for the source. If it is nil, a rotated token ends with the program.
	OnRotate func(refreshToken string) error
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (RefreshConfig) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "token.RefreshConfig") }

// RefreshSource is an [oauth2.TokenSource] for the refresh-token grant of RFC 6749, section 6. Give it to
// a client without [oauth2.ReuseTokenSource], which would hide this contract. It is safe for concurrent use.
//
//	the access token                                 a caller gets
//	is fresh                                         the token at once
//	advisory: ends in 10 minutes (or in the last     the token at once; one refresh begins in the background
//	quarter of its life)
//	advisory, and the refresh failed                 the token at once; the next refresh begins after a pause of
//	                                                 5 s, doubled up to 1 minute, with jitter
//	mandatory: missing, invalidated, or ends in      what one refresh brings, however many callers wait for it:
//	30 seconds (or in the last tenth)                a token or an error
//	mandatory, and the refresh token was refused     an error that Is [ErrSignInAgain]; nothing is sent
//	of an expiry that is not known                   the token at once, until it is invalidated
//
// The expiry is that of expires_in, or else the exp of a JWT. A caller whose ctx ends stops waiting, but the
// refresh goes on, up to 30 seconds: its answer may hold the only refresh token that still works. Every error is
// a *[Error] without tokens and without the words of the token endpoint.
type RefreshSource struct {
	http    *http.Client
	config  *RefreshConfig // its RefreshToken is the latest; only the flight touches it
	unsaved bool           // RefreshToken has yet to be taken by OnRotate; only the flight touches it
	running sync.WaitGroup // the flight's goroutine

	mu                           sync.Mutex
	flight                       *flight
	token                        *oauth2.Token
	advisory, mandatory, retryAt time.Time // zero means never for the first two, at once for the last
	failures                     int       // since the last success
	invalidated                  time.Time
	closed                       bool
}

// flight is one refresh; token and err are there once done is closed.
type flight struct {
	done  chan struct{}
	token *oauth2.Token
	err   error
}

// NewRefreshSource returns a source that gets its first access token when it is asked; it does no I/O.
func NewRefreshSource(config RefreshConfig) (*RefreshSource, error) {
	if _, err := guard.Endpoint(config.TokenURL); err != nil {
		return nil, fmt.Errorf("refresh token source: token URL: %w", err)
	}
	if config.ClientID == "" || config.RefreshToken == "" {
		return nil, errors.New("refresh token source: the client ID or the refresh token is missing")
	}
	hc := &http.Client{}
	if config.HTTPClient != nil {
		*hc = *config.HTTPClient
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &RefreshSource{config: &config, http: hc}, nil
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (s *RefreshSource) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "token.RefreshSource")
}

// Token implements [oauth2.TokenSource]; it may wait for a refresh.
func (s *RefreshSource) Token() (*oauth2.Token, error) {
	return s.TokenContext(context.Background())
}

// TokenContext is Token for a caller who stops waiting when ctx ends; a client uses it with the call's ctx.
func (s *RefreshSource) TokenContext(ctx context.Context) (*oauth2.Token, error) {
	token, f := s.current()
	switch {
	case token != nil:
		return token, nil
	case f == nil:
		return nil, &Error{Err: errors.New("the refresh token source is closed")}
	}
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return nil, &Error{Err: ctx.Err()}
	}
}

// current returns the token if it can be used, or else the flight to wait for; neither after Close.
func (s *RefreshSource) current() (*oauth2.Token, *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	usable := s.token != nil && !reached(s.mandatory)
	due := !usable || reached(s.advisory) && !time.Now().Before(s.retryAt)
	if due && s.flight == nil && !s.closed {
		s.flight = &flight{done: make(chan struct{})}
		s.running.Go(s.fly)
	}
	if usable {
		return s.token, nil
	}
	return nil, s.flight
}

// fly refreshes and lands the flight.
func (s *RefreshSource) fly() {
	token, err := s.refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flight
	defer close(f.done)
	if err != nil {
		f.err = &Error{Err: err}
		if !errors.Is(f.err, ErrSignInAgain) { // a refused flight stays, because any other would end like it
			pause := min(5*time.Second<<min(s.failures, 4), time.Minute)
			s.flight, s.failures, s.retryAt = nil, s.failures+1, time.Now().Add(pause/2+rand.N(pause/2+1))
		}
		return
	}
	f.token, s.token, s.flight, s.failures, s.retryAt = token, token, nil, 0, time.Time{}
	s.advisory, s.mandatory = token.Expiry, token.Expiry
	if life := time.Until(token.Expiry); !token.Expiry.IsZero() {
		s.advisory = token.Expiry.Add(-min(10*time.Minute, life/4))
		s.mandatory = token.Expiry.Add(-min(30*time.Second, life/10)) // an attempt takes no longer by default
	}
}

// Invalidate makes the next caller wait for a new access token if this is still the current one; a client does
// so after a 401. It works once a minute, because a 401 that the next token gets too has another cause.
func (s *RefreshSource) Invalidate(accessToken string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != nil && s.token.AccessToken == accessToken && time.Since(s.invalidated) >= time.Minute {
		s.token, s.invalidated = nil, time.Now()
	}
}

// Close waits for a refresh that is under way, so that a rotated token is not lost and no goroutine outlives it.
// Afterwards the last access token is given out while it lasts, and no refresh begins. It never fails.
func (s *RefreshSource) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	return nil
}
