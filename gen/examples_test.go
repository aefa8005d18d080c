package gen_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryExampleSurvivesDecodingAndEncoding(t *testing.T) {
	for name, ref := range spec(t).Components.Schemas {
		assertSurvives(t, name, ref.Value.Example)
	}
}

// TestEveryMemberSurvivesDecodingAndEncoding fills in each member that the spec has: examples show only some.
func TestEveryMemberSurvivesDecodingAndEncoding(t *testing.T) {
	for name, ref := range spec(t).Components.Schemas {
		assertSurvives(t, name, complete(ref.Value))
	}
}

// assertSurvives compares what the Go type writes with what it read. Zero values are left out of the comparison:
// they and null mean absent in most fields.
func assertSurvives(t *testing.T, name string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err, name)
	decoded := reflect.New(schemaTypes[name])
	if err := json.Unmarshal(text, decoded.Interface()); !assert.NoError(t, err, "%s: %s", name, text) {
		return
	}
	again, err := json.Marshal(decoded.Interface())
	require.NoError(t, err, name)
	assert.Equal(t, present(t, text), present(t, again), name)
}

// present reads JSON without the members that are zero. Numbers keep their text.
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

// complete makes a value that has every member of its schema, none of them zero.
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
