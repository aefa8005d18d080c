package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// create makes a listing. It returns nil if the connection was closed.
func (m *market) create() (w *httptest.ResponseRecorder) {
	m.t.Helper()
	defer func() {
		if cause := recover(); cause != nil {
			require.Equal(m.t, http.ErrAbortHandler, cause)
			w = nil
		}
	}()
	w = httptest.NewRecorder()
	m.ServeHTTP(w, m.request(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(m.t), "amount": "200"}))
	return w
}

func TestFaults_ReplaceTheResponseAppliedOrNot(t *testing.T) {
	type want struct {
		status int // 0 if the connection is closed
		kind   string
		retry  string
		body   string // not checked if empty
		json   bool
	}
	const problem, text = "application/json", "text/plain; charset=utf-8"
	const html = "text/html; charset=utf-8"
	const wrongType = "\"not what was asked for\"\n"
	for name, row := range map[string]struct {
		fault      sandbox.Fault
		applied    want
		notApplied want
	}{
		"a status": {
			sandbox.Fault{Kind: sandbox.FaultStatus, Status: 503, RetryAfter: 1500 * time.Millisecond},
			want{503, problem, "2", `{"message":"Service Unavailable","statusCode":503}` + "\n", true},
			want{503, problem, "2", `{"message":"Service Unavailable","statusCode":503}` + "\n", true},
		},
		"a status with a page": {
			sandbox.Fault{Kind: sandbox.FaultStatus, Status: 403, Body: "<html>no</html>"},
			want{403, html, "", "<html>no</html>", false},
			want{403, html, "", "<html>no</html>", false},
		},
		"a status with a text": {
			sandbox.Fault{Kind: sandbox.FaultStatus, Status: 502, Body: "bad gateway"},
			want{502, text, "", "bad gateway", false},
			want{502, text, "", "bad gateway", false},
		},
		"a status with JSON": {
			sandbox.Fault{Kind: sandbox.FaultStatus, Status: 429, Body: `{"error":"slow down"}`},
			want{429, problem, "", `{"error":"slow down"}`, true},
			want{429, problem, "", `{"error":"slow down"}`, true},
		},
		"a closed connection": {sandbox.Fault{Kind: sandbox.FaultLost}, want{}, want{}},
		"cut JSON": {
			sandbox.Fault{Kind: sandbox.FaultCutJSON},
			want{201, problem, "", "", false},
			want{200, problem, "", `{"listingId":"98e2e748`, false},
		},
		"cut JSON of an error": {
			sandbox.Fault{Kind: sandbox.FaultCutJSON, Status: 500},
			want{500, problem, "", "", false},
			want{500, problem, "", `{"listingId":"98e2e748`, false},
		},
		"a page": {
			sandbox.Fault{Kind: sandbox.FaultHTML},
			want{201, html, "", "", false},
			want{200, html, "", "", false},
		},
		"another type": {
			sandbox.Fault{Kind: sandbox.FaultWrongType},
			want{201, problem, "", wrongType, true},
			want{200, problem, "", wrongType, true},
		},
	} {
		for applied, want := range map[bool]want{true: row.applied, false: row.notApplied} {
			m := open(t)
			row.fault.Operation, row.fault.Applied = "CreateListing", applied
			require.NoError(t, m.Fail(row.fault), name)
			w := m.create()
			if want.status == 0 {
				assert.Nil(t, w, name)
			} else {
				require.NotNil(t, w, name)
				assert.Equal(t, want.status, w.Code, name)
				assert.Equal(t, want.kind, w.Header().Get("Content-Type"), name)
				assert.Equal(t, want.retry, w.Header().Get("Retry-After"), name)
				assert.NotEmpty(t, w.Body.String(), name)
				if want.body != "" {
					assert.Equal(t, want.body, w.Body.String(), name)
				}
				assert.Equal(t, want.json, json.Valid(w.Body.Bytes()), name)
			}
			assert.Equal(t, map[int]int{want.status: 1}, m.Counters()["CreateListing"], name)
			assert.Equal(t, map[bool]int{true: 1, false: 0}[applied],
				m.get("/selling/listings").len("listings"), "%s, applied: %t", name, applied)
			assert.Equal(t, http.StatusCreated, m.create().Code, "%s: the next call succeeds", name)
		}
	}
}

func TestFaults_DelayBeforeOrAfterTheHandler(t *testing.T) {
	for _, applied := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := open(t, inBackground)
			require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultDelay, Delay: time.Minute, Applied: applied}))
			responses := make(chan *httptest.ResponseRecorder)
			go func() { responses <- m.create() }()
			<-time.After(59 * time.Second)
			synctest.Wait()
			assert.Equal(t, map[bool]int{true: 1, false: 0}[applied],
				m.get("/selling/listings").len("listings"), "applied: %t", applied)
			w := <-responses
			assert.Equal(t, http.StatusCreated, w.Code)
			assert.True(t, json.Valid(w.Body.Bytes()), "the original response")
		})
	}
}

