package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// sizes of the page.
const (
	deskWidth, deskHeight   = 1280, 900
	phoneWidth, phoneHeight = 320, 640
)

// busy has everything that the page shows.
func busy(t *testing.T) *market {
	t.Helper()
	m := open(t)
	ctx := t.Context()
	product := sandbox.Catalog()[0]
	for i, v := range product.Variants[8:14] {
		_, err := m.AddListings(ctx, 1+i%3, sandbox.Listing{VariantID: v.ID, Amount: fmt.Sprint(420 + 5*i)})
		require.NoError(t, err)
	}
	for i, status := range []string{"CREATED", "SHIPPED", "AUTHENTICATING", "PAYOUTPENDING", "COMPLETED"} {
		p := sandbox.Catalog()[10*i+3]
		_, err := m.AddOrder(ctx, sandbox.Listing{VariantID: p.Variants[len(p.Variants)/2].ID, Amount: fmt.Sprint(200 + 40*i)}, status)
		require.NoError(t, err)
	}
	shown := product.Variants[10].ID
	require.NoError(t, m.SetBook(ctx, shown, "USD", sandbox.Book{
		Asks: []string{"410", "412", "412", "415", "430", "455"}, Bids: []string{"371", "360", "360", "350", "340"},
	}))
	for _, amount := range []string{"375", "360"} {
		_, err := m.Bid(ctx, shown, "USD", amount)
		require.NoError(t, err)
	}
	var items []string
	for range 40 {
		items = append(items, `{"variantId":"`+shown+`","amount":"415","quantity":1}`)
	}
	require.NoError(t, m.FailWork(ctx, sandbox.Failure{Operation: "CREATE", Times: 2, Error: "the size is not sold here"}))
	assert.Equal(t, http.StatusOK, m.call(http.MethodPost, "/selling/batch/create-listing", `{"items":[`+strings.Join(items, ",")+`]}`))
	require.NoError(t, m.Work(ctx))
	assert.Equal(t, http.StatusOK, m.call(http.MethodPost, "/selling/batch/create-listing", `{"items":[`+items[0]+`]}`))
	for range 8 {
		assert.Equal(t, http.StatusOK, m.call(http.MethodGet, "/selling/listings", ""))
	}
	assert.Equal(t, http.StatusBadRequest, m.call(http.MethodPost, "/selling/listings", `{"variantId":"no","amount":"1"}`))
	return m
}

func arm(t *testing.T, m *market) {
	t.Helper()
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListing", Kind: sandbox.FaultStatus, Status: 503, Times: 2}))
	require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost, Applied: true}))
	require.NoError(t, m.FailWork(t.Context(), sandbox.Failure{Operation: "DELETE", Error: "not today"}))
}

func TestConsole_HasSixStates(t *testing.T) {
	source, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	require.NoError(t, err, "run npm ci in internal/browser")
	empty, full := open(t), busy(t)
	b := newTab(t)
	for _, state := range []struct {
		name          string
		m             *market
		width, height int64
		scheme        string
		faults        bool
	}{
		{"empty", empty, deskWidth, deskHeight, "light", false},
		{"light", full, deskWidth, deskHeight, "light", false},
		{"dark", full, deskWidth, deskHeight, "dark", false},
		{"phone", full, phoneWidth, phoneHeight, "light", false},
		{"busy", full, 1920, 1400, "light", false},
		{"fault", full, deskWidth, deskHeight, "light", true},
	} {
		if state.faults {
			arm(t, state.m)
		}
		b.view(state.width, state.height, state.scheme)
		b.open(state.m)
		assert.LessOrEqual(t, evaluate[int64](b, `document.documentElement.scrollWidth`), state.width, "%s: the page is not wider than the screen", state.name)
		if state.faults {
			b.do(chromedp.ScrollIntoView(chromedp.CSS("#faults")))
		}
		b.shoot(state.name)
		checkAccess(t, b, string(source), state.name)
	}
	b.do(chromedp.Navigate(strings.Replace(full.origin, "127.0.0.1", "localhost", 1) + "/?code=wrong")) // another host has no session
	b.until(`document.querySelector("main.narrow")`)
	checkAccess(t, b, string(source), "refused")
	b.do(chromedp.Navigate(full.origin + "/oauth/authorize?client_id=wrong"))
	checkAccess(t, b, string(source), "sign-in refused")
	b.do(chromedp.Navigate(full.origin + "/oauth/authorize?response_type=code&client_id=" + sandbox.DefaultClientID + "&redirect_uri=" + sandbox.DefaultRedirectURL +
		"&scope=openid&code_challenge_method=S256&code_challenge=" + strings.Repeat("a", 43)))
	b.until(`document.querySelector("select#account")`)
	checkAccess(t, b, string(source), "sign-in")
	_, problems, _ := b.noted()
	assert.Empty(t, problems)
}

