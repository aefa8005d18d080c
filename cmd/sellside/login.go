package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sellside-sdk/sellside-go/client/profile"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/login"
)

const loginHelp = `Sign in to a service in the browser, and keep the sign-in as a profile. Other commands
use the profile if no access token is set; --profile chooses one of several.

The first time, say where the service is and which client you have registered there:

  sellside login --base-url https://api.example.com/v2 --issuer https://auth.example.com \
    --client-id ID --redirect-url http://127.0.0.1:8765/callback --audience api.example.com

--issuer reads the addresses of the sign-in from its discovery document; a service
without one needs --authorize-url and --token-url. The redirect URL is the one that is
registered for the client. After that, sellside login signs in again.

The API key and the secret of the client come from SELLSIDE_API_KEY and
SELLSIDE_CLIENT_SECRET, or are asked for. They and the tokens are kept in the keyring of
the system or, if it cannot be used, in files that you alone can read.

Without a browser on this machine, --no-browser prints the URL to open elsewhere, and
reads the whole URL that the browser is then redirected to, even if that page fails.`

// signIn is one call of login.
type signIn struct {
	getenv   func(string) string
	name     string
	given    profile.Profile
	issuer   string
	apiKey   string
	secret   string
	noBrowse bool

	stdin  *bufio.Reader
	stdout io.Writer
	stderr io.Writer
	raw    io.Reader // Of stdin, to find out whether it is a terminal.
}

func newLogin(getenv func(string) string) *cobra.Command {
	s := &signIn{getenv: getenv}
	cmd := &cobra.Command{
		Use: "login", Short: "Sign in to a service in the browser", Long: loginHelp,
		Args: exactly(0, "sellside login [--profile NAME]"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.raw, s.stdin = cmd.InOrStdin(), bufio.NewReader(cmd.InOrStdin())
			s.stdout, s.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.name, "profile", "", "profile to sign in to (default the current one)")
	flags.StringVar(&s.given.BaseURL, "base-url", "", "address of the service with its version (default $SELLSIDE_BASE_URL)")
	flags.StringVar(&s.issuer, "issuer", "", "address whose discovery document has the addresses of the sign-in")
	flags.StringVar(&s.given.AuthorizeURL, "authorize-url", "", "address of the page where you sign in")
	flags.StringVar(&s.given.TokenURL, "token-url", "", "address of the token endpoint")
	flags.StringVar(&s.given.ClientID, "client-id", "", "client that is registered at the service")
	flags.StringVar(&s.given.RedirectURL, "redirect-url", "", "redirect URL that is registered for the client")
	flags.BoolVar(&s.given.AnyPort, "any-port", false, "use a free port in the redirect URL; the service must allow it")
	flags.StringVar(&s.given.Audience, "audience", "", "API that the access token is for")
	flags.StringSliceVar(&s.given.Scopes, "scope", nil, "what to ask for (default openid,offline_access)")
	flags.StringVar(&s.apiKey, "api-key", "", "API key (default $SELLSIDE_API_KEY)")
	flags.StringVar(&s.secret, "client-secret", "", "secret of the client (default $SELLSIDE_CLIENT_SECRET)")
	flags.BoolVar(&s.noBrowse, "no-browser", false, "print the URL, and read the one that the browser is redirected to")
	return cmd
}

// profiles returns the profiles of the user.
func profiles(getenv func(string) string, stderr io.Writer) (*profile.Store, error) {
	warn := func(text string) { fmt.Fprintln(stderr, "sellside: warning:", text) }
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return profile.OpenDir(filepath.Join(dir, "sellside"), warn), nil
	}
	return profile.Open(warn)
}

