package client_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unindented takes the indentation off every line, in which a README and a function differ.
func unindented(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

func TestEveryGoSnippetOfTheReadmeIsAnExampleThatRuns(t *testing.T) {
	files, err := filepath.Glob("example*_test.go")
	require.NoError(t, err)
	ofSandbox, err := filepath.Glob("../sandbox/sandboxtest/example*_test.go")
	require.NoError(t, err)
	files = append(files, ofSandbox...)
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		examples.WriteString(unindented(string(text)) + "\n")
	}
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)

	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)

	require.NotEmpty(t, snippets)
	for _, snippet := range snippets {
		require.Contains(t, examples.String(), unindented(snippet[1]), "copy the example's lines into README.md")
	}
}
