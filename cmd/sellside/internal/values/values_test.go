package values_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

// constants returns the values of the constants of a type of package gen.
func constants(t *testing.T, typeName string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../../gen/openapi.gen.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		name, ok := spec.Type.(*ast.Ident)
		literal, isLiteral := spec.Values[0].(*ast.BasicLit)
		if ok && isLiteral && name.Name == typeName {
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			found = append(found, text)
		}
		return true
	})
	require.NotEmpty(t, found, typeName)
	return found
}

func TestValues_AreThoseOfTheSpec(t *testing.T) {
	for name, got := range map[string][]string{
		"ListingStatus":   values.Texts(values.ListingStatuses()),
		"OrderStatus":     values.Texts(values.OrderStatuses()),
		"OrderSort":       values.Texts(values.OrderSorts()),
		"InventoryType":   values.Texts(values.InventoryTypes()),
		"CurrencyCode":    values.Texts(values.Currencies()),
		"BatchItemStatus": values.Texts(values.BatchItemStatuses()),
		"IngestionStatus": values.Texts(values.IngestionStatuses()),
	} {
		assert.ElementsMatch(t, constants(t, name), got, name)
	}
}

func TestHistoricalOrderStatuses_AreTerminal(t *testing.T) {
	for _, status := range values.HistoricalOrderStatuses() {
		assert.True(t, status.Terminal(), status)
	}
	assert.Len(t, values.HistoricalOrderStatuses(), 5, "as the filter of the history accepts")
}

func TestFind_IgnoresCaseAndKeepsWhatIsUnknown(t *testing.T) {
	status, ok := values.Find(values.IngestionStatuses(), "in review")
	assert.True(t, ok)
	assert.Equal(t, gen.IngestionStatusInReview, status)
	status, ok = values.Find(values.IngestionStatuses(), " Paused ")
	assert.False(t, ok)
	assert.Equal(t, gen.IngestionStatus("Paused"), status)
}
