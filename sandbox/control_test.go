package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// control makes a request of the control API.
func (m *market) control(method, path, body string) response {
	m.t.Helper()
	r := httptest.NewRequestWithContext(m.t.Context(), method, sandbox.ControlPath+path, strings.NewReader(body))
	r.Header.Set("x-sandbox-key", m.ControlKey())
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	if w.Code == http.StatusNoContent {
		assert.Empty(m.t, w.Body.String())
		return response{t: m.t, status: w.Code}
	}
	return decode(m.t, w)
}

func TestControl_NeedsItsKey(t *testing.T) {
	m := open(t)
	assert.NotEqual(t, m.ControlKey(), open(t).ControlKey(), "it is random")
	assert.Equal(t, "mine", open(t, func(o *sandbox.Options) { o.ControlKey = "mine" }).ControlKey())
	list := m.control(http.MethodGet, "", "")
	for i := range list.len("controls") {
		method, path := list.text("controls", i, "method"), list.text("controls", i, "path")
		for _, key := range []string{"", "wrong", m.APIKey(), m.Token()} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}"))
			r.Header.Set("x-sandbox-key", key)
			r.Header.Set("Authorization", "Bearer "+m.Token())
			r.Header.Set("x-api-key", m.APIKey())
			w := httptest.NewRecorder()
			m.ServeHTTP(w, r)
			assert.Equal(t, http.StatusUnauthorized, w.Code, "%s %s", method, path)
		}
	}
	m.call(http.MethodGet, "/_sandbox", nil).
		refused(http.StatusNotFound, "path", "it is not below the base path")
}

func TestControl_ListsItselfWithValidExamples(t *testing.T) {
	m := open(t)
	list := m.control(http.MethodGet, "", "")
	id := m.sell("2000") // above all bids
	for i := range list.len("controls") {
		method, path := list.text("controls", i, "method"), strings.TrimPrefix(list.text("controls", i, "path"), sandbox.ControlPath)
		body, _ := list.at("controls", i, "body").(string)
		assert.NotEmpty(t, list.text("controls", i, "does"))
		if path == "/reset" {
			continue // below
		}
		body = strings.ReplaceAll(body, "98e2e748-8000-45bf-a624-5531d6a68318", id)
		path = strings.NewReplacer("{orderNumber}", "300000000-300000000", "{listingId}", id, "{id}", "1").Replace(path)
		a := m.control(method, path, body)
		if strings.HasPrefix(path, "/orders/") {
			a.refused(http.StatusNotFound, "order", "there is none")
			continue
		}
		assert.Less(t, a.status, 300, "%s %s: %v", method, path, a.body)
	}
	assert.Equal(t, http.StatusNoContent, m.control(http.MethodPost, "/reset", "").status)
	assert.Equal(t, 0, m.get("/selling/listings").len("listings"))
}

