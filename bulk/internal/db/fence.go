package db

import (
	"context"
	"fmt"
)

// NextFence takes an account for a worker and returns its fencing number, which is larger than that
// of every worker before. From the commit on, theirs are no longer valid.
func NextFence(ctx context.Context, tx Tx, account string) (fence int64, err error) {
	_, err = Get(ctx, tx, []any{&fence}, `
		INSERT INTO fences (account, fence) VALUES ($1, 1)
		ON CONFLICT (account) DO UPDATE SET fence = fences.fence + 1
		RETURNING fence`, account)
	return fence, err
}

// LockFence returns [ErrFenced] if a fencing number is no longer valid. It locks the account, so
// that the number is still valid when the transaction commits: use it in the transaction that
// records what will be sent.
func LockFence(ctx context.Context, tx Tx, account string, fence int64) error {
	n, err := tx.Exec(ctx, `UPDATE fences SET fence = fence WHERE account = $1 AND fence = $2`, account, fence)
	if err == nil && n == 0 {
		err = ErrFenced
	}
	if err != nil {
		return fmt.Errorf("compare fence (account %q): %w", account, err)
	}
	return nil
}

// CheckFence returns [ErrFenced] if a fencing number is no longer valid. It only reads, so that it
// can be called right before something is sent.
func (d *DB) CheckFence(ctx context.Context, account string, fence int64) error {
	var newest int64
	err := d.View(ctx, func(r Reader) error {
		_, err := Get(ctx, r, []any{&newest}, `SELECT fence FROM fences WHERE account = $1`, account)
		return err
	})
	if err == nil && newest != fence {
		err = ErrFenced
	}
	if err != nil {
		return fmt.Errorf("check fence (account %q): %w", account, err)
	}
	return nil
}
