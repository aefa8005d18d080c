// Package login signs a seller in with a browser: the authorization code grant of RFC 6749 with
// PKCE, and a callback on this machine or a URL that the seller pastes.
package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/profile"
	"github.com/sellside-sdk/sellside-go/client/token"
)

const (
	// callbackTimeout is how long the seller may take in the browser.
	callbackTimeout = 5 * time.Minute
	// exchangeTimeout is how long the exchange of the code may take.
	exchangeTimeout = 30 * time.Second
)

// Errors of a sign-in.
var (
	// ErrDenied reports that the service refused, or that the seller did.
	ErrDenied = errors.New("the sign-in was refused")
	// ErrForged reports a redirect that is not the response to this sign-in.
	ErrForged = errors.New("the response is not to this sign-in")
	// ErrTimeout reports that no response came in time.
	ErrTimeout = errors.New("no response from the browser")
)

// Flow is one sign-in to a profile.
type Flow struct {
	Profile      profile.Profile
	ClientSecret string
	HTTPClient   *http.Client // Nil for a new one.
	// Show is called with the URL that the seller opens, before the flow waits.
	Show func(authorizeURL string) error
	// Paste reads the URL that the browser was redirected to. Nil waits for a callback instead.
	Paste func(ctx context.Context) (redirectedURL string, err error)

	config   oauth2.Config
	state    string
	verifier string
}

// Run signs in and returns the tokens. It shows nothing of them.
func (f *Flow) Run(ctx context.Context) (token.Tokens, error) {
	redirect, err := url.Parse(f.Profile.RedirectURL)
	if err != nil || redirect.Scheme == "" {
		return token.Tokens{}, fmt.Errorf("login: redirect URL (%.200q): not a URL", f.Profile.RedirectURL)
	}
	f.state, f.verifier = rand.Text(), oauth2.GenerateVerifier()
	wait := f.paste
	if f.Paste == nil {
		l, err := f.listen(ctx, redirect)
		if err != nil {
			return token.Tokens{}, err
		}
		wait = func(ctx context.Context) (url.Values, error) { return f.callback(ctx, l, redirect.Path) }
	}
	f.config = oauth2.Config{
		ClientID: f.Profile.ClientID, ClientSecret: f.ClientSecret, RedirectURL: redirect.String(), Scopes: f.Profile.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: f.Profile.AuthorizeURL, TokenURL: f.Profile.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
	query, err := wait(ctx)
	if err != nil {
		return token.Tokens{}, err
	}
	return f.exchange(ctx, query.Get("code"))
}

// authorizeURL returns the URL of the page where the seller consents.
func (f *Flow) authorizeURL() string {
	opts := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(f.verifier)}
	if f.Profile.Audience != "" {
		opts = append(opts, oauth2.SetAuthURLParam("audience", f.Profile.Audience))
	}
	return f.config.AuthCodeURL(f.state, opts...)
}

// check returns the query of a redirect that responds to this sign-in.
func (f *Flow) check(query url.Values) (url.Values, error) {
	for _, name := range []string{"state", "code", "error"} {
		if len(query[name]) > 1 {
			return nil, fmt.Errorf("login: %w: %s is repeated: sign in again", ErrForged, name)
		}
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(f.state)) != 1 {
		return nil, fmt.Errorf("login: %w: its state is another one: sign in again", ErrForged)
	}
	if code := query.Get("error"); code != "" {
		return nil, fmt.Errorf("login: %w (%s)", ErrDenied, word(code))
	}
	if query.Get("code") == "" {
		return nil, fmt.Errorf("login: %w: it has no code: sign in again", ErrForged)
	}
	return query, nil
}

// word returns a code of RFC 6749, or a replacement for other text, which may be of an attacker.
func word(code string) string {
	if len(code) > 40 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "nonstandard error code"
	}
	return code
}

// paste shows the URL and reads the one that the browser was redirected to.
func (f *Flow) paste(ctx context.Context) (url.Values, error) {
	if err := f.Show(f.authorizeURL()); err != nil {
		return nil, err
	}
	text, err := f.Paste(ctx)
	if err != nil {
		return nil, err
	}
	got, err := url.Parse(strings.TrimSpace(text))
	if err != nil || got.Scheme+"://"+got.Host+got.Path != f.config.RedirectURL {
		return nil, fmt.Errorf("login: %w: paste the whole URL of the browser, which begins with %s", ErrForged, f.config.RedirectURL)
	}
	return f.check(got.Query())
}

