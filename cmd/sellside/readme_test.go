package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The commands of the README are tested here, and its Go code in package client.
func TestReadme_CommandsExist(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	checks, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		for command := range strings.Lines(block[1]) {
			words := strings.Fields(command)
			require.GreaterOrEqual(t, len(words), 2, command)
			switch strings.Join(words[:2], " ") {
			case "make " + words[1]:
				assert.Contains(t, string(checks), "make "+words[1], "CI runs it")
			case "go get":
				folder, ours := strings.CutPrefix(words[2], "github.com/sellside-sdk/sellside-go/")
				require.True(t, ours, command)
				assert.DirExists(t, "../../"+folder)
			case "go run":
				require.Equal(t, "./cmd/sellside", words[2])
				cmd, args, err := newRoot(os.Getenv).Find(words[3:])
				require.NoError(t, err, command)
				assert.NoError(t, cmd.ParseFlags(args), command)
			default:
				assert.Fail(t, "this command is not checked", command)
			}
		}
	}
}

func TestReadme_InventorySells(t *testing.T) {
	env, _, _ := market(t)
	inventory, err := os.ReadFile("../../examples/inventory.csv")
	require.NoError(t, err)
	path := t.TempDir() + "/inventory.csv"
	require.NoError(t, os.WriteFile(path, inventory, 0o600))

	got := sellside(t.Context(), env, "sell", path, "--skip-invalid")

	assert.Equal(t, 1, got.code, "rows were skipped and listings failed")
	assert.Contains(t, got.out, "361 of 367 listings made")
}