func TestFaults_ApplyACallWhoseClientIsGone(t *testing.T) {
	m := open(t)
	require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusBadGateway, Applied: true}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := map[string]any{"variantId": chicago(t), "amount": "200"}
	m.ServeHTTP(httptest.NewRecorder(), m.request(http.MethodPost, "/selling/listings", body).WithContext(ctx))
	assert.Equal(t, 1, m.get("/selling/listings").len("listings"))
}

func TestFaults_HappenInOrder(t *testing.T) {
	m := open(t)
	status := func(code int) sandbox.Fault { return sandbox.Fault{Kind: sandbox.FaultStatus, Status: code} }
	two := status(500)
	two.Operation, two.Times = "GetProduct", 2
	for _, f := range []sandbox.Fault{two, status(502), status(503)} {
		require.NoError(t, m.Fail(f))
	}
	product, _ := variant(t, "DZ5485-612", "10.5")
	var got []int
	for _, path := range []string{
		"/catalog/products/" + product.ID, "/selling/listings", "/nothing/here",
		"/catalog/products/" + product.ID,
		"/catalog/products/" + product.ID, "/catalog/products/" + product.ID,
	} {
		got = append(got, m.raw(http.MethodGet, path, nil).Code)
	}
	assert.Equal(t, []int{500, 502, 404, 500, 503, 200}, got)
	assert.Empty(t, m.Faults())

	require.NoError(t, m.Fail(two))
	assert.Equal(t, 2, m.Faults()[0].Times)
	m.ClearFaults()
	assert.Equal(t, http.StatusOK, m.raw(http.MethodGet, "/catalog/products/"+product.ID, nil).Code)
}

func TestFaults_ComeBeforeCredentials(t *testing.T) {
	m := open(t)
	require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultStatus, Status: 503, Times: 2}))
	r := m.request(http.MethodGet, "/selling/listings", nil)
	r.Header.Del("Authorization")
	m.send(r).
		refused(http.StatusServiceUnavailable, "Service Unavailable", "gateways do not check them")
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, sandbox.TokenPath, nil))
	assert.Equal(t, http.StatusServiceUnavailable, w.Code, "the token endpoint, too")
}

func TestFaults_RefuseWhatMakesNoSense(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		fault sandbox.Fault
		what  string
	}{
		{sandbox.Fault{}, "kind"},
		{sandbox.Fault{Kind: "reset"}, "kind"},
		{sandbox.Fault{Kind: sandbox.FaultLost, Operation: "getListing"}, "operation"},
		{sandbox.Fault{Kind: sandbox.FaultLost, Times: -1}, "times"},
		{sandbox.Fault{Kind: sandbox.FaultLost, Delay: -1}, "times, delay"},
		{sandbox.Fault{Kind: sandbox.FaultDelay}, "delay"},
		{sandbox.Fault{Kind: sandbox.FaultStatus}, "status"},
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: 100}, "status"},
		{sandbox.Fault{Kind: sandbox.FaultHTML, Body: "x"}, "body"},
	} {
		require.ErrorContains(t, m.Fail(row.fault), "sandbox: fail: "+row.what)
	}
	assert.Empty(t, m.Faults())
}

func TestFaults_ResetAbortsDelayedCalls(t *testing.T) {
	for _, row := range []struct {
		change func(*market) error
		made   int
		why    string
	}{
		{func(m *market) error { return m.Reset(m.t.Context()) }, 0, "the sandbox was emptied"},
		{func(m *market) error { return m.Reseed(m.t.Context(), 7) }, 1, "it was not"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := open(t, inBackground)
			require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultDelay, Delay: time.Minute}))
			responses := make(chan *httptest.ResponseRecorder)
			go func() { responses <- m.create() }()
			<-time.After(time.Second)
			require.NoError(t, row.change(m))
			w := <-responses
			assert.Equal(t, row.made == 0, w == nil, "aborted: %s", row.why)
			assert.Equal(t, row.made, m.get("/selling/listings").len("listings"), row.why)
		})
	}
}

func TestFaults_DelaysEndWhenTheServerStops(t *testing.T) {
	for _, applied := range []bool{true, false} {
		m := open(t)
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultDelay, Delay: time.Hour, Applied: applied}))
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- m.Serve(ctx, l) }()
		conn := dial(t, l.Addr().String())
		body := `{"variantId":"` + chicago(t) + `","amount":"200"}`
		_, err = fmt.Fprintf(conn, "POST /v2/selling/listings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
			"Authorization: Bearer %s\r\nx-api-key: %s\r\nContent-Length: %d\r\n\r\n%s", m.Token(), m.APIKey(), len(body), body)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return len(m.Faults()) == 0 }, 20*time.Second, time.Millisecond)
		stop()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, http.StatusCreated, resp.StatusCode, "applied: %t", applied)
		require.NoError(t, <-served)
	}
}
