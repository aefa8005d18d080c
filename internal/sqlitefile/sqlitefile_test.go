package sqlitefile_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/sqlitefile"
)

func TestLock_IsHeldOnce(t *testing.T) {
	for _, name := range []string{"plain.lock", "a b.lock", "50%.lock", "who?.lock", "#1.lock", "čas.lock"} {
		file := filepath.Join(t.TempDir(), name)
		unlock, err := sqlitefile.Lock(t.Context(), file)
		require.NoError(t, err, name)
		require.FileExists(t, file)
		_, err = sqlitefile.Lock(t.Context(), file)
		require.ErrorIs(t, err, sqlitefile.ErrLocked, name)
		require.NoError(t, unlock())

		unlock, err = sqlitefile.Lock(t.Context(), file)
		require.NoError(t, err, "%s: unlocked", name)
		require.NoError(t, unlock())
	}
}

func TestLock_ReportsMissingDirectory(t *testing.T) {
	_, err := sqlitefile.Lock(t.Context(), filepath.Join(t.TempDir(), "missing", "x.lock"))
	require.Error(t, err)
	require.NotErrorIs(t, err, sqlitefile.ErrLocked)
}