// checkAccess runs axe-core on the page.
func checkAccess(t *testing.T, b *tab, axe, name string) {
	t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](axe))
	found := evaluate[[]struct {
		ID     string
		Impact string
		Nodes  []string
	}](b, `axe.run().then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Nodes: v.nodes.map(n => n.html.slice(0, 120) + " " + n.failureSummary)})))`,
		chromedp.EvalAwaitPromise)
	for _, v := range found {
		t.Logf("%s: axe-core: %s (%s): %d nodes", name, v.ID, v.Impact, len(v.Nodes))
		assert.NotContains(t, []string{"serious", "critical"}, v.Impact, "%s: %s: %s", name, v.ID, strings.Join(v.Nodes, "\n"))
	}
	t.Logf("%s: axe-core found %d faults of any impact", name, len(found))
}

func TestConsole_LoadsLittleAndOnlyFromItsHost(t *testing.T) {
	m := busy(t)
	arm(t, m)
	b := newTab(t)
	b.open(m)
	sent, problems, received := b.noted()
	assert.Empty(t, problems)
	assert.NotEmpty(t, sent)
	for _, url := range sent {
		assert.True(t, strings.HasPrefix(url, m.origin+"/"), url)
	}
	t.Logf("the busy page with style, script and icon: %d bytes with headers", received)
	assert.Less(t, received, int64(50<<10))
}

func TestConsole_PaintsAtOnce(t *testing.T) {
	m := busy(t)
	b := newTab(t)
	b.open(m) // the browser is warm from here on
	var paints []int64
	for range 9 {
		b.do(chromedp.Navigate(m.origin + "/"))
		paints = append(paints, evaluate[int64](b, `new Promise((resolve) => new PerformanceObserver((list) => {
			for (const e of list.getEntriesByName("first-contentful-paint")) resolve(Math.round(e.startTime));
		}).observe({type: "paint", buffered: true}))`, chromedp.EvalAwaitPromise))
	}
	slices.Sort(paints)
	// The figure depends on the machine, so that no bound is tested.
	timing := evaluate[string](b, `(({responseStart, responseEnd, domInteractive}) => [responseStart, responseEnd, domInteractive].map(Math.round).join(" "))(performance.getEntriesByType("navigation")[0])`)
	t.Logf("first byte, last byte and interactive in ms: %s", timing)
	t.Logf("first contentful paint in ms: median %d, all %v", paints[len(paints)/2], paints)
	assert.Positive(t, paints[0])
}

func TestConsole_FollowsAndKeepsTheFocus(t *testing.T) {
	m := busy(t)
	b := newTab(t)
	b.open(m)
	b.do(chromedp.Focus(chromedp.CSS("#orders select")))
	before := evaluate[string](b, `document.activeElement.closest("tr").id`)
	require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))
	p := sandbox.Catalog()[5]
	number, err := m.AddOrder(t.Context(), sandbox.Listing{VariantID: p.Variants[0].ID, Amount: "99"}, "CREATED")
	require.NoError(t, err)
	b.until(`document.getElementById("order-` + number + `")`)
	b.until(`document.getElementById("faults").textContent.includes("any operation, next call: lost")`)
	assert.Equal(t, before, evaluate[string](b, `document.activeElement.closest("tr").id`), "new rows come above")
	assert.Equal(t, "SELECT", evaluate[string](b, `document.activeElement.nodeName`))
}

