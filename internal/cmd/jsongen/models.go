package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// models are the declarations of the generated models, by their Go names.
type models struct {
	structs map[string]*object
	enums   map[string][]string // The constants of an open string type, in their order.
	aliases map[string]string   // The type behind an alias.
}

// object is a struct of the models.
type object struct {
	Name   string
	Fields []field
	Open   bool // It keeps all members in a field Members.
}

// field is a field of a struct that is a member of its JSON object.
type field struct {
	Name     string // Of the Go field.
	Member   string // Of the JSON object.
	Type     string // The Go type without a pointer or a slice.
	Pointer  bool
	Slice    bool
	Optional bool // The zero value is not written.
}

// readModels reads the models that oapi-codegen has written: the spec with the overlay's hints.
func readModels(path string) (*models, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	m := &models{structs: map[string]*object{}, enums: map[string][]string{}, aliases: map[string]string{}}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				err = m.addType(spec)
			case *ast.ValueSpec:
				m.addConstants(spec)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func (m *models) addType(spec *ast.TypeSpec) error {
	name := spec.Name.Name
	switch typ := spec.Type.(type) {
	case *ast.Ident:
		if spec.Assign.IsValid() {
			m.aliases[name] = typ.Name
		}
	case *ast.StructType:
		o := &object{Name: name}
		for _, f := range typ.Fields.List {
			if err := o.addField(f); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		m.structs[name] = o
	}
	return nil
}

// addField adds a field with a JSON name. Structs such as the client have fields without one.
func (o *object) addField(f *ast.Field) error {
	if f.Tag == nil || len(f.Names) != 1 {
		return nil
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return err
	}
	member, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if member == "" {
		return nil
	}
	added := field{Name: f.Names[0].Name, Member: member, Optional: strings.Contains(options, "omit")}
	typ := f.Type
	if star, ok := typ.(*ast.StarExpr); ok {
		added.Pointer, typ = true, star.X
	}
	if array, ok := typ.(*ast.ArrayType); ok {
		added.Slice, typ = true, array.Elt
	}
	ident, ok := typ.(*ast.Ident)
	if !ok {
		return fmt.Errorf("field %s has a type without a name: give the schema a name in api/openapi.yaml",
			added.Name)
	}
	added.Type = ident.Name
	if member == "-" {
		o.Open = o.Open || added.Type == "OpenMembers"
		return nil
	}
	o.Fields = append(o.Fields, added)
	return nil
}

// addConstants adds the constants of an open string type.
func (m *models) addConstants(spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, name := range spec.Names {
		m.enums[typ.Name] = append(m.enums[typ.Name], name.Name)
	}
}

// resolve returns the type behind an alias.
func (m *models) resolve(typ string) string {
	for m.aliases[typ] != "" {
		typ = m.aliases[typ]
	}
	return typ
}

// find returns the struct of a schema, whose Go name has initialisms in upper case.
func (m *models) find(schema string) (*object, error) {
	for name, o := range m.structs {
		if strings.EqualFold(name, schema) {
			return o, nil
		}
	}
	return nil, fmt.Errorf("schema %s is not an object of the models", schema)
}

// reachable returns the structs and the open string types that are reached from the roots.
func (m *models) reachable(roots []string) (objects map[string]bool, enums map[string]bool) {
	objects, enums = map[string]bool{}, map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		name = m.resolve(name)
		if m.enums[name] != nil {
			enums[name] = true
		}
		o := m.structs[name]
		if o == nil || objects[name] {
			return
		}
		objects[name] = true
		for _, f := range o.Fields {
			visit(f.Type)
		}
	}
	for _, root := range roots {
		visit(root)
	}
	return objects, enums
}
