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

	// OnRotate saves a refresh token that replaces the one before, which may no longer work. It is called before
	// that token, or the access token that came with it, is used, and never twice at a time. If it fails, so does
	// the refresh: the token is kept in memory and handed over again before the next request, and by Close. ctx
	// ends 30 seconds after the call began, or 10 seconds after [RefreshSource.Close] if that is earlier; a call
	// that has not returned a second later counts as failed, and is not made again until it has returned. OnRotate
	// must not wait for the source. If it is nil, a rotated token is lost when the program ends.
	OnRotate func(ctx context.Context, refreshToken string) error
}

// configName is all that is printed of a [RefreshConfig].
const configName = "token.RefreshConfig"

// Format implements [fmt.Formatter], so that no verb prints the secrets. fmt calls no methods in unexported fields of
// structs, so do not keep a RefreshConfig in one that may be printed: keep the [RefreshSource], which is safe there.
func (RefreshConfig) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, configName) }

// MarshalText implements [encoding.TextMarshaler], so that no encoder, such as those of slog, writes the secrets.
func (RefreshConfig) MarshalText() ([]byte, error) { return []byte(configName), nil }

// RefreshSource is an [oauth2.TokenSource] for the refresh-token grant of RFC 6749, section 6. Give it to
// a client without [oauth2.ReuseTokenSource], which would hide this contract. It is safe for concurrent use.
//
//	the access token                                 a caller gets
//	is fresh                                         the token at once
//	advisory: ends in 10 minutes (or in the last     the token at once; one refresh begins in the background,
//	quarter of its life)                             unless the pause after a failed one has not passed
//	mandatory: missing, invalidated, or ends in      what one refresh brings, however many callers wait for it:
//	30 seconds (or in the last tenth)                a token or an error
//	mandatory, in the pause after a failed refresh   the same, once the pause has passed; a caller whose ctx ends
//	                                                 earlier gets the last error at once
//	mandatory, and the last refresh was refused      an error that Is [ErrRefused]; nothing is sent
//	for good
//	of an expiry that is not known                   the token at once, until it is invalidated
//	of an expiry that was past when it came (the     the token at once, for a minute
//	clocks disagree)
//
// The token endpoint gets one request at a time, and none in the pause after a failure of any kind: 5 seconds,
// doubled up to 1 minute, with jitter, or as long as Retry-After asks, up to a day. [Error].RetryAt says when the
// pause ends. A caller whose ctx has no deadline waits for pauses of up to 30 minutes.
//
// The expiry is that of expires_in, or else the exp of a JWT. A caller whose ctx ends stops waiting, but the
// refresh continues, up to 30 seconds: its response may hold the only refresh token that still works. Every error is
// a *[Error] without tokens and without the words of the token endpoint.
type RefreshSource struct {
	http    *http.Client
	config  hidden[RefreshConfig] // its RefreshToken is the latest; only the flight touches it
	saving  chan error            // the result of a call of OnRotate that did not return in time; only the flight touches it
	closing chan struct{}         // closed by Close

	mu                           sync.Mutex
	flight                       *flight
	unsaved                      bool                 // config.RefreshToken has yet to be taken by OnRotate; written by the flight
	token                        hidden[oauth2.Token] // nil if there is none
	advisory, mandatory, retryAt time.Time            // zero means never for the first two, at once for the last
	failed                       *Error               // of the last refresh; nil if it succeeded
	failures                     int                  // since the last success
	invalidated                  time.Time
	closed                       bool
}

// flight is one refresh; token and err are there once done is closed.
type flight struct {
	start time.Time // when the pause before it ends; zero if there is none
	done  chan struct{}
	token *oauth2.Token
	err   error
}

// The pauses after a failed refresh, and how long callers wait for one.
const (
	firstPause   = 5 * time.Second
	longestPause = time.Minute
	longestWait  = 30 * time.Minute // of a caller without a deadline, as for all that a client waits for
)

var (
	errClosed = errors.New("the refresh token source is closed")
	errZero   = errors.New("the refresh token source was not made by NewRefreshSource")
)

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
	if hc.Transport != nil && guard.Nil(hc.Transport) {
		return nil, fmt.Errorf("refresh token source: HTTP client: the transport must not be a nil %T", hc.Transport)
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &RefreshSource{config: hide(&config), http: hc, closing: make(chan struct{})}, nil
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
	token, f, err := s.current(ctx)
	if f == nil {
		return token, err
	}
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return nil, &Error{Err: ctx.Err()}
	}
}

