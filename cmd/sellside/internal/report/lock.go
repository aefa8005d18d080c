package report

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sellside-sdk/sellside-go/internal/sqlitefile"
)

// Lock makes sure that no other run sells the inventory, in this process or another. The file of the
// lock is beside the inventory, wherever a link to it is, and stays after unlock.
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
	unlock, err = sqlitefile.Lock(ctx, path)
	if errors.Is(err, sqlitefile.ErrLocked) {
		return nil, fmt.Errorf("lock the inventory (%s): another run sells it: wait until that ends", path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the inventory (%s): %w", path, err)
	}
	return unlock, nil
}
