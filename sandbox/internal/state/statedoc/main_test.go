package main

import (
	"os"
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
