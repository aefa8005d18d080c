package wire_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// reply returns the text of n responses to a path whose handler responds with a body.
func reply(t *testing.T, q *wire.Quirks, n, status int, path, contentType, body string) (texts []string, types map[string]bool) {
	t.Helper()
	types = map[string]bool{}
	h := q.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	for range n {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		texts = append(texts, w.Body.String())
		types[w.Header().Get("Content-Type")] = true
	}
	return texts, types
}

const listing = `{"listingId":"l","status":"ACTIVE","amount":"76","createdAt":"2026-11-02T12:00:00.000Z","order":null,
	"ask":{"askId":"25467516380000000003","askCreatedAt":"2026-11-02T12:00:00.000Z"},
	"batch":{"batchId":"b","taskId":"t"},"variant":{"variantId":"v","variantName":"A:1","variantValue":"10.5"},
	"payout":{"totalPayout":60.5,"adjustments":[{"adjustmentType":"Shipping","amount":-4,"percentage":0}]},
	"lastOperation":{"operationId":"o","operationInitiatedVia":"PUBLIC-API","error":"no",
		"changes":{"additions":{"active":null},"removals":{}}}}`

func TestQuirks_ShowEveryForm(t *testing.T) {
	for _, row := range []struct{ body, shown, why string }{
		{listing, `"amount":"76.0000"`, "four decimal places"},
		{listing, `"amount":"76"`, "and none"},
		{listing, `"totalPayout":"60.5"`, "a figure as text"},
		{listing, `"amount":"-4"`, "of an adjustment, too"},
		{listing, `"additions":[]`, "an empty array for an empty object"},
		{listing, `"removals":{}`, "an empty object stays one"},
		{listing, `"variantName":null`, "null for a member that informs"},
		{listing, `"variant":{"variantId":"v","variantValue":"10.5"}`, "or nothing at all"},
		{listing, `"order":null`, "null for null"},
		{listing, `"rolloutGroup":{`, "a member that does not exist"},
		{`{"orderNumber":"o","condition":"NEW"}`, `"AS_TRADED"`, "a value that does not exist"},
		{listing, `"error":"Cette`, "a localized error"},
		{`{"batchId":"b","totalItems":3,"status":"IN_PROGRESS","itemStatuses":{"queued":3}}`, `"queued":"3"`, "a count as text"},
		{`{"batchId":"b","totalItems":3,"status":"IN_PROGRESS","itemStatuses":{"queued":3}}`, `"PROCESSING"`, "an unknown status"},
		{`{"nextCursor":null,"operations":[]}`, `"nextCursor":null`, "the end of a list"},
		{`{"amount":"125.50"}`, `"125.5000"`, "cents"},
		{`{"amount":"not money"}`, `"not money"`, "no amount"},
	} {
		texts, _ := reply(t, &wire.Quirks{Base: "/v2", Forms: true}, 100, http.StatusOK, "/v2/x", "application/json", row.body)
		assert.Contains(t, strings.Join(texts, ""), row.shown, row.why)
	}
}

func TestQuirks_SpareIDsArraysAndValues(t *testing.T) {
	texts, _ := reply(t, &wire.Quirks{Base: "/v2", Forms: true}, 200, http.StatusOK, "/v2/x", "application/json", listing)
	for _, text := range texts {
		var l struct {
			ListingID, Status, Amount, CreatedAt string
			Ask                                  struct{ AskID string }
			Batch                                struct{ BatchID, TaskID string }
			Variant                              struct{ VariantID, VariantValue string }
			Payout                               struct {
				Adjustments []struct{ AdjustmentType string }
			}
			LastOperation struct{ OperationID, Error string }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		require.Equal(t, "l ACTIVE 76 2026-11-02T12:00:00.000Z 25467516380000000003 b t v 10.5 o",
			strings.Join([]string{
				l.ListingID, l.Status, strings.TrimSuffix(l.Amount, ".0000"), l.CreatedAt, l.Ask.AskID,
				l.Batch.BatchID, l.Batch.TaskID, l.Variant.VariantID, l.Variant.VariantValue, l.LastOperation.OperationID,
			}, " "))
		require.Len(t, l.Payout.Adjustments, 1)
		require.NotEmpty(t, l.LastOperation.Error)
	}
}

func TestQuirks_ErrorsHaveManyShapes(t *testing.T) {
	q := &wire.Quirks{Base: "/v2", Forms: true}
	body := `{"statusCode":400,"message":"wrong"}` + "\n"
	texts, types := reply(t, q, 100, http.StatusBadRequest, "/v2/x", "application/json", body)
	all := strings.Join(texts, "")
	for _, shape := range []string{
		`"message":"wrong"`, `"errorMessage":"wrong"`, `"error":"wrong"`, `"errors":[{"message":"wrong"}]`,
		`"statusCode":418`, `"detail":"wrong"`,
	} {
		assert.Contains(t, all, shape)
	}
	assert.Equal(t, map[string]bool{"application/json": true, "application/problem+json": true}, types)
	for _, text := range texts {
		assert.Contains(t, text, "wrong", "no shape loses the message")
	}
	texts, types = reply(t, q, 1, http.StatusServiceUnavailable, "/v2/x", "application/json", body)
	assert.Contains(t, texts[0], "<html>", "a gateway")
	assert.Equal(t, map[string]bool{"text/html; charset=utf-8": true}, types)
}

func TestQuirks_LeaveOtherResponsesAlone(t *testing.T) {
	q := &wire.Quirks{Base: "/v2", Forms: true, VagueOrigin: true}
	for _, row := range []struct{ path, contentType, body, why string }{
		{"/oauth/token", "application/json", listing, "no operation"},
		{"/v2/x", "application/pdf", "%PDF-1.4 {}", "a document"},
		{"/v2/x", "application/json", `{"listingId":"98e2e7`, "broken JSON, as a fault makes it"},
	} {
		texts, _ := reply(t, q, 1, http.StatusOK, row.path, row.contentType, row.body)
		assert.Equal(t, row.body, texts[0], row.why)
	}
}

func TestQuirks_VagueOriginAlone(t *testing.T) {
	texts, _ := reply(t, &wire.Quirks{Base: "/v2", VagueOrigin: true}, 1, http.StatusOK, "/v2/x", "application/json", listing)
	var got, want map[string]any
	require.NoError(t, json.Unmarshal([]byte(texts[0]), &got))
	require.NoError(t, json.Unmarshal([]byte(listing), &want))
	want["batch"], want["createdAt"] = nil, "2026-11-02T12:00:00.000"
	assert.Equal(t, want, got)
}

// A response that is flushed is written at once.
func TestQuirks_WriteWhatIsFlushed(t *testing.T) {
	q := &wire.Quirks{Base: "/v2", VagueOrigin: true}
	var flushed string
	w := httptest.NewRecorder()
	q.Handler(http.HandlerFunc(func(held http.ResponseWriter, _ *http.Request) {
		held.Header().Set("Content-Type", "application/json")
		held.Header().Set("Content-Length", "22")
		held.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(held, `{"message":"too long"}`)
		assert.NoError(t, http.NewResponseController(held).Flush())
		flushed = w.Body.String()
	})).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/x", nil))
	assert.JSONEq(t, `{"message":"too long"}`, flushed)
	assert.Equal(t, flushed, w.Body.String(), "once")
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	assert.Equal(t, strconv.Itoa(len(flushed)), w.Header().Get("Content-Length"))
}
