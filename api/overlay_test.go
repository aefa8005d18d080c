package api_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// overlay is the part of overlay.yaml that names the values of open enums.
type overlay struct {
	Actions []struct {
		Target string
		Copy   string
		Update struct {
			Names []string `yaml:"x-enum-varnames"`
		}
	}
}

// The generator pairs names and values by position, so a value that is added to the spec only, or
// in another place, would give every constant after it the wrong value.
func TestOverlay_NamesFitValues(t *testing.T) {
	doc := load(t)
	named := map[string]bool{}
	for _, action := range readOverlay(t).Actions {
		if len(action.Update.Names) == 0 {
			continue
		}
		schema := strings.TrimPrefix(action.Target, "$.components.schemas.")
		require.Contains(t, doc.Components.Schemas, schema)
		named[schema] = true
		values := enumValues(t, doc.Components.Schemas[schema].Value)
		if !assert.Len(t, action.Update.Names, len(values), schema) {
			continue
		}
		for i, name := range action.Update.Names {
			assert.Equal(t, letters(values[i]), letters(name), "%s: value %d", schema, i)
		}
	}
	for schema, ref := range doc.Components.Schemas {
		if _, open := ref.Value.Extensions["x-open-enum"]; open {
			assert.True(t, named[schema], "%s: its values have no names in Go", schema)
		}
	}
}

func TestOverlay_OpensEveryOpenEnum(t *testing.T) {
	copied := map[string]string{}
	for _, action := range readOverlay(t).Actions {
		if action.Copy != "" {
			copied[action.Target] = action.Copy
		}
	}
	for schema, ref := range load(t).Components.Schemas {
		if _, open := ref.Value.Extensions["x-open-enum"]; open {
			target := "$.components.schemas." + schema
			assert.Equal(t, target+"['x-open-enum']", copied[target], schema)
		}
	}
}

func readOverlay(t *testing.T) overlay {
	t.Helper()
	text, err := os.ReadFile("overlay.yaml")
	require.NoError(t, err)
	var o overlay
	require.NoError(t, yaml.Unmarshal(text, &o))
	require.NotEmpty(t, o.Actions)
	return o
}

// enumValues returns the values of an open enum, or else of a closed one.
func enumValues(t *testing.T, schema *openapi3.Schema) []string {
	t.Helper()
	values := schema.Enum
	if open, ok := schema.Extensions["x-open-enum"].(map[string]any); ok {
		values, ok = open["enum"].([]any)
		require.True(t, ok)
	}
	var texts []string
	for _, value := range values {
		texts = append(texts, fmt.Sprint(value))
	}
	return texts
}

// letters removes what differs in the Go spelling: case and separators.
func letters(text string) string {
	return strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(text, ""))
}
