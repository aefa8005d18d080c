package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
)

// ErrReplaced reports that a newer plan, or the end of its run, withdrew what was to be submitted.
var ErrReplaced = errors.New("replaced by a newer plan")

// SubmissionState is the state of a submission.
type SubmissionState string

// The states of submissions.
const (
	SubmissionRecorded  SubmissionState = "recorded"  // It may have been sent, and its batch is not known.
	SubmissionSubmitted SubmissionState = "submitted" // Its batch is known, and not done.
	SubmissionStuck     SubmissionState = "stuck"     // Recovery cannot tell what became of it.
	SubmissionDone      SubmissionState = "done"      // All its items have ended.
	SubmissionNotMade   SubmissionState = "not made"  // It was not sent, was refused, or never arrived.
)

// Submission is a batch that was recorded before it was sent.
type Submission struct {
	ID         string
	Kind       decide.WriteKind
	Run        int64
	Generation int64
	Fence      int64
	Body       string // What is sent as JSON.
	MadeAt     time.Time
	NotAfter   time.Time // Not sent later than this.
	Batch      string    // "" until it is known.
	State      SubmissionState
	Looks      int // Polls, or looks of the recovery.
	LookedAt   time.Time
	Took       time.Duration // How long the service took for the batch; zero if not known.
	NextAt     time.Time     // When it is looked at next.
	Note       string
}

// ItemState is the state of an item of a submission.
type ItemState string

// The states of items.
const (
	ItemOpen    ItemState = "open"     // Its outcome is not known yet.
	ItemDone    ItemState = "done"     // The service did it.
	ItemFailed  ItemState = "failed"   // The service refused it, at least in part.
	ItemStuck   ItemState = "stuck"    // Its outcome cannot be found out: its row waits for the seller.
	ItemNotMade ItemState = "not made" // It never arrived.
)

// Item is one row's part of a submission.
type Item struct {
	Submission string
	Seq        int // In the submission, from 0.
	Run        int64
	Kind       decide.WriteKind
	SKU        string
	Listing    string // "" for creates.
	Quantity   int    // Listings that it makes; 1 for other kinds.
	Made       int    // Of Quantity that the service did.
	Failed     int    // Of Quantity that the service refused.
	State      ItemState
	Error      string
	EndedAt    time.Time
}

const submissionColumns = `id, kind, run, generation, fence, body, made_at, not_after, batch, state, looks, looked_at, took, next_at, note`

func scanSubmission(rows db.Rows) (s Submission, err error) {
	var made, notAfter, looked, took, next int64
	err = rows.Scan(&s.ID, &s.Kind, &s.Run, &s.Generation, &s.Fence, &s.Body, &made, &notAfter, &s.Batch, &s.State,
		&s.Looks, &looked, &took, &next, &s.Note)
	s.MadeAt, s.NotAfter, s.NextAt = fromMillis(made), fromMillis(notAfter), fromMillis(next)
	s.LookedAt, s.Took = fromMillis(looked), time.Duration(took)*time.Millisecond
	return s, err
}

const itemColumns = `submission, seq, run, kind, sku, listing, quantity, made, failed, state, error, ended_at`

func scanItem(rows db.Rows) (i Item, err error) {
	var ended int64
	err = rows.Scan(&i.Submission, &i.Seq, &i.Run, &i.Kind, &i.SKU, &i.Listing, &i.Quantity, &i.Made, &i.Failed,
		&i.State, &i.Error, &ended)
	i.EndedAt = fromMillis(ended)
	return i, err
}

