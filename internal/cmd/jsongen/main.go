// Command jsongen writes the decoders of the schemas that the operations read, the encoders of those
// that they write, and a fuzz target for each decoder. It takes the operations from the spec, and
// the fields from the models that oapi-codegen has written from the spec and its overlay.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"

	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	spec := flag.String("spec", "", "the OpenAPI document")
	models := flag.String("models", "", "the file with the models")
	code := flag.String("code", "", "the file to write decoders and encoders to")
	tests := flag.String("tests", "", "the file to write fuzz targets to")
	flag.Parse()
	if err := run(*spec, *models, *code, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "jsongen:", err)
		os.Exit(1)
	}
}

func run(spec, models, code, tests string) error {
	doc, err := openapi3.NewLoader().LoadFromFile(spec)
	if err != nil {
		return err
	}
	m, err := readModels(models)
	if err != nil {
		return err
	}
	s, err := plan(doc, m)
	if err != nil {
		return err
	}
	codeText, err := s.render("code")
	if err != nil {
		return err
	}
	testsText, err := s.render("tests")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(code, codeText, 0o600), os.WriteFile(tests, testsText, 0o600))
}

// schemas are what the template writes, each list sorted by name.
type schemas struct {
	Read    []*object // The objects of responses, and the objects in them.
	Arrays  []string  // The objects whose array is a response.
	Enums   []enum    // The open string types of responses.
	Written []*object // The objects of request bodies, and the objects in them.
	Bodies  []string  // The request bodies.
	models  *models
}

type enum struct {
	Name      string
	Constants []string
}

// plan returns the schemas of the operations of a document.
func plan(doc *openapi3.T, m *models) (*schemas, error) {
	var bodies, responses, arrays []string
	for route, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody != nil {
				name, _, err := m.schema(op.RequestBody.Value.Content)
				if err != nil {
					return nil, fmt.Errorf("request body of %s %s: %w", method, route, err)
				}
				bodies = append(bodies, name)
			}
			for status, response := range op.Responses.Map() {
				if !strings.HasPrefix(status, "2") || response.Value.Content.Get("application/json") == nil {
					continue
				}
				name, array, err := m.schema(response.Value.Content)
				if err != nil {
					return nil, fmt.Errorf("response %s of %s %s: %w", status, method, route, err)
				}
				responses = append(responses, name)
				if array {
					arrays = append(arrays, name)
				}
			}
		}
	}
	read, enums := m.reachable(responses)
	written, _ := m.reachable(bodies)
	s := &schemas{models: m, Arrays: unique(arrays), Bodies: unique(bodies)}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		s.Read = append(s.Read, m.structs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(enums)) {
		s.Enums = append(s.Enums, enum{Name: name, Constants: m.enums[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		s.Written = append(s.Written, m.structs[name])
	}
	return s, nil
}

func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// schema returns the Go name of the object that a JSON content is, or is an array of.
func (m *models) schema(content openapi3.Content) (name string, array bool, err error) {
	media := content.Get("application/json")
	if media == nil || media.Schema == nil {
		return "", false, errors.New("not JSON with a schema")
	}
	ref := media.Schema
	if ref.Ref == "" && ref.Value.Type.Is("array") {
		ref, array = ref.Value.Items, true
	}
	if ref.Ref == "" {
		return "", false, errors.New("the schema has no name: move it to components/schemas")
	}
	o, err := m.find(ref.Ref[strings.LastIndex(ref.Ref, "/")+1:])
	if err != nil {
		return "", false, err
	}
	return o.Name, array, nil
}

//go:embed json.tmpl
var source string

// render executes a template, and formats its code.
func (s *schemas) render(name string) ([]byte, error) {
	functions := template.FuncMap{"decode": s.decode, "encode": s.encode, "isZero": s.isZero}
	t, err := template.New("").Funcs(functions).Parse(source)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.ExecuteTemplate(&text, name, s); err != nil {
		return nil, err
	}
	return format.Source(text.Bytes())
}

// decode returns the statement that decodes a member into a field of v.
func (s *schemas) decode(f field) (string, error) {
	typ := s.models.resolve(f.Type)
	_, isObject := s.models.structs[typ]
	isEnum := s.models.enums[typ] != nil
	args := fmt.Sprintf("(%q, &v.%s)", f.Member, f.Name)
	generic := fmt.Sprintf("(d, %q, &v.%s)", f.Member, f.Name)
	switch {
	case isObject && f.Slice:
		return "decodeObjects" + generic, nil
	case isObject && f.Pointer:
		return "decodePointer" + generic, nil
	case isObject:
		return "decodeObject" + generic, nil
	case typ == "string" && f.Slice:
		return "d.decodeStrings" + args, nil
	case typ == "bool" && f.Pointer:
		return "d.decodeOptionalBool" + args, nil
	case f.Slice || f.Pointer:
		return "", fmt.Errorf("field %s: add arrays and pointers of %s to jsongen", f.Name, typ)
	case isEnum:
		return fmt.Sprintf("v.%s = d.enum%s(%q)", f.Name, typ, f.Member), nil
	}
	return "d.decode" + title(typ) + args, nil // by hand in gen/decoder.go
}

// encode returns the statement that encodes a field of v.
func (s *schemas) encode(f field) (string, error) {
	typ := s.models.resolve(f.Type)
	_, isObject := s.models.structs[typ]
	isEnum := s.models.enums[typ] != nil
	switch {
	case isObject && f.Slice:
		return fmt.Sprintf("encodeObjects(e, v.%s)", f.Name), nil
	case isObject && !f.Pointer:
		return fmt.Sprintf("v.%s.encodeJSON(e)", f.Name), nil
	case typ == "string" && f.Slice:
		return fmt.Sprintf("e.encodeStrings(v.%s)", f.Name), nil
	case typ == "bool" && f.Pointer && f.Optional:
		return fmt.Sprintf("e.encodeBool(*v.%s)", f.Name), nil
	case f.Slice || f.Pointer:
		return "", fmt.Errorf("field %s: add arrays and pointers of %s to jsongen", f.Name, typ)
	case isEnum:
		return fmt.Sprintf("e.encodeString(string(v.%s))", f.Name), nil
	}
	return fmt.Sprintf("e.encode%s(v.%s)", title(typ), f.Name), nil // by hand in gen/encoder.go
}

// isZero returns the condition under which an optional field is not written.
func (s *schemas) isZero(f field) string {
	typ := s.models.resolve(f.Type)
	_, isObject := s.models.structs[typ]
	switch {
	case f.Pointer:
		return fmt.Sprintf("v.%s == nil", f.Name)
	case f.Slice:
		return fmt.Sprintf("len(v.%s) == 0", f.Name)
	case isObject:
		return fmt.Sprintf("v.%s == (%s{})", f.Name, typ)
	case typ == "Time":
		return fmt.Sprintf("v.%s.IsZero()", f.Name)
	case typ == "Int":
		return fmt.Sprintf("v.%s == 0", f.Name)
	}
	return fmt.Sprintf("v.%s == %q", f.Name, "")
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
