// Package token has sources of the access token that every request carries. [RefreshSource] renews
// the token with a refresh token. [Static] is one token that cannot be renewed, and reports when it
// has expired. Give either to client.WithTokenSource.
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

// RefreshConfig is how to renew access tokens. TokenURL and ClientID are required, and
// RefreshToken or Store.
type RefreshConfig struct {
	TokenURL     string // Must be https, or http to a loopback address.
	ClientID     string
	ClientSecret string // Sent in the form; empty for a public client.
	Audience     string // The API that the access token is for; not sent if empty.
	RefreshToken string
	// Store keeps the tokens instead of RefreshToken and OnRotate, which must be empty. Use it if
	// several processes share a sign-in. After [ErrReauthRequired] the source sends nothing until
	// the store has another refresh token.
	Store      Store
	HTTPClient *http.Client // Copied, and the copy follows no redirects; nil for a new one.

	// OnRotate saves a refresh token that replaces the one before, which may no longer work. It is
	// called before the new token, or the access token that came with it, is used. Calls never
	// overlap.
	//
	// If OnRotate fails, so does the refresh. The token stays in memory, and OnRotate is called
	// again before the next request, and by Close. If OnRotate is nil, a rotated token is lost when
	// the program ends.
	//
	// ctx ends 30 seconds after the call began, or 10 seconds after [RefreshSource.Close] if that
	// is earlier. A call that has not returned a second later counts as failed, and is not repeated
	// until it has returned. OnRotate must not wait for the source.
	OnRotate func(ctx context.Context, refreshToken string) error
}

// configText is how a [RefreshConfig] is printed.
const configText = "token.RefreshConfig"

// Format implements [fmt.Formatter], so that no verb prints the secrets. fmt cannot call Format in
// an unexported field of a struct: there, store a [RefreshSource], which is safe, instead of a
// RefreshConfig.
func (RefreshConfig) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, configText) }

// MarshalText implements [encoding.TextMarshaler], so that encoders, such as those of slog, do not
// write the secrets.
func (RefreshConfig) MarshalText() ([]byte, error) { return []byte(configText), nil }

// RefreshSource is an [oauth2.TokenSource] for the refresh-token grant of RFC 6749, section 6. It
// is safe for concurrent use. Do not wrap it in [oauth2.ReuseTokenSource], which would bypass this
// contract:
//
//	the access token                              a caller gets
//	is fresh                                      the token at once
//	advisory: expires in 10 minutes (or in the    the token at once; a refresh starts in the
//	last quarter of its life)                     background, but not in a pause
//	mandatory: missing, invalidated, or expires   the result of one refresh that all callers
//	in 30 seconds (or in the last tenth)          wait for: a token or an error
//	mandatory, in the pause after a failed        the same after the pause; the last error at
//	refresh                                       once if ctx ends earlier
//	mandatory, and the last error Is ErrRefused   the last error; nothing is sent
//	of unknown expiry                             the token at once, until it is invalidated
//	expired when it was issued (clocks differ)    the token at once, for a minute
//
// The token endpoint gets one request at a time, and none in the pause after a failure: 5 seconds,
// doubled with each failure up to 1 minute, with jitter, or as long as Retry-After asks, up to a
// day. [Error].RetryAt is the end of the pause. A caller whose ctx has no deadline waits for pauses
// of up to 30 minutes.
//
// The expiry is from expires_in, or else from the exp of a JWT. A caller whose ctx ends stops
// waiting, but the refresh continues, up to 30 seconds: its response may contain the only refresh
// token that still works. Every error is an *[Error] that quotes neither tokens nor the token
// endpoint.
type RefreshSource struct {
	http     *http.Client
	config   hidden[RefreshConfig] // with the latest refresh token; of the running refresh only
	lateSave chan error            // the result of an overdue call of OnRotate; likewise
	stored   hidden[storeState]    // likewise
	closing  chan struct{}         // closed by Close

	mu          sync.Mutex
	running     *refresh             // nil if none is running; the last one, after ErrRefused
	unsaved     bool                 // OnRotate has not saved the refresh token; set by refreshes
	token       hidden[oauth2.Token] // nil if there is none
	advisory    time.Time            // when the token becomes advisory; zero for never
	mandatory   time.Time            // when the token becomes mandatory; zero for never
	failed      *Error               // of the last refresh; nil if it succeeded
	failures    int                  // since the last success
	retryAt     time.Time            // the end of the pause; zero if there is none
	invalidated time.Time            // when Invalidate last had an effect
	closed      bool
}

// refresh is a refresh that is running. token and err are set when done is closed.
type refresh struct {
	start time.Time // the end of the pause before it; zero if there is none
	done  chan struct{}
	token *oauth2.Token
	err   error
}

const (
	firstPause   = 5 * time.Second
	longestPause = time.Minute
	longestWait  = 30 * time.Minute // of a caller without a deadline, as for all waits of a client
)

var (
	errClosed = errors.New("the refresh token source is closed")
	errZero   = errors.New("the refresh token source is a zero value: use NewRefreshSource")
)

