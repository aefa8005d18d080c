package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time at which tests begin.
var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// unknownID is an id of nothing.
const unknownID = "98e2e748-8000-45bf-a624-5531d6a68318"

// market is a sandbox whose clock and work a test controls. Every response is checked against
// api/openapi.yaml.
type market struct {
	*sandbox.Sandbox
	t   testing.TB
	mu  sync.Mutex
	now time.Time
}

func open(tb testing.TB, change ...func(*sandbox.Options)) *market {
	tb.Helper()
	m := &market{t: tb, now: noon}
	opts := sandbox.Options{Now: m.clock, Manual: true, Delay: time.Second, Quirks: os.Getenv(withQuirks) != ""}
	for _, c := range change {
		c(&opts)
	}
	var err error
	m.Sandbox, err = sandbox.New(opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, m.Close()) })
	return m
}

// inFile puts the database in a file.
func inFile(path string) func(*sandbox.Options) {
	return func(o *sandbox.Options) { o.DB = path }
}

func tempFile(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "sandbox.db")
}

// asKilled returns a copy of a database as a process that is killed now would leave it. No
// transaction may run.
func asKilled(tb testing.TB, file string) string {
	tb.Helper()
	left := tempFile(tb)
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(file + suffix)
		require.NoError(tb, err)
		require.NoError(tb, os.WriteFile(left+suffix, content, 0o600))
	}
	return left
}

// inBackground leaves the work to the worker, with the clock of the bubble.
func inBackground(o *sandbox.Options) {
	o.Manual, o.Now = false, nil
}

func (m *market) clock() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// tick moves the clock and does no work.
func (m *market) tick(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// pass moves the clock and does the work that falls due.
func (m *market) pass(d time.Duration) {
	m.t.Helper()
	m.tick(d)
	require.NoError(m.t, m.Work(m.t.Context()))
}

// settle does all work that was accepted so far.
func (m *market) settle() {
	m.t.Helper()
	m.pass(2 * time.Second)
	m.pass(2 * time.Second)
}

// response is the response to a request.
type response struct {
	t      testing.TB
	status int
	body   any
}

// call makes a request of the first account.
func (m *market) call(method, path string, body any) response {
	m.t.Helper()
	return m.send(m.request(method, path, body))
}

// get makes a read that must succeed.
func (m *market) get(path string, args ...any) response {
	m.t.Helper()
	r := m.call(http.MethodGet, fmt.Sprintf(path, args...), nil)
	require.Equal(m.t, http.StatusOK, r.status, "GET %s: %v", fmt.Sprintf(path, args...), r.body)
	return r
}

func (m *market) request(method, path string, body any) *http.Request {
	m.t.Helper()
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		require.NoError(m.t, err)
		content = bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(m.t.Context(), method, sandbox.BasePath+path, content)
	if content != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+m.Token())
	r.Header.Set("x-api-key", m.APIKey())
	return r
}

func (m *market) send(r *http.Request) response {
	m.t.Helper()
	sent := r.Clone(r.Context()) // the handler reads the body
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	checkResponse(m.t, sent, w)
	return decode(m.t, w)
}

// unchecked returns the response to a request as it is.
func (m *market) unchecked(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	return w
}

// sendUnchecked makes a request whose response may violate the document.
func (m *market) sendUnchecked(r *http.Request) response {
	m.t.Helper()
	return decode(m.t, m.unchecked(r))
}

// raw makes a request of the first account and returns the response with its headers.
func (m *market) raw(method, path string, body any) *httptest.ResponseRecorder {
	m.t.Helper()
	r := m.request(method, path, body)
	sent := r.Clone(r.Context())
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	checkResponse(m.t, sent, w)
	return w
}

func decode(tb testing.TB, w *httptest.ResponseRecorder) response {
	tb.Helper()
	r := response{t: tb, status: w.Code}
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	require.NoError(tb, d.Decode(&r.body))
	if os.Getenv(withQuirks) == "" {
		return r
	}
	if r.body = byValue("", r.body); r.status >= http.StatusBadRequest {
		r.body = errorByValue(r.status, r.body)
	}
	return r
}

// at returns a part of the body: at("items", 0, "status").
func (r response) at(steps ...any) any {
	r.t.Helper()
	v := r.body
	for _, step := range steps {
		switch s := step.(type) {
		case string:
			object, ok := v.(map[string]any)
			require.True(r.t, ok, "%v is no object, at %v", v, steps)
			v = object[s]
		case int:
			array, ok := v.([]any)
			require.True(r.t, ok, "%v is no array, at %v", v, steps)
			require.Less(r.t, s, len(array), "at %v", steps)
			v = array[s]
		}
	}
	return v
}

