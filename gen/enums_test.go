package gen_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type validator interface{ Valid() bool }

func TestUnknownEnumValuesPassUnchanged(t *testing.T) {
	found := 0
	for name, typ := range schemaTypes {
		if !typ.Implements(reflect.TypeFor[validator]()) {
			continue
		}
		found++
		for _, wire := range []string{`"BRAND_NEW"`, `"active"`, `"Ünknown ☂"`, `""`} {
			value := reflect.New(typ)
			require.NoError(t, json.Unmarshal([]byte(wire), value.Interface()), "%s: new values appear without a new version", name)
			assert.False(t, value.Elem().Interface().(validator).Valid(), "%s %s", name, wire)
			text, err := json.Marshal(value.Interface())
			require.NoError(t, err)
			assert.Equal(t, wire, string(text), name)
		}
	}
	want := 0
	for _, ref := range spec(t).Components.Schemas {
		if len(enumValues(ref.Value)) > 0 {
			want++
		}
	}
	assert.Equal(t, want, found, "every enum of the spec, open or closed, has Valid")
}

func TestEveryEnumValueOfTheSpecIsValid(t *testing.T) {
	for name, ref := range spec(t).Components.Schemas {
		for _, value := range enumValues(ref.Value) {
			require.Equal(t, reflect.String, schemaTypes[name].Kind(), name)
			typed := reflect.New(schemaTypes[name]).Elem()
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
