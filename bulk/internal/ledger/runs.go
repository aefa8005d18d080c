package ledger

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
)

// RunState is the state of a run.
type RunState string

// The states of runs.
const (
	RunRunning  RunState = "running"
	RunDone     RunState = "done"
	RunStopped  RunState = "stopped"  // Its process ended before its work did.
	RunCanceled RunState = "canceled" // By the seller. What was in flight was still settled.
	RunReplaced RunState = "replaced" // A newer plan took over what it had not recorded.
)

// Run is the execution of a plan.
type Run struct {
	ID         int64
	Command    string
	Source     string // Of the rows, such as the name of a file.
	Generation int64
	State      RunState
	StartedAt  time.Time
	EndedAt    time.Time
	Note       string

	Made    int // Listings that were created, updated or deleted.
	Failed  int
	Open    int // Items in flight.
	Unknown int // Items of unknown outcome.
}

// StartRun starts a run of a plan. From then on it may submit what the plan owes. It returns
// [ErrReplaced] if there is a newer plan.
func (tx Tx) StartRun(ctx context.Context, command, source string, generation int64, now time.Time) (int64, error) {
	a, err := tx.State(ctx)
	if err != nil {
		return 0, err
	}
	if a.Generation != generation {
		return 0, ErrReplaced
	}
	_, err = tx.Exec(ctx, `UPDATE runs SET state = $2, ended_at = $3 WHERE account = $1 AND state = 'running'`,
		tx.account, string(RunReplaced), millis(now))
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `UPDATE accounts SET last_run = last_run + 1, run = last_run + 1 WHERE account = $1`, tx.account)
	if err != nil {
		return 0, err
	}
	a, err = tx.State(ctx)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO runs (account, id, command, source, generation, state, started_at, ended_at, note)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '')`,
		tx.account, a.Run, command, source, generation, string(RunRunning), millis(now))
	return a.Run, err
}

// EndRun ends a run, which submits nothing from then on.
func (tx Tx) EndRun(ctx context.Context, id int64, state RunState, note string, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE runs SET state = $3, ended_at = $4, note = $5
		WHERE account = $1 AND id = $2 AND state IN ('running', 'stopped')`, tx.account, id, string(state), millis(now), note)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE accounts SET run = 0 WHERE account = $1 AND run = $2`, tx.account, id)
	return err
}

const runQuery = `SELECT r.id, r.command, r.source, r.generation, r.state, r.started_at, r.ended_at, r.note,
	COALESCE((SELECT SUM(made) FROM items i WHERE i.account = r.account AND i.run = r.id), 0),
	COALESCE((SELECT SUM(failed) FROM items i WHERE i.account = r.account AND i.run = r.id), 0),
	(SELECT COUNT(*) FROM items i WHERE i.account = r.account AND i.run = r.id AND i.state = 'open'),
	(SELECT COUNT(*) FROM items i WHERE i.account = r.account AND i.run = r.id AND i.state = 'stuck')
	FROM runs r WHERE r.account = $1`

func scanRun(rows db.Rows) (r Run, err error) {
	var started, ended int64
	err = rows.Scan(&r.ID, &r.Command, &r.Source, &r.Generation, &r.State, &started, &ended, &r.Note,
		&r.Made, &r.Failed, &r.Open, &r.Unknown)
	r.StartedAt, r.EndedAt = fromMillis(started), fromMillis(ended)
	return r, err
}

// Runs returns the runs, the newest first.
func (tx Tx) Runs(ctx context.Context, limit int) ([]Run, error) {
	return list(ctx, tx, scanRun, runQuery+` ORDER BY r.id DESC LIMIT $2`, tx.account, limit)
}

// RunOf returns a run, nil if there is none.
func (tx Tx) RunOf(ctx context.Context, id int64) (*Run, error) {
	return one(ctx, tx, scanRun, runQuery+` AND r.id = $2`, tx.account, id)
}
