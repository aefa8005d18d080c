package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// withQuirks makes all sandboxes of the test binary have Options.Quirks, and its tests compare
// responses by value.
const withQuirks = "SELLSIDE_TEST_QUIRKS"

// notWithQuirks are the tests that cannot run with quirks.
var notWithQuirks = map[string]string{
	"TestBook_IsArranged":                         "it compares members that may be null or missing",
	"TestAddOperation_RecordsWhatNoSellerStarts":  "it compares members that may be null or missing",
	"TestAccounts_CannotReachEachOther":           "it compares bytes or headers",
	"TestBatches_QuantityBecomesThatManyItems":    "it compares members that may be null or missing",
	"TestBatches_ItemsFailOneByOne":               "it compares texts of errors",
	"TestBatches_UpdateListings":                  "it compares texts of errors",
	"TestProducts_HaveAttributesAndVariants":      "it compares members that may be null or missing",
	"TestGTINs_FindVariants":                      "it compares members that may be null or missing",
	"TestFaults_ReplaceTheResponseAppliedOrNot":   "it compares bytes or headers",
	"TestBodies_TooLongOverHTTP1":                 "it compares bytes or headers",
	"TestBodies_TooLongOverHTTP2":                 "it compares bytes or headers",
	"TestFaults_ComeBeforeCredentials":            "it compares bytes or headers",
	"TestContract_EveryDeclaredStatusIsSeen":      "it compares bytes or headers",
	"TestIngestion_ReviewedProductIsInTheCatalog": "it compares members that may be null or missing",
	"TestIngestion_ReviewSurvivesARestart":        "it compares members that may be null or missing",
	"TestListings_AreCreatedAsynchronously":       "it compares members that may be null or missing",
	"TestMarketData_HasAllFigures":                "it compares members that may be null or missing",
	"TestBids_StayInTheirCurrencyAcrossARestart":  "it compares members that may be null or missing",
	"TestOrders_MoveFromTheSaleToHistory":         "it compares members that may be null or missing",
	"TestVagueOrigin_HidesBatchAndZone":           "it has quirks already",
	"TestSoak":                                    "it takes long",
	"TestServed_EveryFieldHasAValue":              "it looks for members that may be null or missing",
	"TestAdvance_OneJumpEqualsMany":               "it takes long",
	"TestKill_EveryItemIsDoneOnce":                "it takes long",
}

// The tests of this package run once more with quirks, which change forms and no values.
func TestRerun_KeepsValuesWithQuirks(t *testing.T) {
	if os.Getenv(withQuirks) != "" {
		return
	}
	var names []string
	for name := range notWithQuirks {
		names = append(names, name)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^Test", "-test.skip=^("+strings.Join(names, "|")+")$")
	again.Env = append(os.Environ(), withQuirks+"=1")
	out, err := again.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// byValue returns a response of a sandbox with quirks in the forms of one without: amounts, figures
// and counts as they are, and no unknown members.
func byValue(name string, v any) any {
	switch v := v.(type) {
	case []any:
		if name == "additions" {
			return map[string]any{}
		}
		for i := range v {
			v[i] = byValue(name, v[i])
		}
	case map[string]any:
		delete(v, "rolloutGroup")
		for key := range v {
			v[key] = byValue(key, v[key])
			if text, ok := v[key].(string); ok && name == "itemStatuses" {
				v[key] = json.Number(text)
			}
		}
		if name == "payout" || name == "adjustments" {
			for key, value := range v {
				if text, ok := value.(string); ok && key != "currencyCode" && key != "adjustmentType" {
					v[key] = json.Number(text)
				}
			}
		}
		if v["status"] == "PROCESSING" {
			v["status"] = "IN_PROGRESS"
		}
	case string:
		if whole, ok := strings.CutSuffix(v, ".0000"); ok {
			return whole
		}
		if len(v) > 5 && strings.Trim(v, "0123456789.") == "" && v[len(v)-5] == '.' {
			return strings.TrimSuffix(v, "00")
		}
	}
	return v
}

// errorByValue returns an error body of any shape in the documented one.
func errorByValue(status int, body any) any {
	object, _ := body.(map[string]any)
	for _, member := range []string{"message", "errorMessage", "error", "detail"} {
		if text, ok := object[member]; ok {
			return map[string]any{"statusCode": json.Number(fmt.Sprint(status)), "message": text}
		}
	}
	if all, ok := object["errors"].([]any); ok {
		return errorByValue(status, all[0])
	}
	return body
}

func TestVagueOrigin_HidesBatchAndZone(t *testing.T) {
	item := map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 1}
	show := func(m *market) map[string]any {
		m.sendUnchecked(m.request(http.MethodPost, "/selling/batch/create-listing", map[string]any{"items": []any{item}}))
		m.settle()
		return m.sendUnchecked(m.request(http.MethodGet, "/selling/listings", nil)).at("listings", 0).(map[string]any)
	}
	plain := show(open(t))
	vague := show(open(t, func(o *sandbox.Options) { o.VagueOrigin = true }))
	require.NotNil(t, plain["batch"])
	plain["batch"], plain["createdAt"] = nil, "2026-11-02T12:00:02.000"
	assert.Equal(t, plain, vague)
}
