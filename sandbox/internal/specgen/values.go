package specgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"github.com/getkin/kin-openapi/openapi3"
)

// merged returns a schema with everything that its allOf adds.
func merged(s *openapi3.Schema) *openapi3.Schema {
	if len(s.AllOf) == 0 {
		return s
	}
	m := *s
	m.Properties = openapi3.Schemas{}
	for _, part := range s.AllOf {
		p := merged(part.Value)
		if m.Type == nil {
			m.Type, m.Enum, m.Format = p.Type, p.Enum, p.Format
		}
		maps.Copy(m.Properties, p.Properties)
		m.Required = append(m.Required, p.Required...)
	}
	return &m
}

// value generates a value for a schema, or a wrong one. example is the example of the document for
// the value; it may be nil.
func (g *Generator) value(name string, s *openapi3.Schema, example any) any {
	s = merged(s)
	if g.goWrong() {
		return g.oddValue(name, s)
	}
	if example == nil {
		example = s.Example
	}
	switch {
	case s.Type.Is(openapi3.TypeObject):
		return g.object(s, example)
	case s.Type.Is(openapi3.TypeArray):
		return g.array(name, s, example)
	case s.Type.Is(openapi3.TypeBoolean):
		return g.Choices.IntN(2) == 0
	case s.Type.Is(openapi3.TypeNumber), s.Type.Is(openapi3.TypeInteger):
		return json.Number(g.number(s))
	}
	if text, ok := example.(string); ok && !g.known(name) && !g.oneIn(4) {
		return text
	}
	return g.text(name, s)
}

func (g *Generator) known(name string) bool {
	return g.Known.pick(Plain{}, name) != nil
}

func (g *Generator) object(s *openapi3.Schema, example any) any {
	examples, _ := example.(map[string]any)
	object := map[string]any{}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	for _, name := range sorted(s.Properties) {
		include := required[name] || g.oneIn(2)
		if g.goWrong() {
			include = !include
		}
		if include {
			object[name] = g.value(name, s.Properties[name].Value, examples[name])
		}
	}
	if g.goWrong() {
		name := g.oddText()
		if declared := sorted(s.Properties); len(declared) > 0 && g.oneIn(2) {
			name = otherCase(choose(g, declared))
		}
		object[name] = g.oddValue("", s)
	}
	return object
}

func (g *Generator) array(name string, s *openapi3.Schema, example any) any {
	n := 1 + g.Choices.IntN(3)
	if g.goWrong() {
		n = choose(g, []int{0, 101, 1000})
	}
	examples, _ := example.([]any)
	array := make([]any, 0, n)
	for i := range n {
		var e any
		if len(examples) > 0 {
			e = examples[i%len(examples)]
		}
		array = append(array, g.value(name, s.Items.Value, e))
	}
	return array
}

// number returns a number within the bounds, near the lower one.
func (g *Generator) number(s *openapi3.Schema) string {
	low, high := 1, math.MaxInt32
	if s.Min != nil {
		low = int(*s.Min)
	}
	if s.Max != nil {
		high = int(*s.Max)
	}
	return fmt.Sprint(min(low+g.Choices.IntN(8), high))
}

// text generates a valid text: a known id, a value of the enum, or one of the format.
func (g *Generator) text(name string, s *openapi3.Schema) string {
	if len(s.Enum) > 0 {
		return fmt.Sprint(choose(g, s.Enum))
	}
	if value, ok := g.Known.value(g.Choices, name); ok {
		return value
	}
	switch s.Format {
	case "date-time":
		return choose(g, []string{"2030-01-02T03:04:05.678Z", "2029-07-28T09:14:06+02:00", "2026-11-02T12:00:01Z"})
	case "date":
		return choose(g, []string{"2026-11-02", "2026-10-01", "2027-01-31"})
	case "decimal":
		return choose(g, []string{"162", "250.50", "99999", "1.0000"})
	}
	if open, ok := openValues(s); ok {
		return fmt.Sprint(choose(g, open))
	}
	return choose(g, describedValues(name))
}

// describedValues returns values of parameters whose form the document only describes.
func describedValues(name string) []string {
	switch name {
	case "fromDate":
		return []string{"2026-11-02", "2026-10-01", ""}
	case "toDate":
		return []string{"2026-11-02", "2027-01-31", ""}
	case "listingStatuses":
		return []string{"ACTIVE", "INACTIVE,DELETED", "MATCHED,COMPLETED,CANCELED"}
	case "inventoryTypes":
		return []string{"STANDARD", "STANDARD,DIRECT", "FLEX"}
	}
	return []string{"x", "jordan", "DE", "SHP-1"}
}

// openValues returns the values that the document lists of an open set.
func openValues(s *openapi3.Schema) ([]any, bool) {
	open, _ := s.Extensions["x-open-enum"].(map[string]any)
	values, ok := open["enum"].([]any)
	return values, ok && len(values) > 0
}

// parameterText generates a value for a query parameter.
func (g *Generator) parameterText(p *openapi3.Parameter) string {
	if example, ok := p.Example.(string); ok && !g.oneIn(4) {
		return example
	}
	return fmt.Sprint(g.value(p.Name, p.Schema.Value, nil))
}
