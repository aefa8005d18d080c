package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	system "github.com/zalando/go-keyring"

	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// secretOfLogin is what no output shows.
var secretsOfLogin = []string{sandbox.DefaultAPIKey, sandbox.DefaultClientSecret, "eyJ"}

// loginMarket starts a sandbox that approves every sign-in, and returns the flags of a login.
func loginMarket(t *testing.T, change ...func(*sandbox.Options)) (*sandboxtest.Market, settings, []string) {
	t.Helper()
	system.MockInit()
	m := sandboxtest.New(t, append(change, func(o *sandbox.Options) {
		o.SignIn.Approve, o.SignIn.AnyLoopbackPort = true, true
	})...)
	env := settings{
		"XDG_CONFIG_HOME": t.TempDir(), "XDG_STATE_HOME": t.TempDir(), "SELLSIDE_API_KEY": m.APIKey(), "SELLSIDE_CLIENT_SECRET": sandbox.DefaultClientSecret,
		"BROWSER": "true", // a program that does nothing
	}
	return m, env, []string{
		"login", "--base-url", m.URL, "--issuer", strings.TrimSuffix(m.URL, sandbox.BasePath),
		"--client-id", sandbox.DefaultClientID, "--redirect-url", sandbox.DefaultRedirectURL, "--any-port",
	}
}

var pageURL = regexp.MustCompile(`  (http\S+)\n`)

// browse runs a login, and visits the page that it shows as a browser does.
func browse(t *testing.T, env settings, args []string, visit func(page *url.URL)) ending {
	t.Helper()
	stderr, stdout := watch("\n\n  http"), &bytes.Buffer{}
	shown := make(chan int, 1)
	go func() { shown <- run(t.Context(), args, strings.NewReader(""), stdout, stderr, env.get) }()
	select {
	case <-stderr.seen:
	case code := <-shown:
		return ending{code, stdout.String(), stderr.String()}
	}
	var found []string
	require.Eventually(t, func() bool {
		found = pageURL.FindStringSubmatch(stderr.String())
		return found != nil
	}, time.Minute, time.Millisecond)
	page, err := url.Parse(found[1])
	require.NoError(t, err)
	visit(page)
	code := <-shown
	for _, secret := range secretsOfLogin {
		assert.NotContains(t, stdout.String()+stderr.String(), secret)
	}
	return ending{code, stdout.String(), stderr.String()}
}