func (r response) text(steps ...any) string {
	r.t.Helper()
	s, ok := r.at(steps...).(string)
	require.True(r.t, ok, "%v is no string: %v", steps, r.at(steps...))
	return s
}

// each returns one member of all elements of an array.
func (r response) each(array, member string) []string {
	r.t.Helper()
	var all []string
	for i := range r.len(array) {
		all = append(all, r.text(array, i, member))
	}
	return all
}

func (r response) len(steps ...any) int {
	r.t.Helper()
	array, ok := r.at(steps...).([]any)
	require.True(r.t, ok, "%v is no array", steps)
	return len(array)
}

// refused checks that a response is an error. Its message must begin with what is wrong: a
// parameter, the JSON pointer of a member, a header, or the kind of what was not found.
func (r response) refused(status int, what, why string) {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s: %v", why, r.body)
	require.EqualValues(r.t, fmt.Sprint(status), r.at("statusCode"), why)
	rest, ok := strings.CutPrefix(r.text("message"), what)
	require.True(r.t, ok, "%s: %q does not begin with %q", why, r.text("message"), what)
	require.True(r.t, what == "" || rest == "" || strings.ContainsAny(rest[:1], ": "),
		"%s: %q is about more than %q", why, r.text("message"), what)
}

// variant finds the variant of a style in a size.
func variant(tb testing.TB, style, size string) (product sandbox.Product, variantID string) {
	tb.Helper()
	for _, p := range sandbox.Catalog() {
		if p.StyleID != style {
			continue
		}
		for _, v := range p.Variants {
			if v.Size == size {
				return p, v.ID
			}
		}
	}
	require.Fail(tb, "not in the catalog", "%s in %s", style, size)
	return product, ""
}

// chicago is the variant that tests sell.
func chicago(tb testing.TB) string {
	tb.Helper()
	_, id := variant(tb, "DZ5485-612", "10.5")
	return id
}

// createListing creates a listing of the variant that tests sell. more has other members of the body.
func (m *market) createListing(amount string, more map[string]any) response {
	m.t.Helper()
	body := map[string]any{"variantId": chicago(m.t), "amount": amount}
	maps.Copy(body, more)
	return m.call(http.MethodPost, "/selling/listings", body)
}

// sell makes an active listing and returns its id.
func (m *market) sell(amount string) string {
	m.t.Helper()
	r := m.createListing(amount, nil)
	require.Equal(m.t, http.StatusCreated, r.status, "%v", r.body)
	m.settle()
	return r.text("listingId")
}

// order sells a listing and returns the number of its order.
func (m *market) order(amount string) (listing, number string) {
	m.t.Helper()
	listing = m.sell(amount)
	number, err := m.Buy(m.t.Context(), listing)
	require.NoError(m.t, err)
	return listing, number
}

// document reads api/openapi.yaml independently of the sandbox.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(api.Spec)
})

// contract routes by the document, independently of the sandbox.
var contract = sync.OnceValues(func() (routers.Router, error) {
	doc, err := document()
	if err != nil {
		return nil, err
	}
	doc.Servers = openapi3.Servers{{URL: sandbox.BasePath}}
	// Without a decoder the documents of shipments cannot be checked.
	openapi3filter.RegisterBodyDecoder("application/pdf", openapi3filter.FileBodyDecoder)
	return gorillamux.NewRouter(doc)
})

// checkResponse checks a response against the document. Statuses that the operation does not
// declare must fit its default, as must the response to a request of no operation.
func checkResponse(tb testing.TB, r *http.Request, w *httptest.ResponseRecorder) {
	tb.Helper()
	if os.Getenv(withQuirks) != "" {
		return // quirks violate it
	}
	router, err := contract()
	require.NoError(tb, err)
	route, params, err := router.FindRoute(r)
	if err != nil {
		r = httptest.NewRequestWithContext(tb.Context(), http.MethodGet, sandbox.BasePath+"/selling/listings", nil)
		route, params, err = router.FindRoute(r)
		require.NoError(tb, err)
	}
	err = openapi3filter.ValidateResponse(tb.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 w.Code, Header: w.Header(),
		Body:    io.NopCloser(bytes.NewReader(w.Body.Bytes())),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	require.NoError(tb, err, "%s %s: the response violates the document", r.Method, r.URL)
}
