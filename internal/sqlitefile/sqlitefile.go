// Package sqlitefile names and locks files with SQLite.
package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
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
