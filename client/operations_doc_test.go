package client_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestDocComments_NameEveryRoute(t *testing.T) {
	comments := methodComments(t)
	for _, op := range gen.Operations() {
		route := regexp.MustCompile(regexp.QuoteMeta(op.Method+" "+op.Route) + `[,.;: ]`)
		assert.Regexp(t, route, comments, "client: the comment of the method of %s must name %s %s", op.ID, op.Method, op.Route)
	}
	assert.NotContains(t, comments, "(documented", "provenance is recorded in the spec only")
	assert.NotContains(t, comments, "(public", "provenance is recorded in the spec only")
}

// methodComments returns the comments of the exported methods of package client, one line each.
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
