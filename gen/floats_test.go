package gen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoFloatStandsInThePackage: a binary fraction cannot hold 0.10, and the generator's own choice for a
// number is float32.
func TestNoFloatStandsInThePackage(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	read := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		read++
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(tree, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok {
				assert.NotContains(t, []string{"float32", "float64"}, name.Name, "%s", set.Position(name.Pos()))
			}
			return true
		})
	}
	assert.Greater(t, read, 5)
}

// TestNoFloatIsReachableFromAModel also sees through the types of other packages.
func TestNoFloatIsReachableFromAModel(t *testing.T) {
	for name, typ := range schemaTypes {
		eachField(typ, func(owner reflect.Type, field reflect.StructField) {
			kind := leaf(field.Type).Kind()
			assert.NotContains(t, []reflect.Kind{reflect.Float32, reflect.Float64}, kind, "%s: %s.%s", name, owner, field.Name)
		})
	}
}

// eachField visits the fields of a struct and of the structs behind them. Types with an encoding of their own
// are fields, not structs.
func eachField(typ reflect.Type, visit func(owner reflect.Type, field reflect.StructField)) {
	typ = leaf(typ)
	if typ == nil || typ.Kind() != reflect.Struct || reflect.PointerTo(typ).Implements(reflect.TypeFor[unmarshaler]()) {
		return
	}
	for field := range typ.Fields() {
		visit(typ, field)
		eachField(field.Type, visit)
	}
}

type unmarshaler interface{ UnmarshalJSON([]byte) error }

// leaf returns what pointers, lists and maps hold in the end.
func leaf(typ reflect.Type) reflect.Type {
	for typ != nil && (typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map) {
		typ = typ.Elem()
	}
	return typ
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