func fetch(t *testing.T, target string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

func TestLogin_SignsInAndOtherCommandsUseIt(t *testing.T) {
	_, env, args := loginMarket(t, func(o *sandbox.Options) { o.RotateRefreshTokens = true })
	end := browse(t, env, args, func(page *url.URL) {
		assert.Equal(t, "S256", page.Query().Get("code_challenge_method"))
		status, body := fetch(t, page.String())
		assert.Equal(t, http.StatusOK, status)
		assert.Contains(t, body, "close this page")
	})
	require.Equal(t, 0, end.code, end.errors)
	assert.Equal(t, "Signed in to profile default as first.\n", end.out)

	delete(env, "SELLSIDE_API_KEY")
	delete(env, "SELLSIDE_CLIENT_SECRET")
	for range 2 {
		end = sellside(t.Context(), env, "whoami")
		require.Equal(t, 0, end.code, end.errors)
		assert.Contains(t, end.out, "ACCOUNT        first\n")
		assert.Contains(t, end.out, "PROFILE        default\n")
	}
	end = sellside(t.Context(), env, "sell", stockFile(t, "DZ5485-612,10,162,USD,1"))
	require.Equal(t, 0, end.code, end.errors)

	config, err := os.ReadFile(filepath.Join(env["XDG_CONFIG_HOME"], "sellside", "config.json"))
	require.NoError(t, err)
	for _, secret := range secretsOfLogin {
		assert.NotContains(t, string(config), secret)
	}
	end = sellside(t.Context(), env, "profiles")
	assert.True(t, strings.HasPrefix(end.out, "* default  http://127.0.0.1:"), end.out)

	end = sellside(t.Context(), env, "logout")
	require.Equal(t, 0, end.code, end.errors)
	end = sellside(t.Context(), env, "whoami")
	assert.Equal(t, exitFailed, end.code)
	assert.Contains(t, end.errors, "sellside login")
	end = sellside(t.Context(), env, "logout", "--forget")
	require.Equal(t, 0, end.code, end.errors)
	assert.Empty(t, sellside(t.Context(), env, "profiles").out)
}

func TestLogin_CallbackTakesOneResponseToItsOwnRequest(t *testing.T) {
	for why, attack := range map[string]struct {
		callback func(page *url.URL) url.Values
		says     string
	}{
		"another state": {func(*url.URL) url.Values { return url.Values{"state": {"guessed"}, "code": {"c"}} }, "not to this sign-in"},
		"no state":      {func(*url.URL) url.Values { return url.Values{"code": {"c"}} }, "not to this sign-in"},
		"two states": {func(page *url.URL) url.Values {
			return url.Values{"state": {page.Query().Get("state"), "x"}, "code": {"c"}}
		}, "not to this sign-in"},
		"no code": {func(page *url.URL) url.Values { return url.Values{"state": {page.Query().Get("state")}} }, "not to this sign-in"},
		"denied": {func(page *url.URL) url.Values {
			return url.Values{"state": {page.Query().Get("state")}, "error": {"access_denied"}}
		}, "access_denied"},
		"an error text of an attacker": {func(page *url.URL) url.Values {
			return url.Values{"state": {page.Query().Get("state")}, "error": {"\x1b[2J run this"}}
		}, "nonstandard error code"},
		"a code of another sign-in": {func(page *url.URL) url.Values {
			return url.Values{"state": {page.Query().Get("state")}, "code": {"stolen"}}
		}, "invalid_grant"},
	} {
		_, env, args := loginMarket(t)
		end := browse(t, env, args, func(page *url.URL) {
			redirect := page.Query().Get("redirect_uri")
			status, _ := fetch(t, strings.Replace(redirect, "/callback", "/favicon.ico", 1))
			assert.Equal(t, http.StatusNotFound, status, "another path is not a response: %s", why)
			_, body := fetch(t, redirect+"?"+attack.callback(page).Encode())
			assert.NotContains(t, body, "run this", why)
		})
		assert.Equal(t, exitFailed, end.code, why)
		assert.Contains(t, end.errors, attack.says, why)
		assert.NotContains(t, end.errors, "\x1b", why)
		assert.Empty(t, sellside(t.Context(), env, "profiles").out, "nothing is saved: %s", why)
	}
}

func TestLogin_ReadsThePastedURL(t *testing.T) {
	m, env, args := loginMarket(t)
	args = append(args, "--no-browser")
	for why, row := range map[string]struct {
		pasted func(redirected string) string
		code   int
	}{
		"the whole URL":    {func(u string) string { return u }, 0},
		"with space":       {func(u string) string { return "  " + u + "  " }, 0},
		"the code alone":   {func(u string) string { return u[strings.Index(u, "code="):] }, exitFailed},
		"of another host":  {func(u string) string { return strings.Replace(u, "127.0.0.1", "127.0.0.2", 1) }, exitFailed},
		"of another state": {func(u string) string { return strings.Replace(u, "state=", "state=x", 1) }, exitFailed},
		"nothing":          {func(string) string { return "" }, exitInvalid},
	} {
		stderr, stdout := watch("Paste the URL"), &bytes.Buffer{}
		typed, keyboard := io.Pipe()
		ended := make(chan int, 1)
		go func() { ended <- run(t.Context(), args, typed, stdout, stderr, env.get) }()
		<-stderr.seen
		page := pageURL.FindStringSubmatch(stderr.String())[1]
		noRedirect := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
		require.NoError(t, err)
		resp, err := noRedirect.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		_, _ = io.WriteString(keyboard, row.pasted(resp.Header.Get("Location"))+"\n")
		_ = keyboard.Close()
		assert.Equal(t, row.code, <-ended, "%s: %s", why, stderr)
	}
	require.NotNil(t, m)
}

func TestLogin_KeepsSecretsInFilesWithoutAKeyring(t *testing.T) {
	_, env, args := loginMarket(t)
	system.MockInitWithError(system.ErrUnsupportedPlatform)
	t.Cleanup(system.MockInit)
	end := browse(t, env, args, func(page *url.URL) { fetch(t, page.String()) })
	require.Equal(t, 0, end.code, end.errors)
	assert.Contains(t, end.errors, "the keyring cannot keep the api-key of profile default")
	dir := filepath.Join(env["XDG_CONFIG_HOME"], "sellside")
	for _, name := range []string{"default.api-key", "default.client-secret", "default.tokens"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	require.Equal(t, 0, sellside(t.Context(), env, "whoami").code)
	require.Equal(t, 0, sellside(t.Context(), env, "logout", "--forget").code)
	left, err := filepath.Glob(filepath.Join(dir, "default.[act]*"))
	require.NoError(t, err)
	for _, file := range left {
		assert.Equal(t, ".lock", filepath.Ext(file))
	}
}

func TestLogin_RefusesIncompleteFlags(t *testing.T) {
	env := settings{"XDG_CONFIG_HOME": t.TempDir(), "SELLSIDE_API_KEY": "k"}
	end := sellside(context.Background(), env, "login")
	assert.Equal(t, exitInvalid, end.code)
	for _, flag := range []string{"--base-url", "--authorize-url", "--token-url", "--client-id", "--redirect-url"} {
		assert.Contains(t, end.errors, flag)
	}
	end = sellside(t.Context(), env, "login", "--profile", "../x")
	assert.Equal(t, exitInvalid, end.code)
	end = sellside(t.Context(), env, "whoami", "--profile", "none")
	assert.Equal(t, exitInvalid, end.code)
	end = sellside(t.Context(), env, "profiles", "use", "none")
	assert.Equal(t, exitInvalid, end.code)
}

func TestLogin_WarnsOfSecretsInFlags(t *testing.T) {
	env := settings{"XDG_CONFIG_HOME": t.TempDir()}
	end := sellside(t.Context(), env, "login", "--api-key", "hush", "--client-secret", "hush")
	assert.Contains(t, end.errors, "--api-key can be seen")
	assert.Contains(t, end.errors, "--client-secret can be seen")
	assert.NotContains(t, end.errors, "hush")
}

func TestDoctor_ChecksTheProfile(t *testing.T) {
	_, env, args := loginMarket(t)
	end := browse(t, env, args, func(page *url.URL) { fetch(t, page.String()) })
	require.Equal(t, 0, end.code, end.errors)
	delete(env, "SELLSIDE_API_KEY")
	end = sellside(t.Context(), env, "doctor")
	require.Equal(t, 0, end.code, end.errors)
	require.Equal(t, 0, sellside(t.Context(), env, "logout").code)
	end = sellside(t.Context(), env, "doctor")
	assert.Equal(t, exitFailed, end.code)
	assert.Contains(t, end.errors, "sign in with sellside login")
}
