package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
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

// uri returns the name by which SQLite opens a file, whatever characters its path has.
func uri(file string) string {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") { // C:/sandbox.db
		path = "/" + path
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath()
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

// lockFile makes sure that no other store has a file open, or returns ErrInUse. The lock is a
// transaction on an empty database beside the file: SQLite knows how to lock on every system, and
// the system releases the lock of a process that was killed. The file of the lock stays, because
// removing one that another process is about to lock would leave two locks.
//
// A process must have the lock before it opens the file: on some systems closing a file releases
// all locks that the process has on it.
func lockFile(ctx context.Context, file string) (unlock func() error, err error) {
	// Nothing is written, so there is no journal. Two that start at once may see each other take
	// the lock, which takes an instant.
	db, err := sql.Open("sqlite", uri(file+"-lock")+"?_journal_mode=OFF&_busy_timeout=200")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(lockError(err), db.Close())
	}
	if _, err = conn.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil {
		return nil, errors.Join(lockError(err), conn.Close(), db.Close())
	}
	return func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

func lockError(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return fmt.Errorf("%w: stop that one, or use another file", ErrInUse)
	}
	return fmt.Errorf("lock: %w", err)
}