// Record records a submission and its items, which are owed no more, before it is sent. It returns
// [ErrReplaced] if there is a newer plan or the run has ended, and [db.ErrFenced] if there is a
// newer worker; then nothing may be sent.
func (tx Tx) Record(ctx context.Context, s Submission, owed []Owed) error {
	if err := db.LockFence(ctx, tx.Tx, tx.account, s.Fence); err != nil {
		return err
	}
	a, err := tx.State(ctx)
	if err != nil {
		return err
	}
	if a.Generation != s.Generation || a.Run != s.Run {
		return ErrReplaced
	}
	_, err = tx.Exec(ctx, `INSERT INTO submissions (account, `+submissionColumns+`) VALUES (`+numbers(1, 16)+`)`,
		tx.account, s.ID, string(s.Kind), s.Run, s.Generation, s.Fence, s.Body, millis(s.MadeAt), millis(s.NotAfter),
		s.Batch, string(SubmissionRecorded), 0, 0, 0, millis(s.NextAt), "")
	if err != nil {
		return err
	}
	for seq, o := range owed {
		_, err := tx.Exec(ctx, `INSERT INTO items (account, `+itemColumns+`) VALUES (`+numbers(1, 13)+`)`,
			tx.account, s.ID, seq, s.Run, string(s.Kind), o.SKU, o.Listing, o.Quantity, 0, 0, string(ItemOpen), "", 0)
		if err != nil {
			return err
		}
		if err := tx.removeOwed(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Unrecord removes a submission that certainly was not sent. Its rows are decided again.
func (tx Tx) Unrecord(ctx context.Context, id string) error {
	if err := tx.dirtySubmission(ctx, id); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM items WHERE account = $1 AND submission = $2`, tx.account, id); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM submissions WHERE account = $1 AND id = $2`, tx.account, id)
	return err
}

func (tx Tx) dirtySubmission(ctx context.Context, id string) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND sku IN (
		SELECT sku FROM items WHERE account = $1 AND submission = $2)`, tx.account, id)
	return err
}

// SetSubmission writes the batch, state, looks, next time and note of a submission. The rows of a
// submission that ends or gets stuck are decided again.
func (tx Tx) SetSubmission(ctx context.Context, s Submission) error {
	_, err := tx.Exec(ctx, `UPDATE submissions SET batch = $3, state = $4, looks = $5, looked_at = $6, took = $7,
		next_at = $8, note = $9 WHERE account = $1 AND id = $2`, tx.account, s.ID, s.Batch, string(s.State), s.Looks,
		millis(s.LookedAt), s.Took.Milliseconds(), millis(s.NextAt), s.Note)
	if err != nil || s.State == SubmissionSubmitted && s.Looks > 0 {
		return err
	}
	return tx.dirtySubmission(ctx, s.ID)
}

// Unknown returns the submission of unknown outcome that is to be looked at first, nil if there is
// none.
func (tx Tx) Unknown(ctx context.Context) (*Submission, error) {
	return one(ctx, tx, scanSubmission, `SELECT `+submissionColumns+` FROM submissions
		WHERE account = $1 AND state = 'recorded' ORDER BY next_at, id LIMIT 1`, tx.account)
}

// Unpolled returns the submission whose batch was never polled and that was made first, nil if there
// is none.
func (tx Tx) Unpolled(ctx context.Context) (*Submission, error) {
	return one(ctx, tx, scanSubmission, `SELECT `+submissionColumns+` FROM submissions
		WHERE account = $1 AND state = 'submitted' AND looks = 0 ORDER BY made_at, id LIMIT 1`, tx.account)
}

// Polled returns the submission whose batch was polled and that is to be polled first, nil if there
// is none.
func (tx Tx) Polled(ctx context.Context) (*Submission, error) {
	return one(ctx, tx, scanSubmission, `SELECT `+submissionColumns+` FROM submissions
		WHERE account = $1 AND state = 'submitted' AND looks > 0 ORDER BY next_at, id LIMIT 1`, tx.account)
}

// Durations returns the longest time that any of the last 20 batches took, and the longest age that
// one in flight had when it was polled last.
func (tx Tx) Durations(ctx context.Context) (typical, waited time.Duration, err error) {
	took, err := one(ctx, tx, number, `SELECT COALESCE(MAX(took), 0) FROM (SELECT took FROM submissions
		WHERE account = $1 AND took > 0 ORDER BY made_at DESC LIMIT 20) AS last`, tx.account)
	if err != nil {
		return 0, 0, err
	}
	age, err := one(ctx, tx, number, `SELECT COALESCE(MAX(looked_at - made_at), 0) FROM submissions
		WHERE account = $1 AND state = 'submitted' AND looks > 0`, tx.account)
	return time.Duration(deref(took)) * time.Millisecond, time.Duration(deref(age)) * time.Millisecond, err
}

// RecentItems returns how many items of a kind were submitted since a time.
func (tx Tx) RecentItems(ctx context.Context, kind decide.WriteKind, since time.Time) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COALESCE(SUM(i.quantity), 0) FROM submissions s
		JOIN items i ON i.account = s.account AND i.submission = s.id
		WHERE s.account = $1 AND s.made_at >= $2 AND s.kind = $3`, tx.account, millis(since), string(kind))
	return int(deref(n)), err
}

