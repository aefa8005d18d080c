package gen_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/gen"
)

// schemaTypes are the Go types of all component schemas, for tests of rules that hold for each.
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
	"IngestionProductCode":       reflect.TypeFor[gen.IngestionProductCode](),
	"InitiatedShipments":         reflect.TypeFor[gen.InitiatedShipments](),
	"InputInventoryType":         reflect.TypeFor[gen.InputInventoryType](),
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

func TestSchemas_HaveGoTypes(t *testing.T) {
	schemas := spec(t).Components.Schemas
	for name := range schemas {
		assert.Contains(t, slices.Collect(maps.Keys(schemaTypes)), name,
			"gen/schemas_test.go: add the Go type of schema %s to schemaTypes", name)
	}
	for name := range schemaTypes {
		assert.NotNil(t, schemas[name], "gen/schemas_test.go: schemaTypes has %s, and the spec does not", name)
	}
}

func spec(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	return doc
}

func TestSchemas_ExamplesSurviveDecodingAndEncoding(t *testing.T) {
	for name, ref := range spec(t).Components.Schemas {
		assertSurvives(t, name, ref.Value.Example)
	}
}

// Examples have only some of the members that the spec has.
func TestSchemas_MembersSurviveDecodingAndEncoding(t *testing.T) {
	for name, ref := range spec(t).Components.Schemas {
		assertSurvives(t, name, complete(ref.Value))
	}
}

// assertSurvives compares the JSON that the Go type marshals with the JSON that it read. It leaves
// out zero values: they and null mean absent in most fields.
func assertSurvives(t *testing.T, name string, value any) {
	t.Helper()
	typ, ok := schemaTypes[name]
	if !ok {
		return // TestSchemas_HaveGoTypes fails
	}
	text, err := json.Marshal(value)
	require.NoError(t, err, name)
	decoded := reflect.New(typ)
	if err := json.Unmarshal(text, decoded.Interface()); !assert.NoError(t, err, "%s: %s", name, text) {
		return
	}
	again, err := json.Marshal(decoded.Interface())
	require.NoError(t, err, name)
	assert.Equal(t, present(t, text), present(t, again), name)
}

// present decodes JSON without the members that are zero. Numbers keep their text.
func present(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value))
	return withoutZeros(value)
}

func withoutZeros(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = withoutZeros(value[i])
		}
	case map[string]any:
		for name, member := range value {
			value[name] = withoutZeros(member)
			object, ok := value[name].(map[string]any)
			if member == nil || member == "" || member == false || ok && len(object) == 0 {
				delete(value, name)
			}
		}
	}
	return value
}

// complete returns a value that has every member of its schema, none of them zero.
func complete(s *openapi3.Schema) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is(openapi3.TypeBoolean):
		return true
	case s.Type.Is(openapi3.TypeNumber):
		return json.Number("12")
	case s.Type.Is(openapi3.TypeString) && s.Format == "decimal":
		return "23500.0000"
	case s.Type.Is(openapi3.TypeString) && s.Format == "date-time":
		return "2026-11-02T09:14:05.812Z"
	case s.Type.Is(openapi3.TypeString):
		return "some text"
	case s.Type.Is(openapi3.TypeArray):
		return []any{complete(s.Items.Value), complete(s.Items.Value)}
	}
	return completeObject(s)
}

func completeObject(s *openapi3.Schema) any {
	object := map[string]any{}
	for _, part := range s.AllOf {
		if part.Value.Type.Is(openapi3.TypeString) {
			return complete(part.Value)
		}
		members, _ := completeObject(part.Value).(map[string]any)
		maps.Copy(object, members)
	}
	for name, member := range s.Properties {
		object[name] = complete(member.Value)
	}
	if extra := s.AdditionalProperties.Schema; extra != nil {
		object["in_progress"] = complete(extra.Value)
	}
	return object
}

func TestSchemas_NullMembersAreZero(t *testing.T) {
	for name, typ := range schemaTypes {
		if typ.Kind() != reflect.Struct {
			continue
		}
		nulls := map[string]any{}
		for field := range typ.Fields() {
			if jsonName(field) != rawMembers {
				nulls[jsonName(field)] = nil
			}
		}
		text, err := json.Marshal(nulls)
		require.NoError(t, err)
		value := reflect.New(typ)
		require.NoError(t, json.Unmarshal(text, value.Interface()), "%s: any field can be null", name)
		for field, v := range value.Elem().Fields() {
			assert.True(t, v.IsZero() || jsonName(field) == rawMembers, "%s.%s", name, field.Name)
		}
	}
}

type validator interface{ Valid() bool }

func TestSchemas_UnknownEnumValuesAreKept(t *testing.T) {
	found := 0
	for name, typ := range schemaTypes {
		if !typ.Implements(reflect.TypeFor[validator]()) {
			continue
		}
		found++
		for _, value := range []string{`"BRAND_NEW"`, `"active"`, `"Ünknown ☂"`, `""`} {
			decoded := reflect.New(typ)
			require.NoError(t, json.Unmarshal([]byte(value), decoded.Interface()), "%s: the service may add values", name)
			assert.False(t, decoded.Elem().Interface().(validator).Valid(), "%s %s", name, value)
			text, err := json.Marshal(decoded.Interface())
			require.NoError(t, err)
			assert.Equal(t, value, string(text), name)
		}
	}
	want := 0
	schemas := spec(t).Components.Schemas
	for name := range schemaTypes {
		if len(enumValues(schemas[name].Value)) > 0 {
			want++
		}
	}
	assert.Equal(t, want, found, "every enum of the spec, open or closed, has Valid")
}

func TestSchemas_EnumValuesOfTheSpecAreValid(t *testing.T) {
	schemas := spec(t).Components.Schemas
	for name, typ := range schemaTypes {
		for _, value := range enumValues(schemas[name].Value) {
			require.Equal(t, reflect.String, typ.Kind(), name)
			typed := reflect.New(typ).Elem()
			typed.SetString(value)
			assert.True(t, typed.Interface().(validator).Valid(), "%s %s", name, value)
		}
	}
}

func enumValues(s *openapi3.Schema) []string {
	values := s.Enum
	if open, ok := s.Extensions["x-open-enum"].(map[string]any); ok {
		values, _ = open["enum"].([]any)
	}
	var texts []string
	for _, value := range values {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// A binary fraction cannot hold 0.10, and by default the generator maps a number to float32.
// Linters do not check generated files.
func TestPackage_HasNoFloat(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	read := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		read++
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(tree, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok {
				assert.NotContains(t, []string{"float32", "float64"}, name.Name, "%s", set.Position(name.Pos()))
			}
			return true
		})
	}
	assert.Greater(t, read, 5)
}

// rawMembers is the name of the field with all members of an open object, which is no member.
const rawMembers = "-"

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
