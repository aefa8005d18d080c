package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpen_HasOneStorePerFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sandbox.db")
	s := reopen(t, path)
	assert.EqualValues(t, 1, next(t, s, nil))
	link := filepath.Join(dir, "link.db")
	require.NoError(t, os.Symlink(path, link))
	t.Chdir(dir)
	for name, other := range map[string]string{
		"the same path": path, "a relative path": "sandbox.db", "a path with dots": filepath.Join(dir, "..", filepath.Base(dir), "sandbox.db"), "a link": link,
	} {
		_, err := Open(t.Context(), other)
		require.ErrorIs(t, err, ErrInUse, name)
		require.ErrorContains(t, err, other, name)
	}
	assert.EqualValues(t, 2, next(t, s, nil), "the first one still works")
	assert.NoFileExists(t, path+"-lock-journal")
	require.NoError(t, s.Close())
	assert.EqualValues(t, 3, next(t, reopen(t, link), nil), "and may be followed by another")
}

// lockedFile is an environment variable. It makes this program try to open a file.
const lockedFile = "STORE_TEST_LOCKED_FILE"

func TestOpen_RefusesAFileOfAnotherProcess(t *testing.T) {
	if path := os.Getenv(lockedFile); path != "" {
		_, err := Open(t.Context(), path)
		require.ErrorIs(t, err, ErrInUse)
		return
	}
	path := filepath.Join(t.TempDir(), "sandbox.db")
	reopen(t, path)
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), lockedFile+"="+path)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "--- PASS: "+t.Name())
}

func TestOpen_TakesAnyPath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{
		"plain.db", "with space.db", "question?mode=memory", "hash#1.db", "50%.db", "%41.db", "a&b=c;d.db",
		"靴 ü.db", "quote'\".db", "file:name.db", "./dot.db", "-flag.db", ":colon:.db",
	} {
		if runtime.GOOS == "windows" && path != "plain.db" {
			continue // most of them are not valid names there
		}
		for n := range int64(2) {
			s, err := Open(t.Context(), path)
			require.NoError(t, err, path)
			assert.Equal(t, n+1, next(t, s, nil), "%s: it is the file that was opened before", path)
			require.NoError(t, s.View(t.Context(), accounts), path)
			require.NoError(t, s.Close())
		}
		_, err := os.Stat(path)
		require.NoError(t, err)
	}
	for _, path := range []string{"", ":memory:"} {
		for range 2 {
			s := reopen(t, path)
			assert.EqualValues(t, 1, next(t, s, nil), "%q: another database", path)
			require.NoError(t, s.View(t.Context(), accounts), "%q: that readers see, too", path)
		}
	}
	assert.NoFileExists(t, ":memory:")
}

// accounts reads a table.
func accounts(tx *Tx) error {
	_, err := tx.Accounts()
	return err
}

func TestOpen_CreatesFilesForTheirOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // permissions are something else there
	}
	path := filepath.Join(t.TempDir(), "sandbox.db")
	next(t, reopen(t, path), nil)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), suffix)
	}
}

func TestCheckWrite_FailsWithTheDatabase(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "sandbox.db"))
	require.NoError(t, s.CheckWrite(t.Context()))
	require.NoError(t, s.CheckWrite(t.Context()))
	require.NoError(t, s.write.withConnection(t, `PRAGMA query_only = ON`))
	require.Error(t, s.CheckWrite(t.Context()))
	require.NoError(t, s.View(t.Context(), accounts), "it can still be read")
}

// withConnection runs a statement outside of transactions.
func (p *pool) withConnection(t *testing.T, statement string) error {
	t.Helper()
	c, err := p.acquire(t.Context())
	require.NoError(t, err)
	defer p.release(c)
	return c.control(statement)
}
