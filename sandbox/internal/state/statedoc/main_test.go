package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

func TestPage_IsCurrent(t *testing.T) {
	have, err := os.ReadFile("../../../../docs/states.md")
	require.NoError(t, err)
	assert.Equal(t, string(page(state.Machines())), string(have), "run go generate ./sandbox/internal/state")
}

func TestPage_HasEveryStateAndRow(t *testing.T) {
	text := string(page(state.Machines()))
	for _, m := range state.Machines() {
		assert.Contains(t, text, "## "+m.Name()+"\n")
		assert.Contains(t, text, "[*] --> "+m.States()[0].Name+"\n", "the initial state")
		for _, s := range m.States() {
			assert.Contains(t, text, "| "+s.Means+" |\n", "%s %s", m.Name(), s.Name)
		}
		for _, row := range m.Transitions() {
			assert.Contains(t, text, "    "+row.From+" --> "+row.To+": "+row.Event+"\n", "the diagram")
			assert.Contains(t, text, "| "+row.From+" | "+row.Event+" | "+row.To+" | ", "the table")
		}
	}
	assert.NotContains(t, text, "<nil>")
	assert.Zero(t, strings.Count(text, "```")%2, "every diagram is closed")
}
