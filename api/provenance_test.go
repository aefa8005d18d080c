package api_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
)

// levels are the three sources that the description of the spec explains.
var levels = []string{"documented", "public", "assumed"}

func TestProvenance_IsOnEveryPart(t *testing.T) {
	walk(load(t), func(p part) {
		assert.Contains(t, levels, p.level, "%s: x-provenance is missing or unknown", p.path)
	})
}

func TestProvenance_IsNotInheritedByRoots(t *testing.T) {
	walk(load(t), func(p part) {
		if p.root {
			assert.NotEmpty(t, provenance(p.extensions, ""), "%s: there is nothing to inherit from", p.path)
		}
	})
}

func TestProvenance_OfAssumptionsHasReason(t *testing.T) {
	reason := regexp.MustCompile(`(?i)neither|because|assumed|our own`)
	found := 0
	walk(load(t), func(p part) {
		if provenance(p.extensions, "") == "assumed" {
			found++
			assert.Regexp(t, reason, p.description,
				"api/openapi.yaml: %s is assumed; its description gives the reason (neither, because, assumed)", p.path)
		}
	})
	assert.Positive(t, found)
}

// part is a piece of the spec with a level. At most one of schema, parameter and media is set.
type part struct {
	path        string
	root        bool // A component or an operation, which is enclosed by no other part.
	level       string
	description string
	extensions  map[string]any

	schema    *openapi3.SchemaRef
	parameter *openapi3.Parameter
	media     *openapi3.MediaType
}

// provenance returns the level in the extensions, or else the inherited one.
func provenance(extensions map[string]any, inherited string) string {
	if own, ok := extensions["x-provenance"].(string); ok {
		return own
	}
	return inherited
}

// walk visits every part of the spec. It follows no $ref, so that a part inherits only from the
// parts that enclose it in the text.
func walk(doc *openapi3.T, visit func(part)) {
	w := walker{visit}
	for path, item := range doc.Paths.Map() {
		for _, ref := range item.Parameters {
			w.parameter(path, "", ref)
		}
		for method, op := range item.Operations() {
			w.operation(method+" "+path, op)
		}
	}
	for name, ref := range doc.Components.Schemas {
		w.schema(name, "", ref, true)
	}
	for name, ref := range doc.Components.Parameters {
		w.parameter("parameter "+name, "", ref)
	}
	for name, ref := range doc.Components.Responses {
		w.response("response "+name, "", ref)
	}
	for name, ref := range doc.Components.RequestBodies {
		w.content("request body "+name, provenance(ref.Value.Extensions, ""), ref.Value.Content)
	}
	for name, ref := range doc.Components.SecuritySchemes {
		w.enter(part{
			path: "security scheme " + name, root: true,
			description: ref.Value.Description, extensions: ref.Value.Extensions,
		})
	}
}

type walker struct{ visit func(part) }

// enter visits a part whose level is the inherited one, and returns its effective level.
func (w walker) enter(p part) (level string) {
	p.level = provenance(p.extensions, p.level)
	w.visit(p)
	return p.level
}

func (w walker) operation(path string, op *openapi3.Operation) {
	level := w.enter(part{path: path, root: true, description: op.Description, extensions: op.Extensions})
	for _, ref := range op.Parameters {
		w.parameter(path, level, ref)
	}
	if op.RequestBody != nil && op.RequestBody.Ref == "" {
		w.content(path+" request", level, op.RequestBody.Value.Content)
	}
	for status, ref := range op.Responses.Map() {
		w.response(path+" "+status, level, ref)
	}
}

func (w walker) parameter(path, inherited string, ref *openapi3.ParameterRef) {
	if ref.Ref != "" {
		return
	}
	p := ref.Value
	path += " " + p.Name
	level := w.enter(part{
		path: path, root: inherited == "", level: inherited,
		description: p.Description, extensions: p.Extensions, parameter: p,
	})
	w.schema(path+" schema", level, p.Schema, false)
}

func (w walker) response(path, inherited string, ref *openapi3.ResponseRef) {
	if ref.Ref != "" {
		return
	}
	description := ""
	if ref.Value.Description != nil {
		description = *ref.Value.Description
	}
	level := w.enter(part{
		path: path, root: inherited == "", level: inherited,
		description: description, extensions: ref.Value.Extensions,
	})
	w.content(path, level, ref.Value.Content)
}

func (w walker) content(path, level string, content openapi3.Content) {
	for kind, media := range content {
		w.enter(part{path: path + " " + kind, level: level, extensions: media.Extensions, media: media})
		w.schema(path+" "+kind+" schema", level, media.Schema, false)
	}
}

func (w walker) schema(path, inherited string, ref *openapi3.SchemaRef, root bool) {
	if ref == nil || ref.Ref != "" {
		return
	}
	s := ref.Value
	level := w.enter(part{
		path: path, root: root, level: inherited,
		description: s.Description, extensions: s.Extensions, schema: ref,
	})
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		w.schema(path+"."+name, level, s.Properties[name], false)
	}
	for _, nested := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		w.schema(path+" (part)", level, nested, false)
	}
	w.schema(path+" (not)", level, s.Not, false)
	w.schema(path+"[]", level, s.Items, false)
	w.schema(path+"{}", level, s.AdditionalProperties.Schema, false)
}