func (s *signIn) run(ctx context.Context) error {
	for flag, value := range map[string]string{"--api-key": s.apiKey, "--client-secret": s.secret} {
		if value != "" {
			fmt.Fprintf(s.stderr, "sellside: warning: %s can be seen in the process list and the history of the shell\n", flag)
		}
	}
	store, err := profiles(s.getenv, s.stderr)
	if err != nil {
		return err
	}
	p, err := s.profile(ctx, store)
	if err != nil {
		return err
	}
	apiKey, secret, err := s.secrets(store, p)
	if err != nil {
		return err
	}
	flow := login.Flow{Profile: p, ClientSecret: secret, Show: func(authorizeURL string) error { return s.show(ctx, authorizeURL) }}
	if s.noBrowse {
		flow.Paste = s.paste
	}
	tokens, err := flow.Run(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(
		store.Put(ctx, p), store.SetSecret(p.Name, profile.APIKey, apiKey), store.SetSecret(p.Name, profile.ClientSecret, secret),
		store.SetTokens(ctx, p.Name, tokens),
	)
	if err != nil {
		return fmt.Errorf("login: save the profile: %w", err)
	}
	fmt.Fprintf(s.stdout, "Signed in to profile %s%s.\n", p.Name, as(tokens.AccessToken))
	return nil
}

// profile returns the profile with what the flags change, complete.
func (s *signIn) profile(ctx context.Context, store *profile.Store) (profile.Profile, error) {
	_, current, err := store.Names()
	if err != nil {
		return profile.Profile{}, err
	}
	p := profile.Profile{Name: cmp.Or(s.name, current)}
	if err := profile.CheckName(p.Name); err != nil {
		return p, invalidError{err}
	}
	if saved, err := store.Get(p.Name); err == nil {
		p = *saved
	} else if !errors.Is(err, profile.ErrNoProfile) {
		return p, err
	}
	if s.issuer != "" {
		if err := discover(ctx, s.issuer, &p); err != nil {
			return p, err
		}
	}
	given := s.given
	p.BaseURL = cmp.Or(given.BaseURL, p.BaseURL, s.getenv("SELLSIDE_BASE_URL"))
	p.AuthorizeURL, p.TokenURL = cmp.Or(given.AuthorizeURL, p.AuthorizeURL), cmp.Or(given.TokenURL, p.TokenURL)
	p.ClientID, p.RedirectURL = cmp.Or(given.ClientID, p.ClientID), cmp.Or(given.RedirectURL, p.RedirectURL)
	p.Audience, p.AnyPort = cmp.Or(given.Audience, p.Audience), p.AnyPort || given.AnyPort
	if len(given.Scopes) > 0 {
		p.Scopes = given.Scopes
	}
	if len(p.Scopes) == 0 {
		p.Scopes = []string{"openid", "offline_access"}
	}
	var missing []error
	for _, setting := range []struct{ value, flag string }{
		{p.BaseURL, "--base-url"},
		{p.AuthorizeURL, "--issuer or --authorize-url"},
		{p.TokenURL, "--issuer or --token-url"},
		{p.ClientID, "--client-id"},
		{p.RedirectURL, "--redirect-url"},
	} {
		if setting.value == "" {
			missing = append(missing, invalidf("login: profile %s is not complete: use %s", p.Name, setting.flag))
		}
	}
	return p, errors.Join(missing...)
}

// discover reads the addresses of the sign-in from the discovery document of an issuer.
func discover(ctx context.Context, issuer string, p *profile.Profile) error {
	const limit = 64 << 10
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	target := strings.TrimRight(issuer, "/") + "/.well-known/openid-configuration"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return invalidf("login: --issuer (%.200q): not a URL", issuer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("login: read the discovery document: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var found struct {
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, limit)).Decode(&found)
	if resp.StatusCode != http.StatusOK || err != nil || found.Authorize == "" || found.Token == "" {
		return fmt.Errorf("login: no discovery document at %s (status %d): use --authorize-url and --token-url", target, resp.StatusCode)
	}
	p.AuthorizeURL, p.TokenURL = found.Authorize, found.Token
	return nil
}

// secrets returns the API key and the secret of the client: those that are given, saved, or typed.
func (s *signIn) secrets(store *profile.Store, p profile.Profile) (apiKey, secret string, err error) {
	for _, one := range []struct {
		into        *string
		name        profile.Secret
		given       string
		variable    string
		description string
	}{
		{&apiKey, profile.APIKey, s.apiKey, "SELLSIDE_API_KEY", "API key"},
		{&secret, profile.ClientSecret, s.secret, "SELLSIDE_CLIENT_SECRET", "secret of the client (empty for none)"},
	} {
		if *one.into = cmp.Or(one.given, s.getenv(one.variable)); *one.into != "" {
			continue
		}
		if *one.into, err = store.Secret(p.Name, one.name); err != nil {
			return "", "", err
		}
		if *one.into == "" {
			if *one.into, err = s.ask(one.description); err != nil {
				return "", "", err
			}
		}
	}
	if apiKey == "" {
		return "", "", invalidf("login: the API key is missing: set SELLSIDE_API_KEY")
	}
	return apiKey, secret, nil
}

// ask reads a secret that is typed without being shown. It returns "" if nobody can type.
func (s *signIn) ask(what string) (string, error) {
	file, ok := s.raw.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return "", nil
	}
	fmt.Fprintf(s.stderr, "%s: ", what)
	text, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(s.stderr)
	if err != nil {
		return "", fmt.Errorf("login: read the %s: %w", what, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// show prints the URL of the sign-in, and opens it if there is a browser.
func (s *signIn) show(ctx context.Context, authorizeURL string) error {
	fmt.Fprintf(s.stderr, "Open this page to sign in:\n\n  %s\n\n", authorizeURL)
	if s.noBrowse {
		return nil
	}
	program, args := browser(s.getenv)
	if program == "" {
		return nil
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(args, authorizeURL)...) //nolint:gosec // the program that the user has chosen
	if cmd.Start() == nil {                                                                        // if it cannot be opened, the user opens the URL
		go func() { _ = cmd.Wait() }()
	}
	return nil
}

// browser returns the program that opens a URL: $BROWSER, or that of the system if there is a
// screen.
func browser(getenv func(string) string) (program string, args []string) {
	switch chosen := getenv("BROWSER"); {
	case chosen != "":
		return chosen, nil
	case runtime.GOOS == "darwin":
		return "open", nil
	case runtime.GOOS == "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		return "xdg-open", nil
	}
	return "", nil
}

// paste reads a line. It returns early if ctx ends; the goroutine that reads then ends with the
// process.
func (s *signIn) paste(ctx context.Context) (string, error) {
	fmt.Fprint(s.stderr, "Paste the URL that the browser is redirected to: ")
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := s.stdin.ReadString('\n')
		if text != "" {
			err = nil
		}
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		if l.err != nil || strings.TrimSpace(l.text) == "" {
			return "", invalidf("login: no URL was pasted")
		}
		return l.text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// as returns " as ACCOUNT" if an access token says whose it is.
func as(accessToken string) string {
	if subject := subjectOf(accessToken); subject != "" {
		return " as " + subject
	}
	return ""
}

// subjectOf returns the sub of a JWT, for display only: it is not verified.
func subjectOf(accessToken string) string {
	parts := strings.Split(accessToken, ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct{ Sub string }
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return oneWord(claims.Sub)
}

// oneWord returns text that a terminal can show, at most 80 characters, or "".
func oneWord(text string) string {
	if len(text) > 80 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return text
}