func TestConsole_WorksByKeyboard(t *testing.T) {
	m := busy(t)
	b := newTab(t)
	b.open(m)
	b.do(chromedp.KeyEvent(kb.Tab))
	assert.Equal(t, "Skip to the market", evaluate[string](b, `document.activeElement.textContent`))
	reached := map[string]bool{}
	for range 200 {
		b.do(chromedp.KeyEvent(kb.Tab))
		id := evaluate[string](b, `document.activeElement.id || document.activeElement.name || document.activeElement.getAttribute("aria-label") || document.activeElement.textContent`)
		reached[strings.TrimSpace(id)] = true
		if evaluate[bool](b, `document.activeElement === document.body`) {
			break
		}
	}
	for _, control := range []string{"advance", "sure", "Reset", "product", "currency", "amount", "Bid", "status", "operation", "kind", "times", "applied", "Arm", "Table of the last requests"} {
		assert.True(t, reached[control], control)
	}
	b.do(chromedp.Focus(chromedp.CSS("#amount")), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`), chromedp.KeyEvent("20"+kb.Enter))
	b.until(`document.getElementById("notice").textContent.startsWith("Bid 20 USD bought no listing")`)
	b.do(chromedp.Focus(chromedp.CSS("#sure")), chromedp.KeyEvent(" "+kb.Tab+kb.Enter))
	b.until(`document.getElementById("notice").textContent === "The sandbox is empty."`)
	b.until(`document.getElementById("orders").textContent.includes("No orders yet")`)
	b.do(chromedp.Focus(chromedp.CSS("#advance")), chromedp.KeyEvent(kb.Tab+kb.Enter))
	b.until(`document.getElementById("clock").textContent.includes("13:00:00")`)
}

func TestConsole_WorksWithoutScript(t *testing.T) {
	m := busy(t)
	b := newTab(t)
	_, err := chromedp.Call(b.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	b.do(chromedp.Navigate(m.origin+"/?code="+m.ConsoleCode()), chromedp.Submit(chromedp.CSS(`form[action="/_console/clock"]`)))
	b.do(chromedp.WaitVisible(chromedp.CSS("#notice")))
	ctx := b.Context
	text, err := chromedp.Run(ctx, chromedp.TextContent(chromedp.CSS("#notice")))
	require.NoError(t, err)
	assert.Equal(t, "The clock is at 2026-11-02 13:00:00.", text)
}

func TestConsole_SaysWhenTheSandboxIsGone(t *testing.T) {
	m := open(t)
	b := newTab(t)
	b.open(m)
	m.stop()
	b.until(`document.getElementById("live").textContent !== "Live"`)
}

const attack = `<script>window.attacked = 1</script>"'><img src=x onerror="window.attacked = 2">`

func TestConsole_RunsNoTexts(t *testing.T) {
	m := open(t)
	b := newTab(t)
	b.open(m) // so that the attack comes by events first
	ctx := t.Context()
	p, err := m.AddProduct(ctx, sandbox.Product{Title: attack, Brand: attack})
	require.NoError(t, err)
	require.NoError(t, m.FailWork(ctx, sandbox.Failure{Operation: "CREATE", Error: attack}))
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "GetOrder", Kind: sandbox.FaultStatus, Status: 503, Body: attack}))
	require.Equal(t, http.StatusOK, m.call(http.MethodPost, "/selling/batch/create-listing", `{"items":[{"variantId":"`+p.Variants[0].ID+`","amount":"100","quantity":1}]}`))
	require.NoError(t, m.Work(ctx))
	_, err = m.AddOrder(ctx, sandbox.Listing{VariantID: p.Variants[0].ID, Amount: "100"}, "CREATED")
	require.NoError(t, err)
	check := func(how string) {
		for _, id := range []string{"listings", "orders", "batches", "faults"} {
			b.until(`document.getElementById("` + id + `").textContent.includes("<script>window.attacked")`)
		}
		assert.Zero(t, evaluate[int](b, `document.querySelectorAll("main script, main img").length`), how)
		assert.Equal(t, "undefined", evaluate[string](b, `typeof window.attacked`), how)
	}
	check("by events")
	b.do(chromedp.Navigate(m.origin + "/"))
	b.until(isLive)
	check("in the page")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#orders select").options[0].text = '` + "<img src=x>" + `'`))
	b.do(chromedp.Click(chromedp.CSS("#orders form button")))
	b.until(`document.getElementById("notice").textContent.includes("<img")`)
	assert.Zero(t, evaluate[int](b, `document.querySelectorAll("#notice *").length`), "an error text")
	_, problems, _ := b.noted()
	assert.Empty(t, problems)
}

// TestConsole_IsNotForOtherPorts opens a page of another port of the same host, to which browsers send
// the cookies of the console.
func TestConsole_IsNotForOtherPorts(t *testing.T) {
	m := open(t)
	b := newTab(t)
	b.open(m)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>other</title><form method="post" action="%s/_console/clock"><input name="advance" value="1h"></form>`, m.origin)
	}))
	defer other.Close()
	b.do(chromedp.Navigate(other.URL))

	assert.Equal(t, "refused", evaluate[string](b, `new Promise((resolve) => {
		const s = new EventSource("`+m.origin+`/_console/events", {withCredentials: true});
		s.onmessage = () => resolve("read");
		s.onerror = () => { if (s.readyState === EventSource.CLOSED) resolve("refused"); };
	})`, chromedp.EvalAwaitPromise))
	assert.Equal(t, "refused", evaluate[string](b, `fetch("`+m.origin+`/", {credentials: "include"}).then((r) => r.text(), () => "refused")`, chromedp.EvalAwaitPromise))
	evaluate[string](b, `fetch("`+m.origin+`/_console/reset", {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams("sure=yes")}).then(() => "sent", () => "refused")`, chromedp.EvalAwaitPromise)
	assert.Equal(t, "refused", evaluate[string](b, `new Promise((resolve) => {
		const s = document.createElement("script");
		s.src = "`+m.origin+`/_console/script.js";
		s.onload = () => resolve("loaded");
		s.onerror = () => resolve("refused");
		document.body.append(s);
	})`, chromedp.EvalAwaitPromise))

	evaluate[bool](b, `new Promise((resolve) => {
		const f = document.createElement("iframe");
		f.onload = () => resolve(true);
		f.src = "`+m.origin+`/";
		document.body.append(f);
	})`, chromedp.EvalAwaitPromise)
	frames, err := chromedp.Call(b.Context, page.GetFrameTree, cdp.Empty{})
	require.NoError(t, err)
	require.Len(t, frames.FrameTree.ChildFrames, 1)
	assert.Equal(t, m.origin+"/", frames.FrameTree.ChildFrames[0].Frame.UnreachableURL, "the frame shows no console")

	b.do(chromedp.Submit(chromedp.CSS("form")))
	b.until(`document.body.textContent.includes("sent by another page")`)
	assert.Equal(t, noon, m.Now(), "the clock was not moved")
}
