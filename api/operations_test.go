package api_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operation is an operation of the spec with its method and path.
type operation struct {
	*openapi3.Operation

	method, path string
	shared       openapi3.Parameters // The parameters of its path.
}

// operations returns the operations of the spec by "METHOD /path".
func operations(doc *openapi3.T) map[string]operation {
	found := map[string]operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			found[method+" "+path] = operation{op, method, path, item.Parameters}
		}
	}
	return found
}

func TestOperations_HaveTheirOwnIDs(t *testing.T) {
	ids := map[string]string{}
	for key, op := range operations(load(t)) {
		assert.Empty(t, ids[op.OperationID], "api/openapi.yaml: %s needs an operationId of its own (%s)", key, op.OperationID)
		ids[op.OperationID] = key
	}
}

func TestOperations_HaveOneTag(t *testing.T) {
	doc := load(t)
	groups := map[string]bool{}
	for key, op := range operations(doc) {
		require.Len(t, op.Tags, 1, "api/openapi.yaml: %s needs one tag", key)
		groups[op.Tags[0]] = true
	}
	tags := map[string]bool{}
	for _, tag := range doc.Tags {
		tags[tag.Name] = true
	}
	assert.Equal(t, tags, groups, "api/openapi.yaml: tags of operations, and the list of tags")
}

// There is no idempotency key, so a write that is repeated may be applied twice.
func TestOperations_AreRetrySafeIfTheyRead(t *testing.T) {
	for key, op := range operations(load(t)) {
		if op.method == http.MethodGet {
			assert.Equal(t, true, op.Extensions["x-retry-safe"], key)
		} else {
			assert.NotContains(t, op.Extensions, "x-retry-safe", key)
		}
	}
}

func TestErrors_ArePublicAPIErrors(t *testing.T) {
	for key, op := range operations(load(t)) {
		assert.NotNil(t, op.Responses.Default(), "%s: undeclared statuses do occur", key)
		for status, ref := range op.Responses.Map() {
			if strings.HasPrefix(status, "2") {
				continue
			}
			require.Equal(t, []string{"application/json"}, keys(ref.Value.Content), "%s %s", key, status)
			schema := ref.Value.Content["application/json"].Schema
			assert.Equal(t, "#/components/schemas/PublicApiError", schema.Ref, "%s %s", key, status)
		}
	}
}

func TestPathParameters_AreRequiredStrings(t *testing.T) {
	for key, op := range operations(load(t)) {
		var declared []string
		for _, ref := range op.shared {
			assert.Equal(t, openapi3.ParameterInPath, ref.Value.In, key)
			assert.True(t, ref.Value.Required, key)
			assert.Equal(t, "string", describe(ref.Value.Schema), "%s: ids are opaque text", key)
			declared = append(declared, "{"+ref.Value.Name+"}")
		}
		var wanted []string
		for segment := range strings.SplitSeq(op.path, "/") {
			if strings.HasPrefix(segment, "{") {
				wanted = append(wanted, segment)
			}
		}
		assert.Equal(t, wanted, declared, key)
	}
}

func keys[V any](m map[string]V) []string {
	var names []string
	for name := range maps.Keys(m) {
		names = append(names, name)
	}
	return names
}
