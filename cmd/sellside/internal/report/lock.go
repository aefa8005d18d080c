package report

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

// Lock makes sure that no other run sells the inventory, in this process or another. The lock is a
// transaction on an empty database beside the inventory, wherever a link to it is: SQLite knows how
// to lock on every system, and the system releases the lock of a run that was killed. The file of
// the lock stays, because removing one that another run is about to lock would leave two locks.
func Lock(ctx context.Context, inventory string) (unlock func() error, err error) {
	path, err := filepath.Abs(inventory)
	if err != nil {
		return nil, err
	}
	if exists(path) {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	path = strings.TrimSuffix(path, filepath.Ext(path)) + ".lock"
	// Two that begin at once may see each other take the lock, which takes an instant.
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path), OmitHost: true}
	if !strings.HasPrefix(name.Path, "/") { // C:/stock.lock
		name.Path = "/" + name.Path
	}
	db, err := sql.Open("sqlite", name.String()+"?_journal_mode=OFF&_busy_timeout=200")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(lockError(path, err), db.Close())
	}
	if _, err = conn.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil {
		return nil, errors.Join(lockError(path, err), conn.Close(), db.Close())
	}
	return func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

func lockError(path string, err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return fmt.Errorf("lock the inventory (%s): another run sells it: wait until that ends", path)
	}
	return fmt.Errorf("lock the inventory (%s): %w", path, err)
}
