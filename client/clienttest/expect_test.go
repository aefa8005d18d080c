package clienttest_test

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestExpect_FailsTheTestIfUnmet(t *testing.T) {
	tb := &fakeTB{TB: t}
	srv := clienttest.New(tb)
	_, _, line, _ := runtime.Caller(0)
	srv.Expect(gen.OpGetListing).Path("listingId", "98e2e748").RespondExample()
	srv.Expect(gen.OpGetOrder).RespondExample().Times(3)
	srv.Expect(gen.OpListListings)
	call(t, srv, http.MethodGet, "/selling/orders/1-1", "")

	assert.Equal(t, []string{
		fmt.Sprintf("clienttest: expectation not met: GetListing listingId=98e2e748 at expect_test.go:%d", line+1),
		fmt.Sprintf("clienttest: expectation not met: GetOrder (received 1 of 3) at expect_test.go:%d", line+2),
		fmt.Sprintf("clienttest: expectation not met: ListListings (without a response) at expect_test.go:%d", line+3),
	}, tb.end())
}

func TestServer_RefusesUnexpectedRequests(t *testing.T) {
	for _, tc := range []struct {
		name         string
		method, path string
		want         []string
	}{
		{
			"another operation", http.MethodGet, listing + "/operations?pageSize=5",
			[]string{"GET /v2" + listing + "/operations?pageSize=5", "ListListingOperations", "unexpected", "expected: GetListing listingId=1 at expect_test.go:"},
		},
		{"another resource", http.MethodGet, listing, []string{"GetListing", "expected: GetListing listingId=1"}},
		{"no operation of the spec", http.MethodPost, "/selling/orders", []string{"POST /v2/selling/orders", "no operation of the spec"}},
		{"a parameter that is another route", http.MethodGet, "/selling/orders/..", []string{"no operation of the spec"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, opts := range transports() {
				t.Run(name, func(t *testing.T) {
					tb := &fakeTB{TB: t}
					srv := clienttest.New(tb, opts...)
					srv.Expect(gen.OpGetListing).Path("listingId", "1").RespondExample()

					got := call(t, srv, tc.method, tc.path, "")

					assert.Equal(t, http.StatusNotImplemented, got.status)
					assert.Contains(t, got.body, `"statusCode":501`)
					failures := tb.end()
					require.Len(t, failures, 2, "the request and the unmet expectation")
					for _, want := range tc.want {
						assert.Contains(t, failures[0], want)
					}
				})
			}
		})
	}
}

func TestExpect_MatchesOneRequest(t *testing.T) {
	tb := &fakeTB{TB: t}
	srv := clienttest.New(tb)
	srv.Expect(gen.OpGetListing).RespondExample()
	call(t, srv, http.MethodGet, listing, "")
	call(t, srv, http.MethodGet, listing, "")

	failures := tb.end()
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0], "no expectation is left")
}

func TestExpectation_ChecksRequests(t *testing.T) {
	const terms = `{"amount":"162","currencyCode":"USD"}`
	for _, tc := range []struct {
		name    string
		require func(*clienttest.Expectation)
		query   string
		fails   string // A part of the failure, empty if the request is as required.
	}{
		{"query present", func(e *clienttest.Expectation) { e.Query("pageSize", "5") }, "?pageSize=5&cursor=a", ""},
		{"query of another value", func(e *clienttest.Expectation) { e.Query("pageSize", "5") }, "?pageSize=6", `query parameter pageSize: want "5", got "6"`},
		{"query absent", func(e *clienttest.Expectation) { e.Query("pageSize", "5") }, "", `query parameter pageSize: want "5", got ""`},
		{"no query", func(e *clienttest.Expectation) { e.NoQuery() }, "", ""},
		{"a query that is not allowed", func(e *clienttest.Expectation) { e.NoQuery() }, "?pageSize=6", `query: want none, got "pageSize=6"`},
		{"a missing body", func(e *clienttest.Expectation) { e.BodyJSON(terms) }, "", "body: want " + terms + ", got "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tb := &fakeTB{TB: t}
			srv := clienttest.New(tb)
			e := srv.Expect(gen.OpListListingOperations)
			tc.require(e)
			e.RespondExample()

			call(t, srv, http.MethodGet, listing+"/operations"+tc.query, "")

			failures := tb.end()
			if tc.fails == "" {
				assert.Empty(t, failures)
				return
			}
			require.Len(t, failures, 1)
			assert.Contains(t, failures[0], tc.fails)
			assert.Contains(t, failures[0], "expect_test.go:")
		})
	}
}

func TestBodyJSON_ComparesValues(t *testing.T) {
	for _, tc := range []struct {
		name string
		want any
		same bool
	}{
		{"text in another order and spacing", `{ "currencyCode": "USD", "amount": "162" }`, true},
		{"bytes", []byte(`{"amount":"162","currencyCode":"USD"}`), true},
		{"a value of package gen", gen.UpdateListingRequest{Amount: "162", CurrencyCode: "USD"}, true},
		{"an equal amount with other digits", map[string]string{"amount": "162.00", "currencyCode": "USD"}, false},
		{"a member missing", map[string]string{"amount": "162"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tb := &fakeTB{TB: t}
			srv := clienttest.New(tb)
			srv.Expect(gen.OpUpdateListing).BodyJSON(tc.want).RespondExample()
			call(t, srv, http.MethodPatch, listing, `{"amount":"162","currencyCode":"USD"}`)
			assert.Equal(t, tc.same, len(tb.end()) == 0, "%v", tb.failures)
		})
	}
}

func TestCheck_GetsTheRequest(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			tb := &fakeTB{TB: t}
			srv := clienttest.New(tb, opts...)
			srv.Expect(gen.OpUpdateListing).RespondExample().
				Check(func(tb testing.TB, r *http.Request, body []byte) {
					tb.Helper()
					tb.Errorf("%s %s: %s", r.Method, r.PathValue("listingId"), body)
				})
			call(t, srv, http.MethodPatch, listing, `{"amount":"162"}`)
			assert.Equal(t, []string{`PATCH 98e2e748-8000-45bf-a624-5531d6a68318: {"amount":"162"}`}, tb.end())
		})
	}
}

func TestExpectation_RefusesInvalidScripts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		write func(*clienttest.Server)
		want  string
	}{
		{"an unknown operation", func(s *clienttest.Server) { s.Expect("SellEverything").RespondExample() }, `no operation "SellEverything"`},
		{"an unknown parameter", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Path("listingId", "1").RespondExample() }, `Path("listingId")`},
		{"no requests", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Times(0).RespondExample() }, "Times(0): want at least 1"},
		{"a second response", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).RespondExample().RespondExample() }, "exactly one"},
		{"a body that is not JSON", func(s *clienttest.Server) { s.Expect(gen.OpUpdateListing).BodyJSON("{").RespondExample() }, "BodyJSON"},
		{"raw without a reason", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Raw(http.StatusOK, nil, nil, "") }, "reason is empty"},
		{"raw with an impossible status", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Raw(0, nil, nil, "why") }, "status 0: want 200 to 999"},
		{"disconnect without a reason", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Disconnect(clienttest.MidBody, "") }, "reason is empty"},
		{"disconnect at no moment", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Disconnect(0, "why") }, "want BeforeHeaders or MidBody"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tb := &fakeTB{TB: t}
			tc.write(clienttest.New(tb))
			require.NotEmpty(t, tb.failures, "the test fails at once, before its end")
			assert.Contains(t, tb.failures[0], tc.want)
			_ = tb.end()
		})
	}
}
