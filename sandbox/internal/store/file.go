package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sellside-sdk/sellside-go/internal/sqlitefile"
)

// ErrInUse reports that another store has the file open, in this process or another.
var ErrInUse = errors.New("in use by another sandbox")

// memory is the path of a database in memory, as SQLite names it. The empty path is another.
const memory = ":memory:"

// resolve returns the one absolute path of a file, which need not exist, so that all paths to it
// have the same lock.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// createFile creates a file that does not exist. Only its owner can read it, since the database has
// credentials; SQLite gives the files beside it the same permissions.
func createFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // who starts a sandbox chooses its file
	if err != nil {
		return err
	}
	return f.Close()
}

// lockFile makes sure that no other store has a file open, or returns ErrInUse. The file of the lock
// is beside it.
//
// A process must have the lock before it opens the file: on some systems closing a file releases
// all locks that the process has on it.
func lockFile(ctx context.Context, file string) (unlock func() error, err error) {
	unlock, err = sqlitefile.Lock(ctx, file+"-lock")
	if errors.Is(err, sqlitefile.ErrLocked) {
		return nil, fmt.Errorf("%w: stop that one, or use another file", ErrInUse)
	}
	return unlock, err
}
