// Package sqlitefile names and locks files with SQLite.
package sqlitefile

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

// ErrLocked reports that a file is locked, in this process or another.
var ErrLocked = errors.New("locked")

// URI returns the name by which SQLite opens a file, whatever characters its absolute path has.
func URI(file string) string {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") { // C:/sandbox.db
		path = "/" + path
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

// Resolve returns the one absolute path of a file, which need not exist, so that all paths to it
// have the same lock.
func Resolve(path string) (string, error) {
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

// Create creates a file that does not exist, readable by its owner only. SQLite gives the files
// beside it the same permissions. Create does not open a file that exists: on some systems closing
// it would release the locks that this process has on it.
func Create(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Lock locks a file, which is created if it does not exist, or returns [ErrLocked]. The lock is a
// transaction on an empty database: SQLite knows how to lock on every system, and the system
// releases the lock of a process that was killed. The file stays after unlock, because removing one
// that another process is about to lock would leave two locks.
func Lock(ctx context.Context, file string) (unlock func() error, err error) {
	// Nothing is written, so there is no journal. Two that start at once may see each other take
	// the lock, which takes an instant.
	db, err := sql.Open("sqlite", URI(file)+"?_journal_mode=OFF&_busy_timeout=200")
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
		return ErrLocked
	}
	return fmt.Errorf("lock: %w", err)
}
