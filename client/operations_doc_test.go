package client_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestEveryOperationIsNamedInADocCommentWithItsProvenance(t *testing.T) {
	spec, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	comments := methodComments(t)
	for _, op := range gen.Operations() {
		provenance, _ := spec.Paths.Value(op.Route).GetOperation(op.Method).Extensions["x-provenance"].(string)
		require.NotEmpty(t, provenance, op.ID)
		want := op.Method + " " + op.Route + " (" + provenance

		assert.True(t, strings.Contains(comments, want+")") || strings.Contains(comments, want+","),
			"%s: no comment of an exported method says %q", op.ID, want+")")
	}
}

// methodComments is the comments of the exported methods of package client, each in one line.
func methodComments(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	files, set := []*ast.File{}, token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(set, files, "client")
	require.NoError(t, err)
	var comments strings.Builder
	for _, typ := range pkg.Types {
		for _, method := range typ.Methods {
			comments.WriteString(strings.Join(strings.Fields(method.Doc), " ") + "\n")
		}
	}
	return comments.String()
}