func TestControl_DoesWhatItLists(t *testing.T) {
	m := open(t)
	id := m.sell("200")

	assert.Equal(t, "2026-11-02T12:00:04.000Z", m.control("GET", "/clock", "").text("now"))
	assert.Equal(t, "2026-11-04T00:00:04.000Z",
		m.control("POST", "/clock", `{"advance":"36h"}`).text("now"))
	assert.Equal(t, noon.Add(36*time.Hour+4*time.Second), m.Now())
	assert.Equal(t, http.StatusNoContent, m.control("POST", "/work", "").status)

	order := m.control("POST", "/purchases", `{"listingId":"`+id+`"}`).text("orderNumber")
	assert.Equal(t, order, m.get("/selling/listings/%s", id).text("order", "orderNumber"))
	assert.Equal(t, http.StatusNoContent,
		m.control("POST", "/orders/"+order+"/status", `{"status":"SHIPPED"}`).status)
	assert.Equal(t, "SHIPPED", m.get("/selling/orders/%s", order).text("status"))
	second := m.sell("1")
	order = m.control("POST", "/bids", `{"variantId":"`+chicago(t)+`","currencyCode":"USD","amount":"1"}`).text("orderNumber")
	if order == "" {
		require.Equal(t, "MATCHED", m.get("/selling/listings/%s", second).text("status"))
	}

	assert.Equal(t, http.StatusNoContent,
		m.control("POST", "/faults", `{"operation":"GetOrder","times":2,"kind":"status","status":503,"retryAfter":"2s"}`).status)
	want := sandbox.Fault{Operation: "GetOrder", Times: 2, Kind: sandbox.FaultStatus, Status: 503, RetryAfter: 2 * time.Second}
	assert.Equal(t, []sandbox.Fault{want}, m.Faults())
	assert.Equal(t, "2s", m.control("GET", "/faults", "").text("faults", 0, "retryAfter"))
	assert.Equal(t, http.StatusNoContent, m.control("DELETE", "/faults", "").status)
	assert.Empty(t, m.Faults())

	assert.EqualValues(t, "1", m.control("GET", "/counters", "").at("GetOrder", "200"))
	made := m.control("POST", "/accounts", `{"name":"second"}`)
	assert.Equal(t, http.StatusCreated, made.status)
	assert.Equal(t, m.Accounts()[1].APIKey, made.text("apiKey"))
	assert.Equal(t, m.Accounts()[1].Token, m.control("GET", "/accounts", "").text("accounts", 1, "token"))

	assert.Equal(t, http.StatusNoContent,
		m.control("POST", "/seed", `{"seed":18446744073709551615}`).status)
	assert.NotEqual(t, id, m.sell("500"))
}

func TestControl_RefusesInvalidRequests(t *testing.T) {
	m := open(t)
	m.add("second")
	for _, row := range []struct {
		method, path, body string
		status             int
		what, why          string
	}{
		{"GET", "/nothing", "", 404, "path", "no such path"},
		{"GET", "/reset", "", 405, "method", "a read changes nothing"},
		{"POST", "/seed", "", 400, "body", "no body"},
		{"POST", "/seed", `{"seed":-1}`, 400, "body", "seeds are not negative"},
		{"POST", "/seed", `{"sead":1}`, 400, "body", "a member that does not exist"},
		{"POST", "/seed", `{"seed":1}{}`, 400, "body", "two values"},
		{"POST", "/clock", `{"advance":"a while"}`, 400, "body", "not a duration"},
		{"POST", "/clock", `{"advance":"-1s"}`, 400, "advance", "back in time"},
		{"POST", "/purchases", `{"listingId":"x"}`, 404, "listing", "it does not exist"},
		{"POST", "/orders/x/status", `{"status":"SHIPPED"}`, 404, "order", "it does not exist"},
		{"POST", "/faults", `{"kind":"status"}`, 400, "status", "a fault that makes no sense"},
		{"POST", "/faults", `{"kind":"delay","delay":5}`, 400, "body", "a duration without a unit"},
		{"POST", "/accounts", `{"name":""}`, 400, "name", "no name"},
		{"POST", "/accounts", `{"name":"second"}`, 409, "account", "it exists"},
	} {
		m.control(row.method, row.path, row.body).
			refused(row.status, row.what, row.method+" "+row.path+": "+row.why)
	}
}

func TestControl_WrongMethodListsTheAllowed(t *testing.T) {
	m := open(t)
	for path, allow := range map[string]string{"": "GET", "/reset": "POST", "/faults": "POST, GET, DELETE", "/orders/x/status": "POST"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, sandbox.ControlPath+path, nil)
		r.Header.Set("x-sandbox-key", m.ControlKey())
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, path)
		assert.Equal(t, allow, w.Header().Get("Allow"), path)
	}
}

func TestControl_HasNoWriteTimeout(t *testing.T) {
	m := open(t)
	srv := httptest.NewUnstartedServer(m)
	srv.Config.WriteTimeout = time.Nanosecond
	srv.Start()
	defer srv.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+sandbox.ControlPath+"/clock", strings.NewReader(`{"advance":"36h"}`))
	require.NoError(t, err)
	r.Header.Set("x-sandbox-key", m.ControlKey())
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}