// DeletesSent returns how many deletes a plan has submitted.
func (tx Tx) DeletesSent(ctx context.Context, generation int64) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COUNT(*) FROM submissions s
		JOIN items i ON i.account = s.account AND i.submission = s.id
		WHERE s.account = $1 AND s.generation = $2 AND s.kind = 'delete'`, tx.account, generation)
	return int(deref(n)), err
}

// InFlight returns how many submissions are neither done nor stuck.
func (tx Tx) InFlight(ctx context.Context) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COUNT(*) FROM submissions
		WHERE account = $1 AND state IN ('recorded', 'submitted')`, tx.account)
	return int(deref(n)), err
}

// CountOfBatches returns how many listings some create batches may have made.
func (tx Tx) CountOfBatches(ctx context.Context, batches ...string) (int, error) {
	if len(batches) == 0 {
		return 0, nil
	}
	n, err := one(ctx, tx, number, `SELECT COALESCE(SUM(i.quantity), 0) FROM submissions s
		JOIN items i ON i.account = s.account AND i.submission = s.id
		WHERE s.account = $1 AND s.kind = 'create' AND s.batch IN (`+numbers(2, len(batches))+`)`, tx.with(batches)...)
	return int(deref(n)), err
}

// KnownBatches returns the ids of the batches that were recorded since a time.
func (tx Tx) KnownBatches(ctx context.Context, since time.Time) ([]string, error) {
	return list(ctx, tx, text, `SELECT batch FROM submissions
		WHERE account = $1 AND made_at >= $2 AND batch <> ''`, tx.account, millis(since))
}

// Items returns the items of a submission in their order.
func (tx Tx) Items(ctx context.Context, submission string) ([]Item, error) {
	return list(ctx, tx, scanItem, `SELECT `+itemColumns+` FROM items
		WHERE account = $1 AND submission = $2 ORDER BY seq`, tx.account, submission)
}

// SetItem writes the outcome of an item, and marks its row to be decided again.
func (tx Tx) SetItem(ctx context.Context, i Item) error {
	_, err := tx.Exec(ctx, `UPDATE items SET made = $4, failed = $5, state = $6, error = $7, ended_at = $8
		WHERE account = $1 AND submission = $2 AND seq = $3`,
		tx.account, i.Submission, i.Seq, i.Made, i.Failed, string(i.State), i.Error, millis(i.EndedAt))
	if err != nil {
		return err
	}
	return tx.Dirty(ctx, i.SKU)
}

// StuckItems returns the items of unknown outcome of a row.
func (tx Tx) StuckItems(ctx context.Context, sku string) ([]Item, error) {
	return list(ctx, tx, scanItem, `SELECT `+itemColumns+` FROM items
		WHERE account = $1 AND sku = $2 AND state = 'stuck' ORDER BY submission, seq`, tx.account, sku)
}

// RunItems returns items of a run after an item of it: those in a state, or all if state is "".
func (tx Tx) RunItems(
	ctx context.Context, run int64, state ItemState, submission string, seq, limit int,
) ([]Item, error) {
	return list(ctx, tx, scanItem, `SELECT `+itemColumns+` FROM items
		WHERE account = $1 AND run = $2 AND ($3 = '' OR state = $3) AND (submission, seq) > ($4, $5)
		ORDER BY submission, seq LIMIT $6`, tx.account, run, string(state), submission, seq, limit)
}
