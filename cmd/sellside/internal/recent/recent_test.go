package recent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
)

const service = "https://api.example.com/v2"

func TestIDs_KeepTheLatestOfEachKind(t *testing.T) {
	dir := t.TempDir()
	ids := recent.Open(dir, service)
	for n := range 60 {
		ids.Add(recent.Listing, fmt.Sprint(n))
	}
	ids.Add(recent.Listing, "20")
	ids.Add(recent.Order, "323314425-323214184")
	ids.Add(recent.Order, "")
	ids.Save()

	ids = recent.Open(dir, service+"/")
	listings := ids.List(recent.Listing)
	require.Len(t, listings, 50)
	assert.Equal(t, []string{"20", "59", "58"}, listings[:3])
	assert.Equal(t, []string{"323314425-323214184"}, ids.List(recent.Order))
	assert.Empty(t, ids.List(recent.Batch))
	assert.Empty(t, recent.Open(dir, "https://other.example.com/v2").List(recent.Order), "another service")
}

func TestIDs_AreNoErrorIfTheyCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", "null", "[]"} {
		ids := recent.Open(dir, service)
		ids.Add(recent.Listing, "1")
		ids.Save()
		files, err := filepath.Glob(filepath.Join(dir, "sellside", "recent", "*"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.NoError(t, os.WriteFile(files[0], []byte(text), 0o600))
		assert.Empty(t, recent.Open(dir, service).List(recent.Listing), text)
	}
	file := filepath.Join(t.TempDir(), "no-directory")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	ids := recent.Open(file, service)
	ids.Add(recent.Listing, "1")
	ids.Save()
	assert.Empty(t, recent.Open(file, service).List(recent.Listing))
	assert.Nil(t, recent.Open("", service))
	var none *recent.IDs
	none.Add(recent.Listing, "1")
	none.Save()
	assert.Empty(t, none.List(recent.Listing))
}
