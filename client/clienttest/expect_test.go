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

func TestLeftoversFailTheTestAndNameTheirLine(t *testing.T) {
	v := &verdict{TB: t}
	srv := clienttest.New(v)
	_, _, line, _ := runtime.Caller(0)
	srv.Expect(gen.OpGetListing).Path("listingId", "98e2e748").RespondExample()
	srv.Expect(gen.OpGetOrder).RespondExample().Times(3)
	srv.Expect(gen.OpListListings)
	call(t, srv, http.MethodGet, "/selling/orders/1-1", "")

	assert.Equal(t, []string{
		fmt.Sprintf("clienttest: left over at the end of the test: GetListing listingId=98e2e748 from expect_test.go:%d", line+1),
		fmt.Sprintf("clienttest: left over at the end of the test: GetOrder (1 of 3 came) from expect_test.go:%d", line+2),
		fmt.Sprintf("clienttest: left over at the end of the test: ListListings (has no answer) from expect_test.go:%d", line+3),
	}, v.end())
}

func TestUnexpectedRequestsFailTheTestAndAreAnswered501(t *testing.T) {
	for _, tc := range []struct {
		name         string
		method, path string
		want         []string
	}{
		{
			"another operation", http.MethodGet, listing + "/operations?pageSize=5",
			[]string{"GET /v2" + listing + "/operations?pageSize=5", "ListListingOperations", "not expected", "still expected: GetListing listingId=1 from expect_test.go:"},
		},
		{"another resource", http.MethodGet, listing, []string{"GetListing", "still expected: GetListing listingId=1"}},
		{"no operation of the spec", http.MethodPost, "/selling/orders", []string{"POST /v2/selling/orders", "no such operation"}},
		{"a parameter that is another route", http.MethodGet, "/selling/orders/..", []string{"no such operation"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, opts := range transports() {
				t.Run(name, func(t *testing.T) {
					v := &verdict{TB: t}
					srv := clienttest.New(v, opts...)
					srv.Expect(gen.OpGetListing).Path("listingId", "1").RespondExample()

					got := call(t, srv, tc.method, tc.path, "")

					assert.Equal(t, http.StatusNotImplemented, got.status)
					assert.Contains(t, got.body, `"statusCode":501`)
					failures := v.end()
					require.Len(t, failures, 2, "the request and the leftover")
					for _, want := range tc.want {
						assert.Contains(t, failures[0], want)
					}
				})
			}
		})
	}
}

func TestUsedUpExpectationsAnswerNoMore(t *testing.T) {
	v := &verdict{TB: t}
	srv := clienttest.New(v)
	srv.Expect(gen.OpGetListing).RespondExample()
	call(t, srv, http.MethodGet, listing, "")
	call(t, srv, http.MethodGet, listing, "")

	failures := v.end()
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0], "nothing is expected any more")
}

func TestDemandsOnARequest(t *testing.T) {
	const terms = `{"amount":"162","currencyCode":"USD"}`
	for _, tc := range []struct {
		name   string
		demand func(*clienttest.Expectation) *clienttest.Expectation
		query  string
		fails  string // empty when the demand holds
	}{
		{"query present", func(e *clienttest.Expectation) *clienttest.Expectation { return e.Query("pageSize", "5") }, "?pageSize=5&cursor=a", ""},
		{"query of another value", func(e *clienttest.Expectation) *clienttest.Expectation { return e.Query("pageSize", "5") }, "?pageSize=6", `query parameter pageSize: want "5", got "6"`},
		{"query absent", func(e *clienttest.Expectation) *clienttest.Expectation { return e.Query("pageSize", "5") }, "", `query parameter pageSize: want "5", got ""`},
		{"no query", func(e *clienttest.Expectation) *clienttest.Expectation { return e.NoQuery() }, "", ""},
		{"a query where none may be", func(e *clienttest.Expectation) *clienttest.Expectation { return e.NoQuery() }, "?pageSize=6", `query: want none, got "pageSize=6"`},
		{"body where none came", func(e *clienttest.Expectation) *clienttest.Expectation { return e.BodyJSON(terms) }, "", "body: want " + terms + ", got "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := &verdict{TB: t}
			srv := clienttest.New(v)
			tc.demand(srv.Expect(gen.OpListListingOperations)).RespondExample()

			call(t, srv, http.MethodGet, listing+"/operations"+tc.query, "")

			failures := v.end()
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

func TestBodyJSONComparesValues(t *testing.T) {
	for _, tc := range []struct {
		name string
		want any
		same bool
	}{
		{"text in another order and spacing", `{ "currencyCode": "USD", "amount": "162" }`, true},
		{"bytes", []byte(`{"amount":"162","currencyCode":"USD"}`), true},
		{"a value of package gen", gen.UpdateListingRequest{Amount: "162", CurrencyCode: "USD"}, true},
		{"an amount written otherwise", map[string]string{"amount": "162.00", "currencyCode": "USD"}, false},
		{"a member missing", map[string]string{"amount": "162"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := &verdict{TB: t}
			srv := clienttest.New(v)
			srv.Expect(gen.OpUpdateListing).BodyJSON(tc.want).RespondExample()
			call(t, srv, http.MethodPatch, listing, `{"amount":"162","currencyCode":"USD"}`)
			assert.Equal(t, tc.same, len(v.end()) == 0, "%v", v.failures)
		})
	}
}

func TestCheckSeesTheRequest(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			v := &verdict{TB: t}
			srv := clienttest.New(v, opts...)
			srv.Expect(gen.OpUpdateListing).RespondExample().
				Check(func(tb testing.TB, r *http.Request, body []byte) {
					tb.Helper()
					tb.Errorf("%s %s: %s", r.Method, r.PathValue("listingId"), body)
				})
			call(t, srv, http.MethodPatch, listing, `{"amount":"162"}`)
			assert.Equal(t, []string{`PATCH 98e2e748-8000-45bf-a624-5531d6a68318: {"amount":"162"}`}, v.end())
		})
	}
}

func TestScriptsThatMakeNoSenseFailTheTest(t *testing.T) {
	for _, tc := range []struct {
		name  string
		write func(*clienttest.Server)
		want  string
	}{
		{"an operation the spec lacks", func(s *clienttest.Server) { s.Expect("SellEverything").RespondExample() }, `no operation "SellEverything"`},
		{"a parameter the route lacks", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Path("listingId", "1").RespondExample() }, `Path("listingId"): the route /selling/orders/{orderNumber} has no such parameter`},
		{"never", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Times(0).RespondExample() }, "Times(0): want at least 1"},
		{"a second answer", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).RespondExample().RespondExample() }, "exactly one"},
		{"a body that is no JSON", func(s *clienttest.Server) { s.Expect(gen.OpUpdateListing).BodyJSON("{").RespondExample() }, "BodyJSON: read"},
		{"raw without a reason", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Raw(http.StatusOK, nil, nil, "") }, "say in the reason"},
		{"raw with an impossible status", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Raw(0, nil, nil, "why") }, "status 0: want 200 to 999"},
		{"disconnect without a reason", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Disconnect(clienttest.MidBody, "") }, "say in the reason"},
		{"disconnect at no moment", func(s *clienttest.Server) { s.Expect(gen.OpGetOrder).Disconnect(0, "why") }, "want BeforeHeaders or MidBody"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := &verdict{TB: t}
			tc.write(clienttest.New(v))
			require.NotEmpty(t, v.failures, "reported at once, before the test ends")
			assert.Contains(t, v.failures[0], tc.want)
			_ = v.end()
		})
	}
}