// current returns the token if it can be used, or else the flight to wait for, or else why there is none.
func (s *RefreshSource) current(ctx context.Context) (*oauth2.Token, *flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	paused := time.Now().Before(s.retryAt)
	inTime := !paused || s.retryAt.Before(patience(ctx))
	usable := s.token != nil && !reached(s.mandatory)
	due := !usable && inTime || usable && reached(s.advisory) && !paused
	if due && s.flight == nil && !s.closed && s.config != nil {
		s.launch()
	}
	switch {
	case usable:
		return s.token(), nil, nil
	case s.flight != nil && inTime:
		return nil, s.flight, nil
	case s.config == nil:
		return nil, nil, &Error{Err: errZero}
	case s.closed:
		return nil, nil, &Error{Err: errClosed}
	default:
		return nil, nil, s.failed
	}
}

// patience returns until when a caller waits for the pause after a failure to pass.
func patience(ctx context.Context) time.Time {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline
	}
	return time.Now().Add(longestWait)
}

// launch begins a flight, with the pause that is left; mu is held.
func (s *RefreshSource) launch() {
	f := &flight{start: s.retryAt, done: make(chan struct{})}
	s.flight = f
	go s.fly(f)
}

// fly waits for the pause, refreshes and lands the flight.
func (s *RefreshSource) fly(f *flight) {
	pause := time.NewTimer(time.Until(f.start))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-s.closing: // a rotated token may have to be saved yet
	}
	token, err := s.refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(f.done)
	s.flight, s.failed, s.retryAt = nil, nil, time.Time{}
	switch {
	case err == nil:
		s.failures = 0
		f.token, s.token = token, hide(token)
		s.advisory, s.mandatory = schedule(token.Expiry)
	case errors.Is(err, errClosed):
		f.err = &Error{Err: err}
	default:
		s.failed = &Error{Err: err}
		f.err = s.failed
		if errors.Is(s.failed, ErrRefused) {
			s.flight = f // it stays, because any other would end like it
			return
		}
		pause := min(firstPause<<min(s.failures, 4), longestPause)
		pause = max(pause/2+rand.N(pause/2+1), pauseAsked(err))
		s.failures++
		s.retryAt = time.Now().Add(pause)
		s.failed.RetryAt = s.retryAt.Round(0)
	}
}

// schedule returns when a token that has just come is to be renewed, and when it can no longer be used.
func schedule(expiry time.Time) (advisory, mandatory time.Time) {
	life := time.Until(expiry)
	switch {
	case expiry.IsZero():
		return time.Time{}, time.Time{}
	case life <= 0: // not a request for each caller
		mandatory = time.Now().Add(time.Minute)
		return mandatory, mandatory
	default: // 30 seconds, because an attempt takes no longer by default
		return expiry.Add(-min(10*time.Minute, life/4)), expiry.Add(-min(30*time.Second, life/10))
	}
}

// Invalidate makes the next caller wait for a new access token if this is still the current one; a client does
// so after a 401. It works once a minute, because a 401 that the next token gets too has another cause.
func (s *RefreshSource) Invalidate(accessToken string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != nil && s.token().AccessToken == accessToken && time.Since(s.invalidated) >= time.Minute {
		s.token, s.invalidated = nil, time.Now()
	}
}

// Close ends the source. It waits for a refresh that is under way, so that a rotated token is not lost: up to 30
// seconds for the response, and then for OnRotate, whose ctx ends 10 seconds later. A token that OnRotate did not take
// before is handed over once more; Close fails if it is not taken, and may be called again. Callers who wait for the
// pause after a failure get an error. Afterwards the last access token is given out while it lasts, and nothing is
// sent. Close is safe for concurrent use, with itself too.
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
	if s.flight == nil && s.unsaved {
		s.launch()
	}
	f := s.flight
	s.mu.Unlock()
	if f == nil {
		return nil
	}
	<-f.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsaved {
		return fmt.Errorf("close: the rotated refresh token is not saved: %w", f.err)
	}
	return nil
}
