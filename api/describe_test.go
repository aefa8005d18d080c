package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// describe describes what a schema accepts, so that tables of facts can be compared with the spec:
// "string uuid", "integer int32 1..100 default 10", "string of STANDARD DIRECT", "array of
// Listing". For an object component it returns the name. It omits the decimal format, which is a
// hint for exact types and not a fact.
func describe(ref *openapi3.SchemaRef) string {
	schema, value := ref, ref.Value
	if len(value.AllOf) == 1 {
		schema = value.AllOf[0]
	}
	s := schema.Value
	if name, ok := strings.CutPrefix(schema.Ref, "#/components/schemas/"); ok && !scalar(s) {
		return name
	}
	words := []string{s.Type.Slice()[0]}
	if s.Type.Is(openapi3.TypeArray) {
		words = append(words, "of", describe(s.Items))
	}
	if s.Format != "" && s.Format != "decimal" {
		words = append(words, s.Format)
	}
	if text := bounds(s); text != "" {
		words = append(words, text)
	}
	if len(s.Enum) > 0 {
		words = append(words, "of", strings.Trim(fmt.Sprint(s.Enum), "[]"))
	}
	if value.Default != nil {
		words = append(words, fmt.Sprintf("default %v", value.Default))
	}
	return strings.Join(words, " ")
}

// describeColumns also describes the Required and nullable columns of a table.
func describeColumns(p property) string {
	text := describe(p.ref)
	if p.ref.Value.Nullable {
		text = "nullable " + text
	}
	if p.required {
		text = "required " + text
	}
	return text
}

func scalar(s *openapi3.Schema) bool {
	return s.Type.Is(openapi3.TypeString) || s.Type.Is(openapi3.TypeNumber) ||
		s.Type.Is(openapi3.TypeInteger) || s.Type.Is(openapi3.TypeBoolean)
}

func bounds(s *openapi3.Schema) string {
	switch {
	case s.MaxLength != nil:
		return fmt.Sprintf("%d..%d characters", s.MinLength, *s.MaxLength)
	case s.Min != nil && s.Max != nil:
		return fmt.Sprintf("%v..%v", *s.Min, *s.Max)
	case s.Min != nil:
		return fmt.Sprintf("%v..", *s.Min)
	}
	return ""
}

// property is a member of an object with its effective level.
type property struct {
	ref      *openapi3.SchemaRef
	level    string
	required bool
}

// properties returns the members of an object schema and of all its parts. A part that is a
// component has its own level.
func properties(schema *openapi3.Schema, level string) map[string]property {
	found := map[string]property{}
	level = provenance(schema.Extensions, level)
	for name, ref := range schema.Properties {
		own := level
		if ref.Ref == "" {
			own = provenance(ref.Value.Extensions, level)
		}
		found[name] = property{ref, own, slices.Contains(schema.Required, name)}
	}
	for _, ref := range schema.AllOf {
		inherited := level
		if ref.Ref != "" {
			inherited = ""
		}
		maps.Copy(found, properties(ref.Value, inherited))
	}
	return found
}
