package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
)

var sentinels = map[string]error{
	"ErrBadRequest": client.ErrBadRequest, "ErrUnauthorized": client.ErrUnauthorized, "ErrForbidden": client.ErrForbidden,
	"ErrNotFound": client.ErrNotFound, "ErrConflict": client.ErrConflict, "ErrRateLimited": client.ErrRateLimited,
	"ErrServer": client.ErrServer, "ErrOutcomeUnknown": client.ErrOutcomeUnknown,
	"ErrInvalidArgument": client.ErrInvalidArgument, "ErrTooManyItems": client.ErrTooManyItems,
}

func TestErrors_StatusesHaveSentinels(t *testing.T) {
	for status, want := range map[int]string{
		302: "", 400: "ErrBadRequest", 401: "ErrUnauthorized", 402: "", 403: "ErrForbidden", 404: "ErrNotFound", 408: "",
		409: "ErrConflict", 410: "", 413: "", 415: "", 422: "", 429: "ErrRateLimited", 499: "",
		500: "ErrServer", 501: "ErrServer", 502: "ErrServer", 503: "ErrServer", 524: "ErrServer",
	} {
		err := fmt.Errorf("reprice: %w", &client.APIError{StatusCode: status})
		for name, sentinel := range sentinels {
			assert.Equal(t, name == want, errors.Is(err, sentinel), "%d and %s", status, name)
		}
	}
}

func TestErrors_OutcomeUnknownIsFieldAndSentinel(t *testing.T) {
	for _, unknown := range []bool{true, false} {
		info := client.CallInfo{Operation: "CreateListing", OutcomeUnknown: unknown}
		for _, err := range []error{
			&client.APIError{CallInfo: info, StatusCode: 503},
			&client.TransportError{CallInfo: info, Err: io.ErrUnexpectedEOF},
			&client.DecodeError{CallInfo: info, StatusCode: 200, Err: io.ErrUnexpectedEOF},
		} {
			assert.Equal(t, unknown, errors.Is(err, client.ErrOutcomeUnknown), "%T", err)
		}
	}
}

func TestErrors_UnwrapToCause(t *testing.T) {
	for _, err := range []error{
		&client.TransportError{Err: context.Canceled}, &client.DecodeError{Err: context.Canceled},
		&token.Error{Err: context.Canceled}, &client.WaitError{Err: context.Canceled}, &client.BatchError{Err: context.Canceled},
	} {
		assert.ErrorIs(t, err, context.Canceled, "%T", err)
	}
}

func TestArgumentError_IsTooManyItemsForBatchesOnly(t *testing.T) {
	err := &client.ArgumentError{Operation: "GetListing", Field: "listingID", Problem: "empty"}
	assert.ErrorIs(t, err, client.ErrInvalidArgument)
	assert.NotErrorIs(t, err, client.ErrTooManyItems)
	assert.False(t, err.Is(nil), "an error without a kind matches no nil")
}

// apiError returns the error of a call with this response.
func apiError(t *testing.T, status int, header http.Header, body string) *client.APIError {
	t.Helper()
	srv := clienttest.New(t, clienttest.InProcess())
	srv.Expect(readCall.op).Raw(status, header, []byte(body), "an error body")
	e, ok := errors.AsType[*client.APIError](readCall.do(t.Context(), srv.Client(oneAttempt)))
	require.True(t, ok)
	return e
}

func TestAPIError_KeepsStatusWithAnyBody(t *testing.T) {
	for _, tc := range []struct {
		status     int
		body, want string
		why        string
	}{
		{400, `{"statusCode":400,"message":"amount is missing"}`, "amount is missing", "the documented form"},
		{409, `{"statusCode":400,"message":"sold"}`, "sold", "the body has another status"},
		{404, `{"statusCode":200,"message":"OK"}`, "OK", "the body has a status of success"},
		{400, `{"errorMessage":"amount is missing"}`, "amount is missing", "another member"},
		{400, `{"error":"amount is missing"}`, "amount is missing", "another member"},
		{400, `{"error":{"message":"amount is missing","code":7}}`, "amount is missing", "an object"},
		{422, `{"errors":["amount is missing",{"message":"variantId is missing"}]}`, "amount is missing; variantId is missing", "a list"},
		{422, `{"message":"invalid","errors":{"amount":["is missing"]}}`, "invalid", "an object instead of a list"},
		{409, `{"message":{"message":["deep"]},"statusCode":"four hundred"}`, "conflict", "members of other kinds"},
		{422, `{"type":"about:blank","title":"Unprocessable","detail":"amount is missing","status":422}`, "Unprocessable: amount is missing", "RFC 7807"},
		{503, `{"detail":"try again later"}`, "try again later", "RFC 7807 with a detail only"},
		{400, `{"message":"amount is missing","title":"Bad Request"}`, "amount is missing", "the message says more than the title"},
		{400, `{"message":null}`, "bad request", "null"},
		{400, `{"message":7}`, "bad request", "a number"},
		{400, `[]`, "bad request", "a list at the top"},
		{400, `"no"`, "bad request", "text at the top"},
		{403, "<html><body>blocked</body></html>", "forbidden", "the page of a bot filter"},
		{504, "", "gateway timeout", "an empty body"},
		{524, "", "", "a status without a name"},
		{999, "", "", "an unknown status"},
		{400, "{\"message\":\"caf\xe9\"}", "caf\uFFFD", "not UTF-8"},
		{400, "\xff\xfe{\x00}\x00", "bad request", "UTF-16"},
		{400, `{"message":"line\r\nanother\ttab\u0000\u001b[31mred\u2028end"}`, "line another tab [31mred end", "line breaks and control characters"},
		{400, `{"message":"` + strings.Repeat("ab ", 5000) + `"}`, strings.TrimSpace(strings.Repeat("ab ", 100)) + " …", "long"},
		{400, `{"message":"` + strings.Repeat("é", 5000) + `"}`, strings.Repeat("é", 150) + "…", "long, cut between characters"},
		{400, `{"message":"x` + strings.Repeat("é", 5000) + `"}`, "x" + strings.Repeat("é", 149) + "…", "long, cut within a character"},
	} {
		e := apiError(t, tc.status, nil, tc.body)
		assert.Equal(t, tc.status, e.StatusCode, tc.why)
		assert.Equal(t, tc.want, e.Message, tc.why)
		assert.True(t, utf8.ValidString(e.Message), tc.why)
		assert.NotContains(t, e.Error(), "\n", tc.why)
	}
}

func TestAPIError_KeepsBodyAndCallInfo(t *testing.T) {
	const page = "<html>\n<body>blocked</body>\n</html>"
	e := apiError(t, http.StatusForbidden, nil, page)
	assert.Equal(t, page, string(e.Body))
	assert.Equal(t,
		client.CallInfo{Operation: "GetListing", Method: "GET", Route: "/selling/listings/{listingId}", Attempts: 1},
		e.CallInfo)
}

func TestAPIError_HasRequestIDOfGateway(t *testing.T) {
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
		assert.Equal(t, tc.want, apiError(t, http.StatusBadGateway, tc.header, "").RequestID)
	}
}

func TestAPIError_HasRetryAfter(t *testing.T) {
	e := apiError(t, http.StatusServiceUnavailable, http.Header{"Retry-After": {"90"}}, "")
	assert.Equal(t, 90*time.Second, e.RetryAfter)
}
