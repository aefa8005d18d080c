package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "127.0.0.1:4711"

// browser is a sandbox with its console, and a browser without a socket.
type browser struct {
	*sandbox.Sandbox
	t       *testing.T
	cookies []*http.Cookie
}

func open(t *testing.T, change ...func(*sandbox.Options)) *browser {
	t.Helper()
	opts := sandbox.Options{Console: true, Manual: true, Delay: -1}
	for _, c := range change {
		c(&opts)
	}
	s, err := sandbox.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return &browser{Sandbox: s, t: t}
}

// signedIn has a session.
func signedIn(t *testing.T, change ...func(*sandbox.Options)) *browser {
	t.Helper()
	b := open(t, change...)
	w := b.get("/?code=" + b.ConsoleCode())
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/", w.Header().Get("Location"))
	b.cookies = w.Result().Cookies()
	return b
}

func (b *browser) send(method, target, form string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	local, err := net.ResolveTCPAddr("tcp", host)
	require.NoError(b.t, err)
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second) // a stream has no end
	defer cancel()
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, net.Addr(local))
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(form))
	r.Host = host
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

func (b *browser) get(target string, headers ...string) *httptest.ResponseRecorder {
	return b.send(http.MethodGet, target, "", headers...)
}

// post sends a form as the script does, from the page.
func (b *browser) post(name string, form url.Values) *httptest.ResponseRecorder {
	return b.send(http.MethodPost, "/_console/"+name, form.Encode(), "Sec-Fetch-Site", "same-origin", "Accept", "text/plain")
}

func TestAccess_CodeWorksOnceForFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t)
		code := b.ConsoleCode()
		<-time.After(5*time.Minute - 1)
		first := b.get("/?code=" + code)
		assert.Equal(t, http.StatusSeeOther, first.Code, "still valid")
		assert.Equal(t, http.StatusUnauthorized, b.get("/?code="+code).Code, "used")
		code = b.ConsoleCode()
		<-time.After(5 * time.Minute)
		assert.Equal(t, http.StatusUnauthorized, b.get("/?code="+code).Code, "too old")
		assert.Equal(t, http.StatusUnauthorized, b.get("/?code="+b.ControlKey()).Code, "the control key is no code")
		assert.Equal(t, http.StatusUnauthorized, b.get("/").Code, "no session")
		code = b.ConsoleCode()
		assert.Equal(t, http.StatusUnauthorized, b.send(http.MethodHead, "/?code="+code, "").Code, "a link checker does not use it")
		assert.Equal(t, http.StatusSeeOther, b.get("/?code="+code).Code, "so that it still works")
	})
}

func TestAccess_CookieIsOfOnePortAndStrict(t *testing.T) {
	b := signedIn(t)
	require.Len(t, b.cookies, 1)
	c := b.cookies[0]
	assert.Equal(t, "sellside-console-4711", c.Name)
	assert.True(t, c.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, c.SameSite)
	assert.Zero(t, c.MaxAge, "of the browser session")
	assert.NotEqual(t, b.ControlKey(), c.Value)
	assert.GreaterOrEqual(t, len(c.Value), 26, "128 bits and more")
	assert.Equal(t, http.StatusOK, b.get("/").Code)
	b.cookies[0].Value = b.ControlKey()
	assert.Equal(t, http.StatusUnauthorized, b.get("/").Code, "the control key is no session")
	b.cookies = nil
	for _, path := range []string{"/", "/_console/events"} {
		assert.Equal(t, http.StatusUnauthorized, b.get(path).Code, path)
	}
	for _, name := range []string{"bids", "clock", "orders", "faults", "clear-faults", "reset"} {
		assert.Equal(t, http.StatusUnauthorized, b.post(name, url.Values{"sure": {"yes"}}).Code, name)
	}
}

func TestAccess_IgnoresCookiesOfOtherPorts(t *testing.T) {
	b := signedIn(t)
	set := &http.Cookie{Name: b.cookies[0].Name, Value: "set-by-another-port"}
	b.cookies = append([]*http.Cookie{set}, b.cookies...)
	assert.Equal(t, http.StatusOK, b.get("/").Code, "it hides no session")
	b.cookies = b.cookies[:1]
	assert.Equal(t, http.StatusUnauthorized, b.get("/").Code, "it is none")
}

