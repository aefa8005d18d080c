package gen_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/gen"
)

// schemaTypes names the Go type of every component schema, for tests that have to hold for all of them.
var schemaTypes = map[string]reflect.Type{
	"ActivateListingRequest":     reflect.TypeFor[gen.ActivateListingRequest](),
	"ActiveOrderStatus":          reflect.TypeFor[gen.ActiveOrderStatus](),
	"Adjustment":                 reflect.TypeFor[gen.Adjustment](),
	"AskData":                    reflect.TypeFor[gen.AskData](),
	"AuthenticationDetails":      reflect.TypeFor[gen.AuthenticationDetails](),
	"Batch":                      reflect.TypeFor[gen.Batch](),
	"BatchItemResult":            reflect.TypeFor[gen.BatchItemResult](),
	"BatchItemStatus":            reflect.TypeFor[gen.BatchItemStatus](),
	"BatchStatus":                reflect.TypeFor[gen.BatchStatus](),
	"BatchStatusCounts":          reflect.TypeFor[gen.BatchStatusCounts](),
	"CreateBatchItem":            reflect.TypeFor[gen.CreateBatchItem](),
	"CreateBatchItemInput":       reflect.TypeFor[gen.CreateBatchItemInput](),
	"CreateBatchItemList":        reflect.TypeFor[gen.CreateBatchItemList](),
	"CreateItem":                 reflect.TypeFor[gen.CreateItem](),
	"CreateListingRequest":       reflect.TypeFor[gen.CreateListingRequest](),
	"CreateListingsBatchRequest": reflect.TypeFor[gen.CreateListingsBatchRequest](),
	"CurrencyCode":               reflect.TypeFor[gen.CurrencyCode](),
	"DeleteBatchItem":            reflect.TypeFor[gen.DeleteBatchItem](),
	"DeleteBatchItemInput":       reflect.TypeFor[gen.DeleteBatchItemInput](),
	"DeleteBatchItemList":        reflect.TypeFor[gen.DeleteBatchItemList](),
	"DeleteItem":                 reflect.TypeFor[gen.DeleteItem](),
	"DeleteListingsBatchRequest": reflect.TypeFor[gen.DeleteListingsBatchRequest](),
	"DocumentLinks":              reflect.TypeFor[gen.DocumentLinks](),
	"GTIN":                       reflect.TypeFor[gen.GTIN](),
	"HistoricalOrderStatus":      reflect.TypeFor[gen.HistoricalOrderStatus](),
	"InboundShipment":            reflect.TypeFor[gen.InboundShipment](),
	"IngestProductsRequest":      reflect.TypeFor[gen.IngestProductsRequest](),
	"Ingestion":                  reflect.TypeFor[gen.Ingestion](),
	"IngestionCategory":          reflect.TypeFor[gen.IngestionCategory](),
	"IngestionItem":              reflect.TypeFor[gen.IngestionItem](),
	"IngestionItemList":          reflect.TypeFor[gen.IngestionItemList](),
	"IngestionProduct":           reflect.TypeFor[gen.IngestionProduct](),
	"IngestionResult":            reflect.TypeFor[gen.IngestionResult](),
	"IngestionStatus":            reflect.TypeFor[gen.IngestionStatus](),
	"IngestionVariant":           reflect.TypeFor[gen.IngestionVariant](),
	"InitiatedShipments":         reflect.TypeFor[gen.InitiatedShipments](),
	"InventoryType":              reflect.TypeFor[gen.InventoryType](),
	"LastOperation":              reflect.TypeFor[gen.LastOperation](),
	"Listing":                    reflect.TypeFor[gen.Listing](),
	"ListingAsk":                 reflect.TypeFor[gen.ListingAsk](),
	"ListingBatch":               reflect.TypeFor[gen.ListingBatch](),
	"ListingOperation":           reflect.TypeFor[gen.ListingOperation](),
	"ListingOperationPage":       reflect.TypeFor[gen.ListingOperationPage](),
	"ListingOrder":               reflect.TypeFor[gen.ListingOrder](),
	"ListingPage":                reflect.TypeFor[gen.ListingPage](),
	"ListingStatus":              reflect.TypeFor[gen.ListingStatus](),
	"MarketData":                 reflect.TypeFor[gen.MarketData](),
	"MarketDataBlock":            reflect.TypeFor[gen.MarketDataBlock](),
	"OperationAdditions":         reflect.TypeFor[gen.OperationAdditions](),
	"OperationChanges":           reflect.TypeFor[gen.OperationChanges](),
	"OperationChannel":           reflect.TypeFor[gen.OperationChannel](),
	"OperationInitiator":         reflect.TypeFor[gen.OperationInitiator](),
	"OperationStatus":            reflect.TypeFor[gen.OperationStatus](),
	"OperationType":              reflect.TypeFor[gen.OperationType](),
	"OperationUpdates":           reflect.TypeFor[gen.OperationUpdates](),
	"Order":                      reflect.TypeFor[gen.Order](),
	"OrderPage":                  reflect.TypeFor[gen.OrderPage](),
	"OrderSort":                  reflect.TypeFor[gen.OrderSort](),
	"OrderStatus":                reflect.TypeFor[gen.OrderStatus](),
	"Page":                       reflect.TypeFor[gen.Page](),
	"Payout":                     reflect.TypeFor[gen.Payout](),
	"Product":                    reflect.TypeFor[gen.Product](),
	"ProductAttributes":          reflect.TypeFor[gen.ProductAttributes](),
	"ProductPage":                reflect.TypeFor[gen.ProductPage](),
	"ProductReference":           reflect.TypeFor[gen.ProductReference](),
	"ProductSizeChart":           reflect.TypeFor[gen.ProductSizeChart](),
	"PublicApiError":             reflect.TypeFor[gen.PublicAPIError](),
	"RejectionDetails":           reflect.TypeFor[gen.RejectionDetails](),
	"Shipment":                   reflect.TypeFor[gen.Shipment](),
	"ShippingDocuments":          reflect.TypeFor[gen.ShippingDocuments](),
	"ShippingDocumentsResponse":  reflect.TypeFor[gen.ShippingDocumentsResponse](),
	"ShippingInstructions":       reflect.TypeFor[gen.ShippingInstructions](),
	"SizeConversion":             reflect.TypeFor[gen.SizeConversion](),
	"UpdateBatchItem":            reflect.TypeFor[gen.UpdateBatchItem](),
	"UpdateBatchItemInput":       reflect.TypeFor[gen.UpdateBatchItemInput](),
	"UpdateBatchItemList":        reflect.TypeFor[gen.UpdateBatchItemList](),
	"UpdateItem":                 reflect.TypeFor[gen.UpdateItem](),
	"UpdateListingRequest":       reflect.TypeFor[gen.UpdateListingRequest](),
	"UpdateListingsBatchRequest": reflect.TypeFor[gen.UpdateListingsBatchRequest](),
	"Variant":                    reflect.TypeFor[gen.Variant](),
	"VariantReference":           reflect.TypeFor[gen.VariantReference](),
	"VariantSize":                reflect.TypeFor[gen.VariantSize](),
	"VariantSizeChart":           reflect.TypeFor[gen.VariantSizeChart](),
}

func TestEverySchemaHasAGoType(t *testing.T) {
	assert.ElementsMatch(t, slices.Collect(maps.Keys(spec(t).Components.Schemas)), slices.Collect(maps.Keys(schemaTypes)))
}

func spec(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	return doc
}
