package sandbox_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/specgen"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// FuzzOperations turns every input into a few requests to a new market, each of which uses ids from
// the responses before.
func FuzzOperations(f *testing.F) {
	busy := makeBusyMarket(f)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range busy.spec.Operations() {
		f.Add([]byte{byte(i)}) // the plainest request
		input := []byte{byte(i)}
		for range 60 {
			input = append(input, byte(random.UintN(256)))
		}
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		choices := specgen.NewBytes(input[:min(len(input), 400)])
		m := busy.open(t)
		g := &specgen.Generator{Known: m.known, Choices: choices, Base: sandbox.BasePath}
		ops := busy.spec.Operations()
		for choices.More() {
			m.try(g.Request(ops[choices.IntN(len(ops))]))
			if choices.IntN(8) == 7 {
				m.pass(time.Second)
			}
		}
	})
}

// Random requests, as of FuzzOperations, and a plain one about ids that do not exist must get every
// status that their operation declares, except for 401 and 500, which have tests of their own.
func TestContract_EveryDeclaredStatusIsSeen(t *testing.T) {
	const rounds, each = 8, 20 // markets, and requests per operation to each
	busy := makeBusyMarket(t)
	seen := map[string]map[int]int{} // by operation and status
	try := func(m *fuzzed, r specgen.Request) {
		status := m.try(r)
		if seen[r.Operation] == nil {
			seen[r.Operation] = map[int]int{}
		}
		seen[r.Operation][status]++
	}
	for round := range rounds {
		m := busy.open(t)
		choices := rand.New(rand.NewPCG(2026, uint64(round)))
		g := &specgen.Generator{Known: m.known, Choices: choices, Base: sandbox.BasePath}
		for range each {
			for _, i := range choices.Perm(len(busy.spec.Operations())) {
				r := g.Request(busy.spec.Operations()[i])
				try(m, r)
				if choices.IntN(16) == 0 {
					m.pass(time.Second)
				}
			}
		}
		require.NoError(t, m.Close())
	}
	m := busy.open(t)
	for _, r := range m.plainRequests(nil) {
		try(m, r)
	}
	for _, op := range busy.spec.Operations() {
		for _, status := range op.Statuses {
			if status != http.StatusUnauthorized && status != http.StatusInternalServerError {
				assert.Positive(t, seen[op.ID][status], "%s never responded %d", op.ID, status)
			}
		}
	}
}

// busyMarket is a database with listings, batches and orders in every state, and their ids.
type busyMarket struct {
	spec  *specgen.Spec
	known *specgen.Known
	file  []byte
	now   time.Time
}

func makeBusyMarket(tb testing.TB) *busyMarket {
	tb.Helper()
	spec, err := specgen.Load(api.Spec)
	require.NoError(tb, err)
	file := tempFile(tb)
	f := &fuzzed{market: open(tb, inFile(file)), known: specgen.NewKnown(spec, sandbox.BasePath)}
	f.trade()
	f.readAll(spec)
	require.NoError(tb, f.Close())
	text, err := os.ReadFile(file)
	require.NoError(tb, err)
	return &busyMarket{spec, f.known, text, f.clock()}
}

// open opens a market on a copy of the database.
func (b *busyMarket) open(tb testing.TB) *fuzzed {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "sandbox.db")
	require.NoError(tb, os.WriteFile(file, b.file, 0o600))
	f := &fuzzed{market: open(tb, inFile(file)), known: b.known.Clone()}
	f.now = b.now
	var err error
	f.watch, err = sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath())
	require.NoError(tb, err)
	f.watch.SetMaxOpenConns(1)
	tb.Cleanup(func() { require.NoError(tb, f.watch.Close()) })
	return f
}

// fuzzed is a market for requests of any kind.
type fuzzed struct {
	*market
	known *specgen.Known
	watch *sql.DB // another connection to the same file
}

// trade brings listings, batches, orders and ingestions into all their states.
func (f *fuzzed) trade() {
	f.t.Helper()
	panda := `"variantId":"` + chicago(f.t) + `","amount":`
	for _, terms := range []string{
		`"200"`, `"210","active":false`, `"220","inventoryType":"DIRECT"`,
		`"23500","currencyCode":"JPY"`,
	} {
		f.write("POST", "/selling/listings", `{`+panda+terms+`}`)
	}
	f.write("POST", "/selling/batch/create-listing", `{"items":[{`+panda+`"300","quantity":30},{"variantId":"x","amount":"1","quantity":1}]}`)
	f.write("POST", "/selling/listings", `{`+panda+`"230","expiresAt":"`+f.clock().Add(time.Hour).Format(time.RFC3339)+`"}`)
	f.write("POST", "/catalog/ingestion", `{"items":[{"category":"collectibles","productTitle":"Bear","brand":"Bearbrick",
		"productImages":["https://images.example.com/bear.png"],"variants":["One Size"],"retailPrice":"650",
		"releaseDate":"2024-03-09","countryOfOrigin":"CN"}]}`)
	f.settle()

	live := f.get("/selling/listings?listingStatuses=ACTIVE&pageSize=100").each("listings", "listingId")
	for i, id := range live {
		path := "/selling/listings/" + id
		switch i % 6 {
		case 0:
			_, err := f.Buy(f.t.Context(), id)
			require.NoError(f.t, err)
		case 1:
			f.write("DELETE", path, "")
		case 2:
			f.write("PUT", path+"/deactivate", "")
		case 3:
			f.write("POST", "/selling/batch/update-listing", `{"items":[{"listingId":"`+id+`","amount":"310"},{"listingId":"x"}]}`)
		case 4:
			f.write("POST", "/selling/batch/delete-listing", `{"items":[{"listingId":"`+id+`"}]}`)
		}
	}
	for range 12 { // more than a page of operations
		f.write("PATCH", "/selling/listings/"+live[5], `{"amount":"320"}`)
	}
	f.settle()
	for range 100 { // until orders are in history
		f.pass(time.Hour)
	}
	for i, s := range state.Order.States() {
		f.write("POST", "/selling/listings", `{`+panda+`"500","inventoryType":"`+[]string{"STANDARD", "DIRECT"}[i%2]+`"}`)
		f.settle()
		number, err := f.Buy(f.t.Context(), f.get("/selling/listings?pageSize=1").text("listings", 0, "listingId"))
		require.NoError(f.t, err)
		f.move(number, wayTo(f.t, s.Name)...)
	}
	f.write("POST", "/selling/batch/create-listing", `{"items":[{`+panda+`"400","quantity":3}]}`) // which stays queued
}