func TestAccess_RemembersBoundedCodesAndSessions(t *testing.T) {
	b := signedIn(t)
	oldest := b.ConsoleCode()
	for range 15 {
		b.ConsoleCode()
	}
	newest := b.ConsoleCode()
	assert.Equal(t, http.StatusSeeOther, b.get("/?code="+newest).Code)
	first := b.cookies
	b.cookies = nil
	assert.Equal(t, http.StatusUnauthorized, b.get("/?code="+oldest).Code, "forgotten")
	for range 63 {
		assert.Equal(t, http.StatusSeeOther, b.get("/?code="+b.ConsoleCode()).Code)
	}
	b.cookies = first
	assert.Equal(t, http.StatusUnauthorized, b.get("/").Code, "the oldest session is forgotten")
}

func TestAccess_ServesOnlyNamesOfTheListener(t *testing.T) {
	b := signedIn(t)
	for _, row := range []struct {
		host, why string
		served    bool
	}{
		{"127.0.0.1:4711", "the address", true},
		{"localhost:4711", "the name of loopback", true},
		{"LOCALHOST:4711", "names have no case", true},
		{"[::1]:4711", "loopback as well", true},
		{"attacker.example:4711", "a name that was rebound to this machine", false},
		{"localhost.attacker.example:4711", "a name that only begins well", false},
		{"127.0.0.1.nip.example:4711", "a name that has the address in it", false},
		{"localhost:4712", "another port", false},
		{"localhost", "no port", false},
		{"192.0.2.1:4711", "another address", false},
		{"", "no host", false},
	} {
		for _, path := range []string{"/", "/?code=" + b.ConsoleCode(), "/_console/style.css"} {
			w := b.get(path, "Host", row.host)
			assert.Equal(t, !row.served, w.Code == http.StatusMisdirectedRequest, "%s: %s", row.why, path)
		}
		w := b.send(http.MethodPost, "/_console/clock", "advance=1h", "Host", row.host, "Origin", "http://"+row.host)
		assert.Equal(t, !row.served, w.Code == http.StatusMisdirectedRequest, row.why)
	}
}

