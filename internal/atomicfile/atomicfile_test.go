package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/atomicfile"
)

func TestReplace_LeavesTheOldFileOrTheNewOne(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	read := func() string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	require.NoError(t, atomicfile.ReplaceWith(path, []byte("old")))
	assert.Equal(t, "old", read())

	failed := errors.New("failed")
	err := atomicfile.Replace(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		assert.Equal(t, "old", read(), "no reader sees a part")
		return failed
	})
	require.ErrorIs(t, err, failed)
	assert.Equal(t, "old", read())

	require.NoError(t, atomicfile.ReplaceWith(path, []byte("new")))
	assert.Equal(t, "new", read())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")
	require.Error(t, atomicfile.ReplaceWith(filepath.Join(dir, "none", "file"), nil))
}
