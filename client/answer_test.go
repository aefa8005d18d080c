package client_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

// answered returns the error of a call that is answered like this.
func answered(t *testing.T, status int, header http.Header, body string) *client.APIError {
	t.Helper()
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(aRead.op).Raw(status, header, []byte(body), "an error body as they come")
	var e *client.APIError
	require.ErrorAs(t, aRead.do(t.Context(), srv.Client(oneAttempt)), &e)
	return e
}

func TestTheStatusOfAnErrorIsKeptWhateverItsBody(t *testing.T) {
	for _, tc := range []struct {
		status     int
		body, want string
		why        string
	}{
		{400, `{"statusCode":400,"message":"amount is missing"}`, "amount is missing", "the documented form"},
		{409, `{"statusCode":400,"message":"sold"}`, "sold", "the body may name another status"},
		{400, `{"errorMessage":"amount is missing"}`, "amount is missing", "another member"},
		{400, `{"error":"amount is missing"}`, "amount is missing", "another member"},
		{400, `{"error":{"message":"amount is missing","code":7}}`, "amount is missing", "an object"},
		{422, `{"errors":["amount is missing",{"message":"variantId is missing"}]}`, "amount is missing; variantId is missing", "a list"},
		{422, `{"message":"invalid","errors":{"amount":["is missing"]}}`, "invalid", "an object where a list belongs"},
		{400, `{"message":null}`, "bad request", "null"},
		{400, `{"message":7}`, "bad request", "a number"},
		{400, `[]`, "bad request", "a list at the top"},
		{400, `"no"`, "bad request", "text at the top"},
		{403, "<html><body>blocked</body></html>", "forbidden", "the page of a bot filter"},
		{504, "", "gateway timeout", "empty"},
		{524, "", "", "a status without a name"},
		{400, "{\"message\":\"caf\xe9\"}", "caf\uFFFD", "not UTF-8"},
		{400, "\xff\xfe{\x00}\x00", "bad request", "UTF-16"},
		{400, `{"message":"line\r\nanother\ttab\u0000\u001b[31mred\u2028end"}`, "line another tab [31mred end", "more than a line, and what a terminal obeys"},
		{400, `{"message":"` + strings.Repeat("ab ", 5000) + `"}`, strings.TrimSpace(strings.Repeat("ab ", 100)) + " …", "long"},
		{400, `{"message":"` + strings.Repeat("é", 5000) + `"}`, strings.Repeat("é", 150) + "…", "long, and cut between characters"},
		{400, `{"message":"x` + strings.Repeat("é", 5000) + `"}`, "x" + strings.Repeat("é", 149) + "…", "long, and cut within a character"},
	} {
		e := answered(t, tc.status, nil, tc.body)
		assert.Equal(t, tc.status, e.StatusCode, tc.why)
		assert.Equal(t, tc.want, e.Message, tc.why)
		assert.True(t, utf8.ValidString(e.Message), tc.why)
		assert.NotContains(t, e.Error(), "\n", tc.why)
	}
}

func TestTheBodyOfAnErrorIsThereAsItCame(t *testing.T) {
	const page = "<html>\n<body>blocked</body>\n</html>"
	assert.Equal(t, page, string(answered(t, http.StatusForbidden, nil, page).Body))
}

func TestRequestIDsOfGateways(t *testing.T) {
	for _, tc := range []struct {
		header http.Header
		want   string
	}{
		{nil, ""},
		{http.Header{"X-Request-Id": {"7f3a"}}, "7f3a"},
		{http.Header{"X-Amzn-Requestid": {"7f3a"}}, "7f3a"},
		{http.Header{"X-Correlation-Id": {"7f3a"}}, "7f3a"},
		{http.Header{"Cf-Ray": {"7f3a"}}, "7f3a"},
		{http.Header{"Cf-Ray": {"other"}, "X-Request-Id": {"7f3a"}}, "7f3a"},
		{http.Header{"X-Request-Id": {strings.Repeat("x", 5000)}}, strings.Repeat("x", 300) + "…"},
	} {
		assert.Equal(t, tc.want, answered(t, http.StatusBadGateway, tc.header, "").RequestID)
	}
}

func TestRetryAfterIsInTheError(t *testing.T) {
	e := answered(t, http.StatusServiceUnavailable, http.Header{"Retry-After": {"90"}}, "")
	assert.Equal(t, 90*time.Second, e.RetryAfter)
	assert.Equal(t, "GetListing: 503 service unavailable (retry after 1m30s)", e.Error())
}

func TestAnErrorSaysWhichCallItIsAbout(t *testing.T) {
	e := answered(t, http.StatusNotFound, nil, "")
	assert.Equal(t, client.CallInfo{Operation: "GetListing", Method: "GET", Route: "/selling/listings/{listingId}", Attempts: 1}, e.CallInfo)
}