// listen listens for the callback on this machine. It sets the port of a redirect URL whose port may
// be any.
func (f *Flow) listen(ctx context.Context, redirect *url.URL) (net.Listener, error) {
	host := redirect.Hostname()
	if redirect.Scheme != "http" || host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("login: redirect URL (%s): not of this machine: use --no-browser and paste the URL", redirect)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	port := redirect.Port()
	if f.Profile.AnyPort {
		port = "0"
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("login: listen for the browser: %w: end the program that uses the port, or use --no-browser", err)
	}
	if f.Profile.AnyPort {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		redirect.Host = net.JoinHostPort(redirect.Hostname(), port)
	}
	return l, nil
}

// callback shows the URL and waits for the first redirect to the path. It closes the listener.
func (f *Flow) callback(ctx context.Context, l net.Listener, path string) (url.Values, error) {
	first := make(chan url.Values, 1)
	srv := &http.Server{
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.redirected(w, r, path, first) }),
	}
	served, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		served <- srv.Serve(l)
	}()
	defer func() {
		_ = srv.Shutdown(context.WithoutCancel(ctx)) // the page is being written; its timeout bounds the wait
		<-done
	}()
	if err := f.Show(f.authorizeURL()); err != nil {
		return nil, err
	}
	timer := time.NewTimer(callbackTimeout)
	defer timer.Stop()
	select {
	case query := <-first:
		return f.check(query)
	case <-timer.C:
		return nil, fmt.Errorf("login: %w within %s: sign in again", ErrTimeout, callbackTimeout)
	case <-ctx.Done():
		return nil, ctx.Err()
	case err := <-served:
		return nil, fmt.Errorf("login: listen for the browser: %w", err)
	}
}

// redirected takes the first request to the path. Its page says nothing of the response: the command
// line reports that.
func (f *Flow) redirected(w http.ResponseWriter, r *http.Request, path string, first chan<- url.Values) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	if r.URL.Path != path || r.Method != http.MethodGet {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	select {
	case first <- r.URL.Query():
		_, _ = io.WriteString(w, "You can close this page and return to the command line.\n")
	default:
		w.WriteHeader(http.StatusGone)
	}
}

// exchange exchanges the code for tokens. Its errors quote nothing of the response.
func (f *Flow) exchange(ctx context.Context, code string) (token.Tokens, error) {
	hc := &http.Client{}
	if f.HTTPClient != nil {
		*hc = *f.HTTPClient
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, hc), exchangeTimeout)
	defer cancel()
	got, err := f.config.Exchange(ctx, code, oauth2.VerifierOption(f.verifier))
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if ok && refused.ErrorCode == "invalid_client" {
		return token.Tokens{}, fmt.Errorf(
			"login: %w: the client id or its secret is wrong: check --client-id and SELLSIDE_CLIENT_SECRET", ErrDenied)
	}
	if ok {
		return token.Tokens{}, fmt.Errorf("login: %w: the token endpoint responded %d (%s)",
			ErrDenied, refused.Response.StatusCode, word(refused.ErrorCode))
	}
	if ended := ctx.Err(); err != nil && ended != nil {
		return token.Tokens{}, fmt.Errorf("login: exchange the code: %w", ended)
	}
	if network, ok := errors.AsType[net.Error](err); ok {
		if wrapped, ok := errors.AsType[*url.Error](network); ok {
			return token.Tokens{}, fmt.Errorf("login: exchange the code: %w", wrapped.Err)
		}
	}
	if err != nil {
		return token.Tokens{}, errors.New("login: exchange the code: the token endpoint returned no tokens")
	}
	if got.RefreshToken == "" {
		return token.Tokens{}, errors.New("login: exchange the code: the token endpoint returned no refresh token: ask for the scope offline_access")
	}
	return token.Tokens{RefreshToken: got.RefreshToken, AccessToken: got.AccessToken, Expiry: got.Expiry}, nil
}
