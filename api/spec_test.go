package api_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sellside-sdk/sellside-go/api"
)

func load(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	return doc
}

func TestSpec_IsValid(t *testing.T) {
	doc := load(t)
	require.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()))
	assert.Equal(t, "3.0.3", doc.OpenAPI)
}

// OpenAPI 3.0 ignores the siblings of a $ref, and so do parsers, so this reads the YAML tree.
func TestRefs_HaveNoSiblings(t *testing.T) {
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(api.Spec, &root))
	refs := 0
	eachMapping(&root, func(mapping *yaml.Node, keys []string) {
		for _, key := range keys {
			if key == "$ref" {
				refs++
				assert.Equal(t, []string{"$ref"}, keys, "line %d: use allOf: [{$ref: ...}] and put the rest beside allOf", mapping.Line)
			}
		}
	})
	assert.Positive(t, refs)
}

func eachMapping(node *yaml.Node, visit func(mapping *yaml.Node, keys []string)) {
	if node.Kind == yaml.MappingNode {
		var keys []string
		for i := 0; i < len(node.Content); i += 2 {
			keys = append(keys, node.Content[i].Value)
		}
		visit(node, keys)
	}
	for _, child := range node.Content {
		eachMapping(child, visit)
	}
}

// Validators support only one form of a nullable reference.
func TestNullableReferences_AcceptNull(t *testing.T) {
	found := 0
	for name, component := range load(t).Components.Schemas {
		for property, ref := range component.Value.Properties {
			if len(ref.Value.AllOf) == 0 || !ref.Value.Nullable {
				continue
			}
			found++
			assert.NoError(t, ref.Value.VisitJSON(nil), "%s.%s", name, property)
			assert.Error(t, ref.Value.AllOf[0].Value.VisitJSON(nil), "%s.%s: the component itself is not nullable", name, property)
		}
	}
	assert.Positive(t, found)
}

func TestSecurity_RequiresBothCredentials(t *testing.T) {
	doc := load(t)

	require.Len(t, doc.Servers, 1)
	assert.Equal(t, "{baseUrl}/v2", doc.Servers[0].URL)
	assert.Contains(t, doc.Servers[0].Variables, "baseUrl")

	require.Len(t, doc.Security, 1, "two entries would be alternatives")
	assert.Len(t, doc.Security[0], 2, "both headers are required together")
	for id, op := range operations(doc) {
		assert.Nil(t, op.Security, "%s: no operation is an exception", id)
	}

	token := doc.Components.SecuritySchemes["accessToken"].Value
	assert.Equal(t, []string{"http", "bearer", "JWT"}, []string{token.Type, token.Scheme, token.BearerFormat})
	key := doc.Components.SecuritySchemes["apiKey"].Value
	assert.Equal(t, []string{"apiKey", "header", "x-api-key"}, []string{key.Type, key.In, key.Name})
	for scheme := range doc.Security[0] {
		assert.Contains(t, doc.Components.SecuritySchemes, scheme)
	}
}

// instances returns the options to validate an example with: kin-openapi does not validate the
// formats uuid and decimal by default.
func instances() []openapi3.SchemaValidationOption {
	pattern := func(format string) openapi3.SchemaValidationOption {
		return openapi3.WithStringFormatValidator(format, openapi3.NewCallbackValidator(func(text string) error {
			if !formats[format].MatchString(text) {
				return strconv.ErrSyntax
			}
			return nil
		}))
	}
	return []openapi3.SchemaValidationOption{
		openapi3.EnableFormatValidation(), openapi3.MultiErrors(), pattern("uuid"), pattern("decimal"),
	}
}

var formats = map[string]*regexp.Regexp{
	"uuid":    regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`),
	"decimal": regexp.MustCompile(`^\d+(\.\d+)?$`),
}
