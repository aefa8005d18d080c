package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/sellside-sdk/sellside-go/internal/sqlitefile"
)

// ErrInUse reports that another store has the file open, in this process or another.
var ErrInUse = errors.New("in use by another sandbox")

// memory is the path of a database in memory, as SQLite names it. The empty path is another.
const memory = ":memory:"

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
