package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// noon is when tests begin.
var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// market is a sandbox whose time and work a test is in charge of. Every answer
// it gives is checked against api/openapi.yaml.
type market struct {
	*sandbox.Sandbox
	t   testing.TB
	mu  sync.Mutex
	now time.Time
}

func open(tb testing.TB, change ...func(*sandbox.Options)) *market {
	tb.Helper()
	m := &market{t: tb, now: noon}
	opts := sandbox.Options{Now: m.clock, Manual: true, Delay: time.Second}
	for _, c := range change {
		c(&opts)
	}
	var err error
	m.Sandbox, err = sandbox.New(opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, m.Close()) })
	return m
}

// inFile keeps the database of a sandbox in a file.
func inFile(path string) func(*sandbox.Options) {
	return func(o *sandbox.Options) { o.DB = path }
}

func tempFile(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "sandbox.db")
}

func (m *market) clock() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// pass lets time go by and does what falls due.
func (m *market) pass(d time.Duration) {
	m.t.Helper()
	m.mu.Lock()
	m.now = m.now.Add(d)
	m.mu.Unlock()
	require.NoError(m.t, m.Work(m.t.Context()))
}

// settle lets everything happen that was asked for.
func (m *market) settle() {
	m.t.Helper()
	m.pass(2 * time.Second)
	m.pass(2 * time.Second)
}

// answer is what came back.
type answer struct {
	t      testing.TB
	status int
	body   any
}

// call makes a request with valid credentials.
func (m *market) call(method, path string, body any) answer {
	m.t.Helper()
	r := m.request(method, path, body)
	return m.send(r)
}

func (m *market) get(path string, args ...any) answer {
	m.t.Helper()
	a := m.call(http.MethodGet, fmt.Sprintf(path, args...), nil)
	require.Equal(m.t, http.StatusOK, a.status, "GET %s: %v", fmt.Sprintf(path, args...), a.body)
	return a
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

func (m *market) send(r *http.Request) answer {
	m.t.Helper()
	sent := r.Clone(r.Context()) // the handler reads the body
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	checkAnswer(m.t, sent, w)
	a := answer{t: m.t, status: w.Code}
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	require.NoError(m.t, d.Decode(&a.body))
	return a
}

// at walks into the body: at("items", 0, "status").
func (a answer) at(steps ...any) any {
	a.t.Helper()
	v := a.body
	for _, step := range steps {
		switch s := step.(type) {
		case string:
			object, ok := v.(map[string]any)
			require.True(a.t, ok, "%v is no object, looking for %v", v, steps)
			v = object[s]
		case int:
			array, ok := v.([]any)
			require.True(a.t, ok, "%v is no array, looking for %v", v, steps)
			require.Less(a.t, s, len(array), "looking for %v", steps)
			v = array[s]
		}
	}
	return v
}

func (a answer) text(steps ...any) string {
	a.t.Helper()
	s, ok := a.at(steps...).(string)
	require.True(a.t, ok, "%v is no string: %v", steps, a.at(steps...))
	return s
}

// each collects one member of all elements of an array.
func (a answer) each(array, member string) []string {
	a.t.Helper()
	var all []string
	for i := range a.len(array) {
		all = append(all, a.text(array, i, member))
	}
	return all
}

func (a answer) len(steps ...any) int {
	a.t.Helper()
	array, ok := a.at(steps...).([]any)
	require.True(a.t, ok, "%v is no array", steps)
	return len(array)
}

// refused checks that an answer is an error that says what it should.
func (a answer) refused(status int, says, why string) {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%s: %v", why, a.body)
	require.Contains(a.t, a.text("message"), says, why)
	require.EqualValues(a.t, fmt.Sprint(status), a.at("statusCode"), why)
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

// sell makes an active listing and returns its id.
func (m *market) sell(amount string) string {
	m.t.Helper()
	a := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(m.t), "amount": amount})
	require.Equal(m.t, http.StatusCreated, a.status, "%v", a.body)
	m.settle()
	return a.text("listingId")
}

// contract is the document as tests read it, apart from the sandbox's own copy.
var contract = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		return nil, err
	}
	doc.Servers = openapi3.Servers{{URL: sandbox.BasePath}}
	openapi3filter.RegisterBodyDecoder("application/pdf", openapi3filter.FileBodyDecoder) // or no document could be checked
	return gorillamux.NewRouter(doc)
})

// checkAnswer holds an answer against the document. Statuses that the operation
// does not declare have to fit its default, and so has what no operation
// answers.
func checkAnswer(tb testing.TB, r *http.Request, w *httptest.ResponseRecorder) {
	tb.Helper()
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
		Status:                 w.Code, Header: w.Header(), Body: io.NopCloser(bytes.NewReader(w.Body.Bytes())),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	require.NoError(tb, err, "%s %s answered outside of the document", r.Method, r.URL)
}