// NewRefreshSource returns a source of access tokens. It does no I/O: the first caller of Token
// waits for the first access token. It returns an error if a required field is missing or TokenURL
// is not safe for secrets.
func NewRefreshSource(config RefreshConfig) (*RefreshSource, error) {
	if _, err := guard.Endpoint(config.TokenURL); err != nil {
		return nil, fmt.Errorf("refresh token source: token URL: %w", err)
	}
	if config.ClientID == "" {
		return nil, errors.New("refresh token source: client ID: must not be empty")
	}
	if config.RefreshToken == "" && config.Store == nil {
		return nil, errors.New("refresh token source: refresh token: must not be empty")
	}
	if config.Store != nil && (config.RefreshToken != "" || config.OnRotate != nil) {
		return nil, errTwoHomes
	}
	hc := &http.Client{}
	if config.HTTPClient != nil {
		*hc = *config.HTTPClient
	}
	if hc.Transport != nil && guard.Nil(hc.Transport) {
		return nil, fmt.Errorf("refresh token source: HTTP client: transport must not be a nil %T",
			hc.Transport)
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &RefreshSource{
		config: hide(&config), stored: hide(&storeState{}), http: hc, closing: make(chan struct{}),
	}
	if config.Store != nil {
		config.OnRotate = s.saveRefreshToken
	}
	return s, nil
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (s *RefreshSource) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "token.RefreshSource")
}

// Token implements [oauth2.TokenSource]. It may wait for a refresh.
func (s *RefreshSource) Token() (*oauth2.Token, error) {
	return s.TokenContext(context.Background())
}

// TokenContext is Token, but stops waiting when ctx ends. A client calls it with the ctx of a call.
func (s *RefreshSource) TokenContext(ctx context.Context) (*oauth2.Token, error) {
	token, running, err := s.current(ctx)
	if running == nil {
		return token, err
	}
	select {
	case <-running.done:
		return running.token, running.err
	case <-ctx.Done():
		return nil, &Error{Err: ctx.Err()}
	}
}

// current returns the token if it can be used, or else the refresh to wait for, or else an error.
func (s *RefreshSource) current(ctx context.Context) (*oauth2.Token, *refresh, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	paused := time.Now().Before(s.retryAt)
	inTime := !paused || s.retryAt.Before(waitLimit(ctx))
	usable := s.token != nil && !reached(s.mandatory)
	due := !usable && inTime || usable && reached(s.advisory) && !paused
	if due && s.running == nil && !s.closed && s.config != nil {
		s.start()
	}
	switch {
	case usable:
		return s.token(), nil, nil
	case s.running != nil && inTime:
		return nil, s.running, nil
	case s.config == nil:
		return nil, nil, &Error{Err: errZero}
	case s.closed:
		return nil, nil, &Error{Err: errClosed}
	default:
		return nil, nil, s.failed
	}
}

// waitLimit returns until when a caller waits for the end of a pause.
func waitLimit(ctx context.Context) time.Time {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline
	}
	return time.Now().Add(longestWait)
}

// start starts a refresh, which waits for the rest of the pause. The caller holds mu.
func (s *RefreshSource) start() {
	s.running = &refresh{start: s.retryAt, done: make(chan struct{})}
	go s.run(s.running)
}

// run waits for the end of the pause, gets a token, and wakes the callers.
func (s *RefreshSource) run(r *refresh) {
	pause := time.NewTimer(time.Until(r.start))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-s.closing: // a rotated token may be unsaved
	}
	token, err := s.getToken()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(r.done)
	s.running, s.failed, s.retryAt = nil, nil, time.Time{}
	switch {
	case err == nil:
		s.failures = 0
		r.token, s.token = token, hide(token)
		s.advisory, s.mandatory = refreshTimes(token.Expiry)
	case errors.Is(err, errClosed):
		r.err = &Error{Err: err}
	default:
		s.failed = &Error{Err: err}
		r.err = s.failed
		if errors.Is(s.failed, ErrReauthRequired) && s.config().Store != nil {
			s.stored().refused = s.config().RefreshToken
			return // the next refresh only looks for another refresh token in the store
		}
		if errors.Is(s.failed, ErrRefused) {
			s.running = r // for good: another refresh would have the same result
			return
		}
		pause := min(firstPause<<min(s.failures, 4), longestPause)
		pause = max(pause/2+rand.N(pause/2+1), requestedPause(err))
		s.failures++
		s.retryAt = time.Now().Add(pause)
		s.failed.RetryAt = s.retryAt.Round(0)
	}
}

// refreshTimes returns when the refresh of a new token becomes advisory, and when mandatory.
func refreshTimes(expiry time.Time) (advisory, mandatory time.Time) {
	life := time.Until(expiry)
	switch {
	case expiry.IsZero():
		return time.Time{}, time.Time{}
	case life <= 0: // use it for a minute, instead of a request for each caller
		mandatory = time.Now().Add(time.Minute)
		return mandatory, mandatory
	default: // 30 seconds is the default timeout of an attempt that carries the token
		return expiry.Add(-min(10*time.Minute, life/4)), expiry.Add(-min(30*time.Second, life/10))
	}
}

// Invalidate makes the next caller wait for a new access token if accessToken is the current one. A
// client calls it after a 401. It has an effect once a minute: if the next token also gets a 401,
// the token is not the cause.
func (s *RefreshSource) Invalidate(accessToken string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == nil || s.token().AccessToken != accessToken {
		return
	}
	if time.Since(s.invalidated) >= time.Minute {
		s.token, s.invalidated = nil, time.Now()
	}
}

// Close closes the source: no request is sent any more. The last access token can be used until it
// expires, and callers who wait for a pause get an error.
//
// Close waits for a running refresh, so that a rotated token is not lost: up to 30 seconds for the
// response, and then for OnRotate, whose ctx ends 10 seconds later. It calls OnRotate again with a
// token that is not saved yet, and returns an error if OnRotate fails; Close can then be called
// again. It is safe for concurrent use.
func (s *RefreshSource) Close() error {
	s.mu.Lock()
	if s.config == nil {
		s.mu.Unlock()
		return nil
	}
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	if s.running == nil && s.unsaved {
		s.start()
	}
	running := s.running
	s.mu.Unlock()
	if running == nil {
		return nil
	}
	<-running.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsaved {
		return fmt.Errorf("close: the rotated refresh token is not saved: %w", running.err)
	}
	return nil
}
