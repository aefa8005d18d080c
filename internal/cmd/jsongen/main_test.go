package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	specFile   = "../../../api/openapi.yaml"
	modelsFile = "../../../gen/openapi.gen.go"
)

func TestRun_WritesTheCommittedFiles(t *testing.T) {
	code, tests := filepath.Join(t.TempDir(), "code.go"), filepath.Join(t.TempDir(), "tests.go")
	require.NoError(t, run(specFile, modelsFile, code, tests))
	for got, committed := range map[string]string{code: "json.gen.go", tests: "json_gen_test.go"} {
		want, err := os.ReadFile(filepath.Join("../../../gen", committed))
		require.NoError(t, err)
		text, err := os.ReadFile(got)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(text), "%s: run make generate", committed)
	}
}

func TestRun_RefusesWhatItCannotWrite(t *testing.T) {
	spec, err := os.ReadFile(specFile)
	require.NoError(t, err)
	models, err := os.ReadFile(modelsFile)
	require.NoError(t, err)
	for _, tc := range []struct {
		inSpec   bool
		old, new string
		why      string
	}{
		{true, `schema: { $ref: "#/components/schemas/ListingPage" }`, `schema: { type: object }`, "a response without a name"},
		{true, `schema: { $ref: "#/components/schemas/ListingPage" }`, `schema: { $ref: "#/components/schemas/ListingStatus" }`, "a response that is not an object"},
		{false, "	ListingID string", "	ListingID struct{}", "a field without a named type"},
		{false, "	ListingID string", "	ListingID *string", "a pointer to a scalar"},
		{false, "	ListingID string", "	ListingID []Amount", "an array of scalars"},
	} {
		s, m := string(spec), string(models)
		if tc.inSpec {
			s = strings.Replace(s, tc.old, tc.new, 1)
		} else {
			m = strings.Replace(m, tc.old, tc.new, 1)
		}
		require.NotEqual(t, string(spec)+string(models), s+m, tc.why)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(s), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "models.go"), []byte(m), 0o600))
		err := run(filepath.Join(dir, "spec.yaml"), filepath.Join(dir, "models.go"), filepath.Join(dir, "code.go"), filepath.Join(dir, "tests.go"))
		require.Error(t, err, tc.why)
		assert.NoFileExists(t, filepath.Join(dir, "code.go"), tc.why)
	}
}