func TestAccess_RefusesWritesOfOtherPages(t *testing.T) {
	b := signedIn(t)
	before := b.Now()
	for _, row := range []struct {
		headers []string
		why     string
		status  int
	}{
		{[]string{"Sec-Fetch-Site", "cross-site"}, "a form of another site", http.StatusForbidden},
		{[]string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:9999"}, "another port of this host, to which browsers send the cookie", http.StatusForbidden},
		{[]string{"Origin", "http://127.0.0.1:9999"}, "another port, in a browser without Sec-Fetch-Site", http.StatusForbidden},
		{[]string{"Origin", "null"}, "a sandboxed frame", http.StatusForbidden},
		{[]string{"Sec-Fetch-Site", "same-origin"}, "the page", http.StatusOK},
	} {
		for name, form := range map[string]string{"clock": "advance=1h", "reset": "sure=yes", "faults": "operation=&kind=lost&times=1&code=503&delay=1s"} {
			w := b.send(http.MethodPost, "/_console/"+name, form, row.headers...)
			assert.Equal(t, row.status, w.Code, "%s: %s", row.why, name)
		}
		if row.status == http.StatusForbidden {
			assert.Less(t, b.Now().Sub(before), time.Minute, row.why)
			assert.Empty(t, b.Faults(), row.why)
		}
	}
	assert.Equal(t, http.StatusMethodNotAllowed, b.get("/_console/reset?sure=yes").Code, "a GET changes nothing")
}

func TestAccess_RefusesEventsForOtherPages(t *testing.T) {
	b := signedIn(t)
	for _, row := range []struct{ name, value, why string }{
		{"Origin", "http://127.0.0.1:9999", "another port, to which browsers send the cookie"},
		{"Origin", "https://127.0.0.1:4711", "another scheme"},
		{"Origin", "http://attacker.example", "another site"},
		{"Origin", "null", "a sandboxed frame"},
		{"Sec-Fetch-Site", "same-site", "another port, without cors"},
		{"Sec-Fetch-Site", "cross-site", "another site, without cors"},
	} {
		assert.Equal(t, http.StatusForbidden, b.get("/_console/events", row.name, row.value).Code, row.why)
	}
}

func TestAccess_HeadersProtectEveryResponse(t *testing.T) {
	b := signedIn(t)
	for _, path := range []string{"/", "/?code=wrong", "/_console/script.js", "/_console/nothing"} {
		h := b.get(path).Header()
		policy := strings.Split(h.Get("Content-Security-Policy"), "; ")
		assert.Contains(t, policy, "default-src 'self'", path)
		assert.Contains(t, policy, "frame-ancestors 'none'", path)
		assert.NotContains(t, h.Get("Content-Security-Policy"), "unsafe", path)
		assert.Equal(t, "DENY", h.Get("X-Frame-Options"), path)
		assert.Equal(t, "no-referrer", h.Get("Referrer-Policy"), path)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"), path)
	}
	page := b.get("/")
	assert.Equal(t, "no-store", page.Header().Get("Cache-Control"))
	inline := regexp.MustCompile(`<style|<script>|\s(style|on\w+)=`)
	assert.Empty(t, inline.FindString(page.Body.String()), "neither inline code nor inline style")
}

const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`

// attacked has the attack in every text that others choose.
func attacked(t *testing.T) *browser {
	t.Helper()
	b := signedIn(t, func(o *sandbox.Options) {
		o.Accounts = []sandbox.Account{{Name: attack}}
		o.Runs = func(context.Context) ([]sandbox.Run, error) { return []sandbox.Run{{Name: attack, State: attack}}, nil }
	})
	ctx := t.Context()
	p, err := b.AddProduct(ctx, sandbox.Product{Title: attack, Brand: attack, StyleID: attack, Variants: []sandbox.Variant{{Size: "9"}}})
	require.NoError(t, err)
	_, err = b.AddOrder(ctx, sandbox.Listing{VariantID: p.Variants[0].ID, Amount: "200", Account: attack}, "SHIPPED")
	require.NoError(t, err)
	require.NoError(t, b.FailWork(ctx, sandbox.Failure{Operation: "CREATE", Times: 2, Error: attack}))
	require.NoError(t, b.Fail(sandbox.Fault{Kind: sandbox.FaultStatus, Status: 503, Body: attack, Contains: attack}))
	w := b.send(http.MethodPost, "/v2/selling/batch/create-listing",
		`{"items":[{"variantId":"`+p.Variants[0].ID+`","amount":"100","quantity":1}]}`,
		"Content-Type", "application/json", "Authorization", "Bearer "+b.Token(), "x-api-key", b.APIKey())
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.NoError(t, b.Work(ctx))
	b.get("/v2/" + url.PathEscape(attack))
	return b
}

func TestPage_TextsAreData(t *testing.T) {
	b := attacked(t)
	page := b.get("/").Body.String()
	assert.NotContains(t, page, "<script>")
	assert.NotContains(t, page, "<img")
	assert.GreaterOrEqual(t, strings.Count(page, "&lt;script&gt;"), 9, "title, brand, style, account, error, path, run, fault and failure are shown")
	w := b.post("orders", url.Values{"number": {attack}, "status": {"SHIPPED"}})
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"), "an error text is no page")
	b.send(http.MethodPost, "/_console/orders", url.Values{"number": {attack}}.Encode(), "Accept", "text/html", "Sec-Fetch-Site", "same-origin")
	page = b.get("/").Body.String()
	assert.Contains(t, page, "&lt;script&gt;", "the notice without a script")
	assert.NotContains(t, page, "<script>")
}

func TestPage_ActionsDoAsTheMethods(t *testing.T) {
	b := signedIn(t)
	p := sandbox.Catalog()[0]
	variant := p.Variants[0].ID
	require.NoError(t, b.SetBook(t.Context(), variant, "USD", sandbox.Book{Bids: []string{"150"}}))
	_, err := b.AddListings(t.Context(), 2, sandbox.Listing{VariantID: variant, Amount: "200"})
	require.NoError(t, err)

	w := b.post("bids", url.Values{"variant": {variant}, "currency": {"USD"}, "amount": {"180"}})
	assert.Equal(t, http.StatusOK, w.Code, w.Body)
	bids, err := b.Bids(t.Context())
	require.NoError(t, err)
	require.Len(t, bids, 1)
	assert.Equal(t, "180", bids[0].Amount)

	w = b.post("bids", url.Values{"variant": {variant}, "currency": {"USD"}, "amount": {"200"}})
	assert.Equal(t, http.StatusOK, w.Code, w.Body)
	_, number, sold := strings.Cut(strings.TrimSuffix(w.Body.String(), "."), "order ")
	require.True(t, sold, w.Body)
	assert.Equal(t, http.StatusOK, b.post("orders", url.Values{"number": {number}, "status": {"SHIPPED"}}).Code)
	assert.Equal(t, http.StatusBadRequest, b.post("orders", url.Values{"number": {number}, "status": {"CREATED"}}).Code, "no such transition")

	before := b.Now()
	assert.Equal(t, http.StatusOK, b.post("clock", url.Values{"advance": {"24h"}}).Code)
	assert.GreaterOrEqual(t, b.Now().Sub(before), 24*time.Hour)
	for _, wrong := range []string{"", "soon", "-1h"} {
		assert.Equal(t, http.StatusBadRequest, b.post("clock", url.Values{"advance": {wrong}}).Code, wrong)
	}

	fault := url.Values{"operation": {"GetOrder"}, "kind": {"status"}, "code": {"503"}, "times": {"2"}, "delay": {"5s"}, "applied": {"yes"}}
	assert.Equal(t, http.StatusOK, b.post("faults", fault).Code)
	assert.Equal(t, []sandbox.Fault{{Operation: "GetOrder", Kind: sandbox.FaultStatus, Status: 503, Times: 2, Applied: true}}, b.Faults())
	page := b.get("/").Body.String()
	assert.Contains(t, page, "GetOrder, next 2 calls: status 503, after the call was handled")
	assert.Contains(t, page, `id="order-`+number+`"`)
	assert.Equal(t, http.StatusOK, b.post("clear-faults", nil).Code)
	assert.Empty(t, b.Faults())
	for name, value := range map[string]string{"kind": "no", "times": "0", "operation": "No", "delay": "x"} {
		wrong := url.Values{"kind": {"lost"}, "code": {"503"}, "times": {"1"}, "delay": {"5s"}}
		wrong.Set(name, value)
		assert.Equal(t, http.StatusBadRequest, b.post("faults", wrong).Code, name)
	}

	assert.Equal(t, http.StatusBadRequest, b.post("reset", nil).Code, "not without the box")
	assert.Equal(t, http.StatusOK, b.post("reset", url.Values{"sure": {"yes"}}).Code)
	bids, err = b.Bids(t.Context())
	require.NoError(t, err)
	assert.Empty(t, bids)
	assert.Equal(t, http.StatusOK, b.get("/").Code, "the session stays")
	assert.Empty(t, b.Counters(), "the console is not counted")
}

func TestPage_ShowsLastRequestsOfSellers(t *testing.T) {
	b := signedIn(t)
	for range 60 {
		b.get("/v2/selling/listings", "Authorization", "Bearer "+b.Token(), "x-api-key", b.APIKey())
	}
	b.get(sandbox.HealthPath)
	b.get(sandbox.ControlPath)
	page := b.get("/").Body.String()
	assert.Equal(t, 12, strings.Count(page, "GET /v2/selling/listings"))
	assert.NotContains(t, page, "GET "+sandbox.HealthPath)
	assert.NotContains(t, page, "GET "+sandbox.ControlPath)
	assert.NotContains(t, page, b.APIKey())
	assert.NotContains(t, page, b.Token())
	assert.NotContains(t, page, b.ControlKey())
}

func TestControl_MakesCodes(t *testing.T) {
	b := open(t)
	w := b.send(http.MethodPost, sandbox.ControlPath+"/consoles", "", "x-sandbox-key", b.ControlKey())
	require.Equal(t, http.StatusCreated, w.Code)
	var made struct{ Path string }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &made))
	assert.Equal(t, http.StatusSeeOther, b.get(made.Path).Code)
	assert.Equal(t, http.StatusUnauthorized, b.send(http.MethodPost, sandbox.ControlPath+"/consoles", "").Code, "not without the key")
	b.Sandbox = open(t, func(o *sandbox.Options) { o.Console = false }).Sandbox
	w = b.send(http.MethodPost, sandbox.ControlPath+"/consoles", "", "x-sandbox-key", b.ControlKey())
	assert.Equal(t, http.StatusNotFound, w.Code, "no console")
}

func TestConsole_IsOffByDefault(t *testing.T) {
	b := open(t, func(o *sandbox.Options) { o.Console = false })
	assert.Empty(t, b.ConsoleCode())
	assert.Equal(t, http.StatusUnauthorized, b.get("/").Code, "a path of the API, without credentials")
	assert.Equal(t, "application/json", b.get("/_console/style.css").Header().Get("Content-Type"))
}

// served serves a sandbox on a socket, until stop is called, and returns a client with a session.
func served(t *testing.T) (b *browser, origin string, c *http.Client, stop func()) {
	t.Helper()
	b = open(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Serve(ctx, l) }()
	transport := &http.Transport{MaxConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	jar := &cookieJar{}
	c = &http.Client{Transport: transport, Jar: jar}
	stop = func() {
		cancel()
		assert.NoError(t, <-ended)
	}
	return b, "http://" + l.Addr().String(), c, stop
}

// cookieJar sends all cookies that it got.
type cookieJar struct{ all []*http.Cookie }

func (j *cookieJar) SetCookies(_ *url.URL, c []*http.Cookie) { j.all = append(j.all, c...) }
func (j *cookieJar) Cookies(*url.URL) []*http.Cookie         { return j.all }

func request(t *testing.T, c *http.Client, target string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	require.NoError(t, err)
	response, err := c.Do(r)
	require.NoError(t, err)
	return response
}

// nextPart reads events up to a part with an id.
func nextPart(t *testing.T, lines *bufio.Reader, id string) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var part struct{ ID, HTML string }
		require.NoError(t, json.Unmarshal([]byte(data), &part))
		if part.ID == id {
			return part.HTML
		}
	}
}

func TestEvents_FollowChangesAndEndOnShutdown(t *testing.T) {
	b, origin, c, stop := served(t)
	page := request(t, c, origin+"/?code="+b.ConsoleCode())
	require.Equal(t, http.StatusOK, page.StatusCode)
	page.Body.Close()
	events := request(t, c, origin+"/_console/events")
	defer events.Body.Close()
	require.Equal(t, "text/event-stream", events.Header.Get("Content-Type"))
	lines := bufio.NewReader(events.Body)
	assert.Contains(t, nextPart(t, lines, "faults"), "No fault is armed")
	require.NoError(t, b.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))
	assert.Contains(t, nextPart(t, lines, "faults"), "any operation, next call: lost")
	stop()
	_, err := io.Copy(io.Discard, lines)
	assert.NoError(t, err, "it ended, and was not cut")
}

func TestEvents_AreBounded(t *testing.T) {
	b, origin, c, stop := served(t)
	defer stop()
	request(t, c, origin+"/?code="+b.ConsoleCode()).Body.Close()
	var first *http.Response
	for range 16 {
		events := request(t, c, origin+"/_console/events")
		require.Equal(t, http.StatusOK, events.StatusCode)
		defer events.Body.Close()
		first = events
	}
	refused := request(t, c, origin+"/_console/events")
	assert.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	assert.NotEmpty(t, refused.Header.Get("Retry-After"))
	refused.Body.Close()
	first.Body.Close()
	require.Eventually(t, func() bool {
		again := request(t, c, origin+"/_console/events")
		defer again.Body.Close()
		return again.StatusCode == http.StatusOK
	}, 10*time.Second, 50*time.Millisecond, "a client that is gone makes room")
}
