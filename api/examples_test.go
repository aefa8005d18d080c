package api_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
)

func TestExamples_AreOnEverySchema(t *testing.T) {
	for name, ref := range load(t).Components.Schemas {
		assert.NotNil(t, ref.Value.Example, name)
	}
}

func TestExamples_FitTheirSchemas(t *testing.T) {
	checked := 0
	walk(load(t), func(p part) {
		for _, ex := range p.examples() {
			checked++
			assert.NoError(t, ex.schema.VisitJSON(ex.value, instances()...), p.path)
			for _, member := range unknownMembers(ex.schema, ex.value, "") {
				assert.Fail(t, "the schema of the example lacks a member", "%s: %s", p.path, member)
			}
		}
	})
	assert.Greater(t, checked, 70, "every component schema and every path parameter has one")
}

func TestExamples_AreOnEveryPathParameter(t *testing.T) {
	walk(load(t), func(p part) {
		if p.parameter != nil && p.parameter.In == openapi3.ParameterInPath {
			assert.NotNil(t, p.parameter.Example, p.path)
		}
	})
}

// example is a value and the schema that it must fit.
type example struct {
	schema *openapi3.Schema
	value  any
}

func (p part) examples() []example {
	var found []example
	add := func(schema *openapi3.SchemaRef, value any) {
		if value != nil {
			found = append(found, example{schema.Value, value})
		}
	}
	switch {
	case p.schema != nil:
		add(p.schema, p.schema.Value.Example)
	case p.parameter != nil:
		add(p.parameter.Schema, p.parameter.Example)
		for _, ref := range p.parameter.Examples {
			add(p.parameter.Schema, ref.Value.Value)
		}
	case p.media != nil:
		add(p.media.Schema, p.media.Example)
		for _, ref := range p.media.Examples {
			add(p.media.Schema, ref.Value.Value)
		}
	}
	return found
}

// unknownMembers finds misspelled members, which an open schema accepts.
func unknownMembers(schema *openapi3.Schema, value any, path string) []string {
	var unknown []string
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			unknown = append(unknown, unknownMembers(schema.Items.Value, element, path+"[]")...)
		}
	case map[string]any:
		known := properties(schema, "")
		for name, member := range value {
			switch property, ok := known[name]; {
			case ok:
				unknown = append(unknown, unknownMembers(flat(property.ref.Value), member, path+"."+name)...)
			case schema.AdditionalProperties.Schema == nil:
				unknown = append(unknown, path+"."+name)
			}
		}
	}
	return unknown
}

// flat returns the schema behind allOf: [{$ref: ...}].
func flat(schema *openapi3.Schema) *openapi3.Schema {
	if len(schema.AllOf) == 1 {
		return schema.AllOf[0].Value
	}
	return schema
}
