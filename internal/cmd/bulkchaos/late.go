package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/sqlitefile"
)

// onTheWay is how long a batch may take from the process to the sandbox on a busy machine.
const onTheWay = time.Second

// late counts the batches that arrived after the time until which the ledger let them be sent. It is
// the only thing that is read from the ledger.
func (w *world) late(ctx context.Context, ledger string) (late int, err error) {
	db, err := sql.Open("sqlite", sqlitefile.URI(ledger)+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, `SELECT kind, batch, not_after FROM submissions WHERE batch <> ''`)
	if err != nil {
		return 0, fmt.Errorf("read the ledger: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind, batch string
		var millis int64
		if err := rows.Scan(&kind, &batch, &millis); err != nil {
			return late, err
		}
		at, err := w.submittedAt(ctx, kind, batch)
		if err != nil {
			return late, err
		}
		if at.After(time.UnixMilli(millis).Add(onTheWay)) {
			late++
		}
	}
	return late, rows.Err()
}

// submittedAt returns when a batch arrived.
func (w *world) submittedAt(ctx context.Context, kind, id string) (at time.Time, err error) {
	var batch gen.Batch
	switch kind {
	case "create":
		batch, err = w.truth.Batches.ResumeCreate(id).Poll(ctx)
	case "update":
		batch, err = w.truth.Batches.ResumeUpdate(id).Poll(ctx)
	default:
		batch, err = w.truth.Batches.ResumeDelete(id).Poll(ctx)
	}
	if err != nil {
		return at, fmt.Errorf("read a batch: %w", err)
	}
	return batch.CreatedAt.Time, nil
}