// write makes a request that must be accepted.
func (f *fuzzed) write(method, path, body string) {
	f.t.Helper()
	var content any
	if body != "" {
		content = body
	}
	r := f.call(method, path, content)
	require.Less(f.t, r.status, 300, "%s %s: %v", method, path, r.body)
	f.known.Learn(r.body)
}

// readAll learns the ids of everything, by repeating the plainest request of each read with one id
// after the other.
func (f *fuzzed) readAll(spec *specgen.Spec) {
	f.t.Helper()
	for _, list := range []string{
		"/selling/listings?isExpired=true&pageSize=100", "/selling/orders/active?pageSize=100",
		"/selling/orders/history?pageSize=100",
		"/catalog/search?query=jordan+1+chicago&pageSize=5",
	} {
		f.known.Learn(f.get("%s", list).body)
	}
	g := &specgen.Generator{Known: f.known, Choices: &turns{}, Base: sandbox.BasePath}
	for range 40 {
		for _, op := range spec.Operations() {
			if op.Method == http.MethodGet {
				f.learn(f.serve(g.Request(op)))
			}
		}
	}
}

// turns makes plain choices, but chooses one id after the other.
type turns struct{ n int }

func (c *turns) IntN(n int) int {
	if n < 17 { // a decision about the form of the request
		return 0
	}
	c.n++
	return c.n % n
}

// serve serves a request of any kind.
func (f *fuzzed) serve(r specgen.Request) *httptest.ResponseRecorder {
	f.t.Helper()
	w := httptest.NewRecorder()
	f.ServeHTTP(w, f.http(r))
	return w
}

func (f *fuzzed) http(r specgen.Request) *http.Request {
	f.t.Helper()
	h, err := r.HTTP(f.t.Context(), http.Header{"Authorization": {"Bearer " + f.Token()}, "X-Api-Key": {f.APIKey()}})
	require.NoError(f.t, err)
	return h
}

func (f *fuzzed) learn(w *httptest.ResponseRecorder) {
	var body any
	if w.Code < 300 && json.Unmarshal(w.Body.Bytes(), &body) == nil {
		f.known.Learn(body)
	}
}

// try sends a request and checks what must be true of all responses:
//
//   - the sandbox does not fail;
//   - the response is valid by the document;
//   - a request that is invalid by the document is refused;
//   - reads and refused requests change nothing, accepted writes do.
func (f *fuzzed) try(r specgen.Request) (status int) {
	f.t.Helper()
	defer func() {
		if f.t.Failed() {
			f.t.Logf("the request was %s", r)
		}
	}()
	before := f.version()
	w := f.serve(r)
	checkResponse(f.t, f.http(r), w)
	f.checkForm(w)
	require.Less(f.t, w.Code, 500, "%s", w.Body)
	if invalid := f.refusal(r); invalid != nil {
		require.GreaterOrEqual(f.t, w.Code, 400, "the document refuses it: %v", invalid)
	}
	changed := f.version() != before
	require.Equal(f.t, w.Code < 300 && r.Method != http.MethodGet, changed,
		"status %d, changed: %t; %s", w.Code, changed, w.Body)
	f.learn(w)
	return w.Code
}

// checkForm checks that a body is one JSON value, or a PDF.
func (f *fuzzed) checkForm(w *httptest.ResponseRecorder) {
	f.t.Helper()
	if w.Code < 300 && w.Header().Get("Content-Type") == "application/pdf" {
		require.True(f.t, strings.HasPrefix(w.Body.String(), "%PDF-"))
		return
	}
	require.Equal(f.t, "application/json", w.Header().Get("Content-Type"))
	require.True(f.t, json.Valid(w.Body.Bytes()), "%q", w.Body)
	if w.Code >= 400 {
		var e struct{ StatusCode int }
		require.NoError(f.t, json.Unmarshal(w.Body.Bytes(), &e))
		require.Equal(f.t, w.Code, e.StatusCode, "the status in the body")
	}
}

// refusal returns why the document refuses a request, or nil. It does not use the sandbox.
func (f *fuzzed) refusal(r specgen.Request) error {
	f.t.Helper()
	router, err := contract()
	require.NoError(f.t, err)
	h := f.http(r)
	route, params, err := router.FindRoute(h)
	if err != nil {
		return err
	}
	h.Body = io.NopCloser(bytes.NewReader(r.Body))
	return openapi3filter.ValidateRequest(h.Context(), &openapi3filter.RequestValidationInput{
		Request: h, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true},
	})
}

// version changes with every change by another connection.
func (f *fuzzed) version() int64 {
	f.t.Helper()
	var v int64
	require.NoError(f.t, f.watch.QueryRowContext(f.t.Context(), "PRAGMA data_version").Scan(&v))
	return v
}
