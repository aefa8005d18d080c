package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// ready is the line that the sandbox prints.
type ready struct{ BaseURL, APIKey, Token, TokenURL, RefreshToken, ControlURL, ControlKey, ConsoleURL string }

func (r ready) settings(t *testing.T) settings {
	t.Helper()
	return settings{
		"SELLSIDE_BASE_URL": r.BaseURL, "SELLSIDE_API_KEY": r.APIKey, "SELLSIDE_TOKEN": r.Token, "XDG_STATE_HOME": t.TempDir(),
	}
}

// startSandbox runs the command until stop is called, which returns its exit code.
func startSandbox(t *testing.T, args ...string) (r ready, stop func() int) {
	t.Helper()
	return startSandboxIn(t, nil, args...)
}

// startSandboxIn does so in an environment.
func startSandboxIn(t *testing.T, env settings, args ...string) (r ready, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := watch("\n")
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"sandbox"}, args...), strings.NewReader(""), out, watch(""), env.get)
	}()
	<-out.seen
	require.NoError(t, json.Unmarshal([]byte(out.String()), &r))
	require.Equal(t, 1, strings.Count(out.String(), "\n"), "one line")
	return r, func() int { cancel(); return <-code }
}

func TestSandbox_PrintsItsURLsAndStopsCleanly(t *testing.T) {
	r, stop := startSandbox(t)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/v2$`, r.BaseURL)
	assert.Equal(t, sandbox.DefaultAPIKey, r.APIKey)
	assert.Equal(t, sandbox.DefaultToken, r.Token)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,1")
	got := sellside(t.Context(), r.settings(t), "sell", path)
	assert.Equal(t, 0, got.code, got.errors)
	assert.Equal(t, 0, stop())
	got = sellside(t.Context(), r.settings(t), "sell", path)
	assert.Equal(t, 1, got.code, "it is gone")
}

func TestSandbox_PrintsLinkToItsConsole(t *testing.T) {
	r, stop := startSandbox(t)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	get := func(target string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		require.NoError(t, err)
		response, err := (&http.Client{Jar: jar, Transport: transport}).Do(request)
		require.NoError(t, err)
		return response
	}
	page := get(r.ConsoleURL)
	page.Body.Close()
	assert.Equal(t, http.StatusOK, page.StatusCode)
	assert.Equal(t, "/", page.Request.URL.RequestURI(), "the code is not in the address")
	events := get(strings.TrimSuffix(r.BaseURL, "/v2") + "/_console/events")
	defer events.Body.Close()
	assert.Equal(t, http.StatusOK, events.StatusCode)
	assert.Equal(t, 0, stop(), "an open page does not keep it")

	r, stop = startSandbox(t, "--console=false")
	assert.Empty(t, r.ConsoleURL)
	assert.Equal(t, 0, stop())
}

func TestSandbox_KeepsItsDatabase(t *testing.T) {
	db := filepath.Join(t.TempDir(), "market.db")
	r, stop := startSandbox(t, "--db", db, "--api-key", "my-key", "--token", "my-token", "--control-key", "my-control")
	origin := strings.TrimSuffix(r.BaseURL, "/v2")
	assert.Equal(t, ready{
		r.BaseURL, "my-key", "my-token", origin + "/oauth/token", sandbox.DefaultRefreshToken, origin + "/_sandbox", "my-control",
		r.ConsoleURL,
	}, r)
	got := sellside(t.Context(), r.settings(t), "sell", stockFile(t, "DZ5485-612,10.5,389,USD,3"))
	require.Equal(t, 0, got.code, got.errors)
	require.Equal(t, 0, stop())

	r, stop = startSandbox(t, "--db", db, "--api-key", "my-key", "--token", "my-token")
	c, err := (&connection{baseURL: r.BaseURL, apiKey: r.APIKey, token: r.Token}).client()
	require.NoError(t, err)
	assert.Len(t, listings(t, c), 3)
	require.Equal(t, 0, stop())
}

func TestSandbox_TakesCredentialsFromTheEnvironment(t *testing.T) {
	env := settings{
		"SELLSIDE_API_KEY": "env-key", "SELLSIDE_TOKEN": "env-token", "SELLSIDE_REFRESH_TOKEN": "env-refresh", "SELLSIDE_CONTROL_KEY": "env-control",
	}
	r, stop := startSandboxIn(t, env)
	assert.Equal(t, []string{"env-key", "env-token", "env-refresh", "env-control"}, []string{r.APIKey, r.Token, r.RefreshToken, r.ControlKey})
	require.Equal(t, 0, stop())
	r, stop = startSandboxIn(t, env, "--api-key", "a", "--token", "b", "--refresh-token", "c", "--control-key", "d")
	assert.Equal(t, []string{"a", "b", "c", "d"}, []string{r.APIKey, r.Token, r.RefreshToken, r.ControlKey}, "a flag wins")
	require.Equal(t, 0, stop())
}

func TestSandbox_TakesEveryFlag(t *testing.T) {
	for _, row := range []struct {
		args []string
		want func(*sandbox.Options)
		why  string
	}{
		{nil, func(*sandbox.Options) {}, "the defaults"},
		{[]string{"--seed", "7"}, func(o *sandbox.Options) { o.Seed = 7 }, "another market"},
		{[]string{"--delay", "0"}, func(o *sandbox.Options) { o.Delay = -1 }, "no delay, which is not the default"},
		{[]string{"--delay", "2s"}, func(o *sandbox.Options) { o.Delay = 2 * time.Second }, "a slow one"},
		{[]string{"--order-step", "0"}, func(o *sandbox.Options) { o.OrderStep = -1 }, "orders are moved by hand"},
		{[]string{"--order-step", "1m"}, func(o *sandbox.Options) { o.OrderStep = time.Minute }, "orders move faster"},
		{[]string{"--quota", "public"}, func(o *sandbox.Options) { o.Quota = quota.Public }, "as live services have it"},
		{[]string{"--quota", "none"}, func(*sandbox.Options) {}, "none is the default"},
		{[]string{"--refresh-token", "x"}, func(o *sandbox.Options) { o.RefreshToken = "x" }, "another refresh token"},
		{[]string{"--token-life", "1m"}, func(o *sandbox.Options) { o.TokenLife = time.Minute }, "tokens that end soon"},
		{[]string{"--client-id", "x"}, func(o *sandbox.Options) { o.SignIn.ClientID = "x" }, "another client"},
		{
			[]string{"--redirect-url", "http://a/", "--redirect-url", "http://b/"},
			func(o *sandbox.Options) { o.SignIn.RedirectURLs = []string{"http://a/", "http://b/"} },
			"two redirect URLs",
		},
		{[]string{"--any-loopback-port"}, func(o *sandbox.Options) { o.SignIn.AnyLoopbackPort = true }, "as RFC 8252 asks"},
		{[]string{"--approve-sign-in"}, func(o *sandbox.Options) { o.SignIn.Approve = true }, "no page, for tests"},
		{[]string{"--log", "off"}, func(*sandbox.Options) {}, "the log is no part of the market"},
		{[]string{"--console=false"}, func(o *sandbox.Options) { o.Console = false }, "no page"},
		{[]string{"--quirks"}, func(o *sandbox.Options) { o.Quirks = true }, "as live services respond"},
		{[]string{"--vague-origin"}, func(o *sandbox.Options) { o.VagueOrigin = true }, "batches are harder to find"},
		{[]string{"--keep-terms"}, func(o *sandbox.Options) { o.KeepTerms = true }, "the other way to change a listing"},
		{[]string{"--book-trades"}, func(o *sandbox.Options) { o.BookTrades = true }, "the book buys and sells"},
		{[]string{"--allow-unknown-parameters"}, func(o *sandbox.Options) { o.AllowUnknownParameters = true }, "a tolerant service"},
		{[]string{"--rotate-refresh-tokens"}, func(o *sandbox.Options) { o.RotateRefreshTokens = true }, "as strict services do"},
	} {
		want := sandbox.Options{
			Delay: sandbox.DefaultDelay, OrderStep: sandbox.DefaultOrderStep, TokenLife: sandbox.DefaultTokenLife, Console: true,
			SignIn: sandbox.SignIn{ClientID: sandbox.DefaultClientID, RedirectURLs: []string{sandbox.DefaultRedirectURL}},
		}
		row.want(&want)
		m := &marketplace{}
		require.NoError(t, m.command(settings{}.get).ParseFlags(row.args), row.why)
		require.NoError(t, m.complete(settings{}.get), row.why)
		assert.True(t, reflect.DeepEqual(want, m.Options), row.why)
	}
	for _, row := range []struct{ flag, value, says string }{
		{"--quota", "some", "--quota"},
		{"--log", "debug", "--log"},
		{"--api-key", "a\nb", "APIKey"},
		{"--token", " b", "Token"},
		{"--control-key", "c\t", "ControlKey"},
		{"--delay", "soon", "--delay"},
		{"--no-such-flag", "1", "--no-such-flag"},
		{"--token-life", "1ms", "--token-life"},
		{"--delay", "-1s", "--delay"},
		{"--order-step", "-1s", "--order-step"},
		{"--seed", "-1", "--seed"},
	} {
		got := sellside(t.Context(), nil, "sandbox", row.flag, row.value)
		assert.Equal(t, 2, got.code, row.flag)
		assert.Contains(t, got.errors, row.says, row.flag)
	}
}

func TestSandbox_FailsWhereItCannotServe(t *testing.T) {
	r, stop := startSandbox(t)
	defer func() { assert.Equal(t, 0, stop()) }()
	taken := strings.TrimSuffix(strings.TrimPrefix(r.BaseURL, "http://"), "/v2")
	got := sellside(t.Context(), nil, "sandbox", "--addr", taken)
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, "choose another --addr")

	got = sellside(t.Context(), nil, "sandbox", "--db", filepath.Join(t.TempDir(), "no", "such", "place.db"))
	assert.Equal(t, 1, got.code)
	assert.Empty(t, got.out)
}

func TestSandbox_StopsOnSignals(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		process := exec.CommandContext(t.Context(), os.Args[0], "sandbox")
		process.Env = append(os.Environ(), asProcess+"=1")
		out, err := process.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, process.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		var r ready
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.NoError(t, process.Process.Signal(signal))
		require.NoError(t, process.Wait(), "exit code 0 after %s", signal)
	}
}

func TestOriginOf_ReachesEveryListener(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "0.0.0.0:0"} {
		l, err := listen(t.Context(), address)
		require.NoError(t, err)
		host, found := strings.CutPrefix(originOf(l), "http://")
		require.True(t, found)
		assert.True(t, strings.HasPrefix(host, "127.0.0.1:"), host)
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
		require.NoError(t, err, address)
		require.NoError(t, conn.Close())
		require.NoError(t, l.Close())
	}
}

func TestListen_RefusesATakenAddress(t *testing.T) {
	l, err := listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = listen(t.Context(), l.Addr().String())
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}

func TestSandbox_LogsWhatItIsAskedTo(t *testing.T) {
	for log, want := range map[string]bool{"off": false, "error": false, "info": true} {
		errors := watch("")
		ctx, cancel := context.WithCancel(t.Context())
		out, code := watch("\n"), make(chan int, 1)
		go func() {
			code <- run(ctx, []string{"sandbox", "--log", log}, strings.NewReader(""), out, errors, settings{}.get)
		}()
		<-out.seen
		var r ready
		require.NoError(t, json.Unmarshal([]byte(out.String()), &r))
		get(t, r.BaseURL+"/selling/listings")
		cancel()
		require.Equal(t, 0, <-code)
		assert.Equal(t, want, strings.Contains(errors.String(), "operation=ListListings"), log)
	}
}

func get(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func TestSandbox_NeedsNoReaderOfItsLog(t *testing.T) {
	for name, closed := range map[string]bool{"not read": false, "closed": true} {
		process := exec.CommandContext(t.Context(), os.Args[0], "sandbox", "--log", "info")
		process.Env = append(os.Environ(), asProcess+"=1")
		out, err := process.StdoutPipe()
		require.NoError(t, err)
		log, err := process.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, process.Start())
		if closed {
			require.NoError(t, log.Close())
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		var r ready
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		for range 300 { // more than the pipe and the buffer have room for
			get(t, r.BaseURL+"/"+strings.Repeat("x", 2000))
		}
		require.NoError(t, process.Process.Signal(syscall.SIGTERM))
		require.NoError(t, process.Wait(), name)
	}
}

func TestSandbox_ShowsTheRunsOfALedger(t *testing.T) {
	env, _, _ := market(t)
	dir := t.TempDir()
	file, path := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,3,left")
	end := sellside(t.Context(), env, "apply", path, "--yes", "--ledger", file)
	require.Equal(t, 0, end.code, end.errors)

	r, stop := startSandbox(t, "--ledger", file)
	cookies, err := cookiejar.New(nil)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.ConsoleURL, nil)
	require.NoError(t, err)
	resp, err := (&http.Client{Jar: cookies}).Do(req)
	require.NoError(t, err)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Contains(t, string(page), "1 apply "+path)
	assert.Equal(t, 0, stop())

	end = sellside(t.Context(), nil, "sandbox", "--ledger", filepath.Join(dir, "none.db"))
	assert.Equal(t, exitInvalid, end.code)
}

func TestApply_UsesAProfile(t *testing.T) {
	_, env, args := loginMarket(t)
	end := browse(t, env, args, func(page *url.URL) { fetch(t, page.String()) })
	require.Equal(t, 0, end.code, end.errors)
	delete(env, "SELLSIDE_API_KEY")
	env["XDG_STATE_HOME"] = t.TempDir()
	path := filepath.Join(t.TempDir(), "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,3,left")
	end = sellside(t.Context(), env, "apply", path, "--yes")
	require.Equal(t, 0, end.code, end.errors)
	end = sellside(t.Context(), env, "runs")
	require.Equal(t, 0, end.code, end.errors)
	assert.Contains(t, end.out, "apply")
}
