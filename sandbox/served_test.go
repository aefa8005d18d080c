package sandbox_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/specgen"
)

// notServed are the fields of responses that the sandbox leaves out or null, and the reasons.
var notServed = map[string]string{
	"LastOperation.error":           "no operation of this market fails",
	"ListingOperation.error":        "no operation of this market fails",
	"Listing.authenticationDetails": "the check belongs to the order of the listing",
	"Listing.condition":             "items are new",
	"Listing.conditionDescription":  "items are new",
	"Order.conditionDescription":    "items are new",
	"MarketData.directMarketData":   "the book has no asks of Direct stock",
	"MarketDataBlock.beatUS":        "the book is that of one market",
}

// notRead are the query parameters that the sandbox accepts and ignores, and the reasons.
var notRead = map[string]string{
	"GetVariantMarketData country": "market data is based on the caller's market",
}

func TestServed_EveryFieldHasAValue(t *testing.T) {
	doc, err := document()
	require.NoError(t, err)
	busy := makeBusyMarket(t)
	f := busy.open(t)
	seen := map[string]bool{}
	see := func(method, route string, w *httptest.ResponseRecorder) {
		declared := doc.Paths.Find(route).GetOperation(method).Responses.Status(w.Code)
		if declared == nil {
			return
		}
		media := declared.Value.Content.Get("application/json")
		var body any
		if media != nil && json.Unmarshal(w.Body.Bytes(), &body) == nil {
			seeFields(seen, media.Schema, "", body)
		}
	}
	for kind, items := range manyItems(t, f) {
		w := f.raw(http.MethodPost, "/selling/batch/"+kind, map[string]any{"items": items})
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		id := decode(t, w).text("batchId")
		f.settle()
		see(http.MethodGet, "/selling/batch/"+kind+"/{batchId}/items", f.raw(http.MethodGet, "/selling/batch/"+kind+"/"+id+"/items", nil))
	}
	ingestion := f.ingest(
		aurora(map[string]any{
			"material": "Nylon", "tags": []any{"trail"}, "productDescription": "A shoe.", "dimensions": "30 x 20 x 12 cm",
			"weight": "0.9 kg", "productURL": "https://example.com/aurora",
			"productCode": map[string]any{"code": "A400", "name": "Model number"},
		}),
		aurora(map[string]any{"retailPrice": "0"}))
	f.pass(time.Hour)
	see(http.MethodGet, "/catalog/ingestion/{ingestionId}", f.raw(http.MethodGet, ingestion, nil))
	g := &specgen.Generator{Known: f.known, Choices: &turns{}, Base: sandbox.BasePath}
	for range 60 {
		for _, op := range busy.spec.Operations() {
			see(op.Method, op.Path, f.serve(g.Request(op)))
		}
		f.settle()
	}
	for _, field := range slices.Sorted(maps.Keys(responseFields(doc))) {
		assert.NotEqual(t, seen[field], notServed[field] != "",
			"sandbox: serve the field %s in sandbox/internal/handlers, or give the reason in notServed of sandbox/served_test.go", field)
	}
}

// manyItems returns items for each kind of batch: one with all members, and one that fails.
func manyItems(t *testing.T, f *fuzzed) map[string][]any {
	t.Helper()
	expires := f.clock().AddDate(0, 1, 0).Format(time.RFC3339)
	terms := map[string]any{"amount": "350", "currencyCode": "USD", "active": true, "expiresAt": expires}
	with := func(member, id string) map[string]any {
		item := maps.Clone(terms)
		item[member] = id
		return item
	}
	create, unknown := with("variantId", chicago(t)), with("variantId", "x")
	create["quantity"], unknown["quantity"] = 1, 1
	return map[string][]any{
		"create-listing": {create, unknown},
		"update-listing": {with("listingId", f.sell("360")), with("listingId", "x")},
		"delete-listing": {map[string]any{"listingId": f.sell("370")}, map[string]any{"listingId": "x"}},
	}
}

// seeFields records the fields of a response that have a value.
func seeFields(seen map[string]bool, ref *openapi3.SchemaRef, name string, value any) {
	if component, ok := strings.CutPrefix(ref.Ref, "#/components/schemas/"); ok {
		name = component
	}
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			seeFields(seen, ref.Value.Items, "", element)
		}
	case map[string]any:
		for _, part := range ref.Value.AllOf {
			seeFields(seen, part, name, value)
		}
		for member, schema := range ref.Value.Properties {
			if v := value[member]; v != nil {
				seen[name+"."+member] = true
				seeFields(seen, schema, "", v)
			}
		}
	}
}

// responseFields returns the fields of all responses.
func responseFields(doc *openapi3.T) map[string]bool {
	fields, visited := map[string]bool{}, map[string]bool{}
	var visit func(ref *openapi3.SchemaRef, name string)
	visit = func(ref *openapi3.SchemaRef, name string) {
		if ref == nil {
			return
		}
		if component, ok := strings.CutPrefix(ref.Ref, "#/components/schemas/"); ok {
			if name = component; visited[name] {
				return
			}
			visited[name] = true
		}
		visit(ref.Value.Items, "")
		for _, part := range ref.Value.AllOf {
			visit(part, name)
		}
		for member, schema := range ref.Value.Properties {
			fields[name+"."+member] = true
			visit(schema, "")
		}
	}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				if media := response.Value.Content.Get("application/json"); media != nil {
					visit(media.Schema, "")
				}
			}
		}
	}
	return fields
}

func TestServed_EveryParameterIsRead(t *testing.T) {
	doc, err := document()
	require.NoError(t, err)
	read := parametersRead(t)
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, p := range op.Parameters {
				if p.Value.In != openapi3.ParameterInQuery {
					continue
				}
				name := op.OperationID + " " + p.Value.Name
				assert.NotEqual(t, read[op.OperationID][strings.ToLower(p.Value.Name)], notRead[name] != "",
					"sandbox: read the parameter %q in sandbox/internal/handlers, or give the reason in notRead of sandbox/served_test.go", name)
			}
		}
	}
}

// parametersRead returns the names in lower case that the method of an operation, and the functions
// of its package that it calls, select from any value.
func parametersRead(t *testing.T) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob("internal/handlers/*.go")
	require.NoError(t, err)
	selected, called := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			selected[f.Name.Name], called[f.Name.Name] = map[string]bool{}, map[string]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					selected[f.Name.Name][strings.ToLower(n.Sel.Name)] = true
					called[f.Name.Name][n.Sel.Name] = true
				case *ast.Ident:
					called[f.Name.Name][n.Name] = true
				}
				return true
			})
		}
	}
	for range selected { // until nothing is added along the calls
		for name := range selected {
			for other := range called[name] {
				maps.Copy(selected[name], selected[other])
			}
		}
	}
	return selected
}
