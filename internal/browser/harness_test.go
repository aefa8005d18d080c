package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// timeout bounds each step in the browser.
const timeout = time.Minute

// chrome is the browser of all tests. Each test has a tab.
var chrome context.Context

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox) // containers run as root
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "start the browser: install chromium:", err)
		return 1
	}
	chrome = ctx //nolint:fatcontext // chromedp has browsers as contexts
	return m.Run()
}

// noon is the time in the sandbox.
var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// market is a sandbox on a socket.
type market struct {
	*sandbox.Sandbox
	t      *testing.T
	origin string
	stop   func()
}

func open(t *testing.T, change ...func(*sandbox.Options)) *market {
	t.Helper()
	opts := sandbox.Options{Console: true, Manual: true, Delay: -1, Now: func() time.Time { return noon }}
	for _, c := range change {
		c(&opts)
	}
	s, err := sandbox.New(opts)
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	m := &market{Sandbox: s, t: t, origin: "http://" + l.Addr().String()}
	m.stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	t.Cleanup(func() {
		m.stop()
		assert.NoError(t, s.Close())
	})
	return m
}

// call makes a request of a seller.
func (m *market) call(method, path, body string) int {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.origin+sandbox.BasePath+path, strings.NewReader(body))
	require.NoError(m.t, err)
	r.Header.Set("Authorization", "Bearer "+m.Token())
	r.Header.Set("x-api-key", m.APIKey())
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	require.NoError(m.t, err)
	require.NoError(m.t, response.Body.Close())
	return response.StatusCode
}

// tab is a tab of the browser with what it has sent and complained about.
type tab struct {
	context.Context //nolint:containedctx // chromedp has tabs as contexts
	t               *testing.T

	mu       sync.Mutex
	sent     []string // URLs
	problems []string // exceptions, errors on the console, dialogs
	bytes    int64    // of responses, without the stream
}

func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chrome)
	t.Cleanup(cancel)
	b := &tab{Context: ctx, t: t}
	require.NoError(t, chromedp.Listen(ctx, b.note))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	return b
}

func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.sent = append(b.sent, e.Request.URL)
	case *network.EventLoadingFinished:
		b.bytes += int64(e.EncodedDataLength)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			b.problems = append(b.problems, "error on the console")
		}
	case *page.EventJavascriptDialogOpening:
		b.problems = append(b.problems, "dialog: "+e.Message)
	}
}

// noted returns what the tab has sent and complained about.
func (b *tab) noted() (sent, problems []string, received int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sent), slices.Clone(b.problems), b.bytes
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context, timeout)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, steps...))
}

func evaluate[T any](b *tab, script string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context, timeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, options...))
	require.NoError(b.t, err, script)
	return value
}

// until waits until a condition in JavaScript is true.
func (b *tab) until(condition string) {
	b.t.Helper()
	script := `new Promise((resolve, reject) => {
		const end = Date.now() + 30000;
		(function check() {
			if (` + condition + `) resolve(true);
			else if (Date.now() > end) resolve(false);
			else setTimeout(check, 20);
		})();
	})`
	require.True(b.t, evaluate[bool](b, script, chromedp.EvalAwaitPromise), "never true: %s", condition)
}

const isLive = `document.getElementById("live").textContent === "Live"`

// open opens the console with a new code, and waits until it is live.
func (b *tab) open(m *market) {
	b.t.Helper()
	b.do(chromedp.Navigate(m.origin + sandbox.ConsolePath + "?code=" + m.ConsoleCode()))
	b.until(isLive)
}

// view sets the size of the page and the colour scheme.
func (b *tab) view(width, height int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
	_, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(b.t, err)
}

// shoot saves a screenshot if $SCREENSHOTS is a directory.
func (b *tab) shoot(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context, timeout)
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(b.t, err)
	full, err := png.Decode(bytes.NewReader(data))
	require.NoError(b.t, err)
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	file, err := os.Create(filepath.Join(dir, name+".png"))
	require.NoError(b.t, err)
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	require.NoError(b.t, errors.Join(encoder.Encode(file, paletted(full)), file.Close()))
}

// paletted returns an image with the 64 most frequent colours of another one, which is enough for
// a page without photographs, and a quarter of the bytes.
func paletted(full image.Image) image.Image {
	counts := map[color.RGBA]int{}
	area := full.Bounds()
	at := func(x, y int) color.RGBA {
		r, g, b, _ := full.At(x, y).RGBA()
		return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 255}
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	var palette color.Palette
	for c := range counts {
		palette = append(palette, c)
	}
	slices.SortFunc(palette, func(a, b color.Color) int { return counts[b.(color.RGBA)] - counts[a.(color.RGBA)] })
	palette = palette[:min(len(palette), 64)]
	small := image.NewPaletted(area, palette)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			small.Set(x, y, at(x, y))
		}
	}
	return small
}
