package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// zeros has the zero values of all objects in responses.
var zeros = map[string]any{
	"Adjustment":                wire.Adjustment{},
	"AskData":                   wire.AskData{},
	"AuthenticationDetails":     wire.AuthenticationDetails{},
	"Batch":                     wire.Batch{},
	"BatchItemResult":           wire.BatchItemResult{},
	"BatchStatusCounts":         wire.BatchStatusCounts(nil),
	"CreateBatchItem":           wire.CreateBatchItem{},
	"CreateBatchItemInput":      wire.CreateBatchItemInput{},
	"CreateBatchItemList":       wire.CreateBatchItemList{},
	"DeleteBatchItem":           wire.DeleteBatchItem{},
	"DeleteBatchItemInput":      wire.DeleteBatchItemInput{},
	"DeleteBatchItemList":       wire.DeleteBatchItemList{},
	"GTIN":                      wire.GTIN{},
	"InboundShipment":           wire.InboundShipment{},
	"Ingestion":                 wire.Ingestion{},
	"IngestionItem":             wire.IngestionItem{},
	"IngestionItemList":         wire.IngestionItemList{},
	"IngestionResult":           wire.IngestionResult{},
	"IngestionProductCode":      wire.IngestionProductCode{},
	"InitiatedShipments":        wire.InitiatedShipments{},
	"LastOperation":             wire.LastOperation{},
	"Listing":                   wire.Listing{},
	"ListingAsk":                wire.ListingAsk{},
	"ListingBatch":              wire.ListingBatch{},
	"ListingOperation":          wire.ListingOperation{},
	"ListingOperationPage":      wire.ListingOperationPage{},
	"ListingOrder":              wire.ListingOrder{},
	"ListingPage":               wire.ListingPage{},
	"MarketData":                wire.MarketData{},
	"MarketDataBlock":           wire.MarketDataBlock{},
	"OperationAdditions":        wire.OperationAdditions{},
	"OperationChanges":          wire.OperationChanges{},
	"OperationUpdates":          wire.OperationUpdates{},
	"Order":                     wire.Order{},
	"OrderPage":                 wire.OrderPage{},
	"Payout":                    wire.Payout{},
	"Product":                   wire.Product{},
	"ProductAttributes":         wire.ProductAttributes{},
	"ProductPage":               wire.ProductPage{},
	"ProductReference":          wire.ProductReference{},
	"ProductSizeChart":          wire.ProductSizeChart{},
	"RejectionDetails":          wire.RejectionDetails{},
	"Shipment":                  wire.Shipment{},
	"ShippingDocuments":         wire.ShippingDocuments{},
	"ShippingDocumentsResponse": wire.ShippingDocumentsResponse{},
	"ShippingInstructions":      wire.ShippingInstructions{},
	"SizeConversion":            wire.SizeConversion{},
	"UpdateBatchItem":           wire.UpdateBatchItem{},
	"UpdateBatchItemInput":      wire.UpdateBatchItemInput{},
	"UpdateBatchItemList":       wire.UpdateBatchItemList{},
	"Variant":                   wire.Variant{},
	"VariantReference":          wire.VariantReference{},
	"VariantSize":               wire.VariantSize{},
	"VariantSizeChart":          wire.VariantSizeChart{},
}

// without has the reasons why schemas of responses have no zero value to check.
var without = map[string]string{
	"PublicApiError":   "0 is no status code",
	"IngestionProduct": "the input of a request, whose category has no zero",
	"DocumentLinks":    "present only with links",
}

// The compiler does not notice a model that drops required members, or writes null for an array.
func TestModels_ZeroValuesAreValid(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	for name := range inResponses(doc) {
		if _, ok := without[name]; ok {
			continue
		}
		zero, ok := zeros[name]
		if !assert.True(t, ok, "sandbox/internal/wire/zero_test.go: add wire.%s{} to zeros", name) {
			continue
		}
		text, err := json.Marshal(zero)
		require.NoError(t, err, name)
		var value any
		require.NoError(t, json.Unmarshal(text, &value), name)
		assert.NoError(t, doc.Components.Schemas[name].Value.VisitJSON(value), "%s: %s", name, text)
		for member, v := range members(value) {
			if array := doc.Components.Schemas[name].Value.Properties[member]; array != nil && !array.Value.Nullable {
				assert.NotNil(t, v, "%s.%s is null and not nullable", name, member)
			}
		}
	}
}

func members(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}

// inResponses returns the names of all object schemas in responses.
func inResponses(doc *openapi3.T) map[string]bool {
	names := map[string]bool{}
	var walk func(*openapi3.SchemaRef)
	walk = func(ref *openapi3.SchemaRef) {
		if ref == nil {
			return
		}
		if name, ok := strings.CutPrefix(ref.Ref, "#/components/schemas/"); ok {
			if names[name] || !ref.Value.Type.Is("object") && len(ref.Value.AllOf) == 0 {
				return
			}
			names[name] = true
		}
		walk(ref.Value.Items)
		for _, part := range ref.Value.AllOf {
			if len(ref.Value.AllOf) > 1 && part.Ref != "" { // the common part of several lists
				continue
			}
			walk(part)
		}
		for _, property := range ref.Value.Properties {
			walk(property)
		}
	}
	for _, path := range doc.Paths.Map() {
		for _, op := range path.Operations() {
			for _, response := range op.Responses.Map() {
				if media := response.Value.Content.Get("application/json"); media != nil {
					walk(media.Schema)
				}
			}
		}
	}
	return names
}
