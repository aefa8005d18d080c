package limit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// amount is what one or more calls cost.
type amount struct{ requests, items int64 }

func (a *amount) add(b amount) { a.requests += b.requests; a.items += b.items }

// spec is one window of a quota.
type spec struct {
	name  quota.Window
	limit int64
	per   time.Duration
	items bool // It counts items instead of requests.
}

func specsOf(q quota.Quota) []spec {
	const day = 24 * time.Hour
	all := []spec{
		{name: quota.RequestsPerSecond, limit: int64(q.RequestsPerSecond), per: time.Second},
		{name: quota.RequestsPerDay, limit: int64(q.RequestsPerDay), per: day},
		{
			name: quota.ItemsPerWindow, limit: int64(q.ItemsPerWindow),
			per: cmp.Or(q.ItemsWindow, 5*time.Minute), items: true,
		},
		{name: quota.ItemsPerDay, limit: int64(q.ItemsPerDay), per: day, items: true},
	}
	return slices.DeleteFunc(all, func(s spec) bool { return s.limit < 1 })
}

// retention returns how long a charge is kept: as long as any window may count it.
func retention(specs []spec) time.Duration {
	longest := 24 * time.Hour
	for _, s := range specs {
		longest = max(longest, s.per)
	}
	return longest
}

// count returns the part of an amount that the window counts.
func (s spec) count(a amount) int64 {
	if s.items {
		return a.items
	}
	return a.requests
}

// newError returns the error of a call that would have to wait for the window; zero means that no
// wait is long enough.
func (s spec) newError(wait time.Duration) *quota.Error {
	unit := "requests"
	if s.items {
		unit = "items"
	}
	return &quota.Error{Limit: int(s.limit), Per: s.per, Unit: unit, Wait: wait}
}

// window is a window at one moment.
type window struct {
	spec
	charged int64 // Sum of the charges that it counts.
	before  int64 // Sum of all charges before those.
}

// state is an account's state in one transaction.
type state struct {
	reader  db.Reader
	account string
	now     time.Time // By the clock of the database.
	local   time.Time // A moment before now, by the clock of this process.

	lastCall, lastCharge int64
	total                amount // Of all charges ever.
	released             time.Time
	cooldown             time.Time
	dirty                bool // The account's row must be written.
	callsBefore          int64

	calls   []*call // In order of arrival.
	windows []window
	inUse   amount
}

// call is a call that waits for a place or has one.
type call struct {
	number   int64
	owner    string
	cost     amount
	waiting  bool
	expires  time.Time
	reserved bool // It will be admitted by its own process.
	isNew    bool // It has no row.
	changed  bool
}

// lockAccount creates the row of an account if there is none, and locks it until the transaction
// ends.
func lockAccount(ctx context.Context, tx db.Tx, account string) error {
	_, err := tx.Exec(ctx, `INSERT INTO quota_accounts
		(account, last_call, last_charge, requests, items, released_at, cooldown_until)
		VALUES ($1, 0, 0, 0, 0, 0, 0)
		ON CONFLICT (account) DO UPDATE SET account = excluded.account`, account)
	return err
}

// loadAccount reads the row of the account, and its calls.
func (s *state) loadAccount(ctx context.Context) error {
	var released, cooldown int64
	_, err := db.Get(ctx, s.reader,
		[]any{&s.lastCall, &s.lastCharge, &s.total.requests, &s.total.items, &released, &cooldown},
		`SELECT last_call, last_charge, requests, items, released_at, cooldown_until
		FROM quota_accounts WHERE account = $1`, s.account)
	if err != nil {
		return err
	}
	s.released, s.cooldown = time.Unix(0, released), time.Unix(0, cooldown)
	s.callsBefore = s.lastCall
	rows, err := s.reader.Query(ctx, `SELECT number, owner, requests, items, waiting, expires_at
		FROM quota_calls WHERE account = $1 ORDER BY number`, s.account)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		c := &call{}
		var waiting, expires int64
		err := rows.Scan(&c.number, &c.owner, &c.cost.requests, &c.cost.items, &waiting, &expires)
		if err != nil {
			return err
		}
		c.waiting, c.expires = waiting == 1, time.Unix(0, expires)
		s.calls = append(s.calls, c)
	}
	return rows.Err()
}

// loadWindows reads what the windows have charged.
func (s *state) loadWindows(ctx context.Context, specs []spec) error {
	s.windows = nil
	for _, spec := range specs {
		w := window{spec: spec}
		// A charge counts until one window after its release.
		found, err := db.Get(ctx, s.reader, []any{&w.before}, `SELECT `+spec.column()+`_total - `+spec.column()+`
			FROM quota_charges WHERE account = $1 AND released_at > $2
			ORDER BY released_at, number LIMIT 1`, s.account, s.now.Add(-spec.per).UnixNano())
		if err != nil {
			return err
		}
		if found {
			w.charged = spec.count(s.total) - w.before
		}
		s.windows = append(s.windows, w)
	}
	for _, c := range s.calls {
		if !c.waiting {
			s.inUse.add(c.cost)
		}
	}
	return nil
}

// column returns the name of the column with what the window counts.
func (s spec) column() string {
	if s.items {
		return "items"
	}
	return "requests"
}

// write writes the calls that changed, and the account.
func (s *state) write(ctx context.Context, tx db.Tx, owner string) error {
	for _, c := range s.calls {
		waiting := 0
		if c.waiting {
			waiting = 1
		}
		var err error
		switch {
		case c.isNew:
			_, err = tx.Exec(ctx, `INSERT INTO quota_calls
				(account, number, owner, requests, items, waiting, expires_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				s.account, c.number, owner, c.cost.requests, c.cost.items, waiting, c.expires.UnixNano())
		case c.changed:
			_, err = tx.Exec(ctx, `UPDATE quota_calls SET waiting = $3, expires_at = $4
				WHERE account = $1 AND number = $2`, s.account, c.number, waiting, c.expires.UnixNano())
		}
		if err != nil {
			return err
		}
	}
	if !s.dirty && s.lastCall == s.callsBefore {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE quota_accounts SET last_call = $2, last_charge = $3,
		requests = $4, items = $5, released_at = $6 WHERE account = $1`, s.account,
		s.lastCall, s.lastCharge, s.total.requests, s.total.items, s.released.UnixNano())
	return err
}

func (s *state) insert(c *call) {
	i, _ := slices.BinarySearchFunc(s.calls, c.number, func(c *call, n int64) int { return cmp.Compare(c.number, n) })
	s.calls = slices.Insert(s.calls, i, c)
}

func (s *state) deleteCall(ctx context.Context, tx db.Tx, number int64) error {
	s.calls = slices.DeleteFunc(s.calls, func(c *call) bool { return c.number == number })
	_, err := tx.Exec(ctx, `DELETE FROM quota_calls WHERE account = $1 AND number = $2`, s.account, number)
	return err
}

// charge appends a charge, and deletes those that no window counts any more. Charges are in order of
// time, also if the clocks of two processes differ.
func (s *state) charge(
	ctx context.Context, tx db.Tx, cost amount, at time.Time, retention time.Duration,
) (number int64, err error) {
	if at.After(s.released) {
		s.released = at
	}
	s.lastCharge++
	s.total.add(cost)
	s.dirty = true
	_, err = tx.Exec(ctx, `INSERT INTO quota_charges
		(account, number, released_at, requests, items, requests_total, items_total)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, s.account, s.lastCharge, s.released.UnixNano(),
		cost.requests, cost.items, s.total.requests, s.total.items)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `DELETE FROM quota_charges WHERE account = $1 AND released_at <= $2`,
		s.account, s.now.Add(-retention).UnixNano())
	return s.lastCharge, err
}

// refund removes the items from a charge. Few charges follow it, because the status of a response
// follows its first byte closely.
func (s *state) refund(ctx context.Context, tx db.Tx, number int64) error {
	var items int64
	found, err := db.Get(ctx, tx, []any{&items},
		`SELECT items FROM quota_charges WHERE account = $1 AND number = $2`, s.account, number)
	if err != nil || !found {
		return err
	}
	s.total.items -= items
	s.dirty = true
	_, err = tx.Exec(ctx, `UPDATE quota_charges SET items_total = items_total - $3,
		items = CASE WHEN number = $2 THEN 0 ELSE items END
		WHERE account = $1 AND number >= $2`, s.account, number, items)
	return err
}

// heads returns the first call that waits of each queue: of requests without items, and of batches.
func (s *state) heads() (heads [2]*call) {
	for _, c := range s.calls {
		if i := min(c.cost.items, 1); c.waiting && !c.reserved && heads[i] == nil {
			heads[i] = c
		}
	}
	return heads
}

func (s *state) fits(cost amount) bool {
	for i := range s.windows {
		if w := &s.windows[i]; w.count(cost) > 0 && s.excess(w, cost) > 0 {
			return false
		}
	}
	return true
}

// excess returns by how much this cost would exceed a window; zero or less if there is room.
func (s *state) excess(w *window, cost amount) int64 {
	return w.count(s.inUse) + w.charged + w.count(cost) - w.limit
}

// admissionTime returns when a call that waits has room, if that does not depend on places in use.
func (s *state) admissionTime(ctx context.Context, cost amount) (at time.Time, known bool, err error) {
	at = s.cooldown
	for i := range s.windows {
		w := &s.windows[i]
		excess := s.excess(w, cost)
		if w.count(cost) == 0 || excess <= 0 {
			continue
		}
		if excess > w.charged {
			return at, false, nil
		}
		free, err := s.freeTime(ctx, w, excess)
		if err != nil {
			return at, false, err
		}
		at = later(at, free)
	}
	return later(at, s.now), true, nil
}

// predict returns when a call that arrives now is admitted, and the window that makes it wait
// longest: a window smaller than the call if there is one, nil if the call has room. It makes the
// assumptions of the limiter of package quota, so that the time is a lower bound.
func (s *state) predict(ctx context.Context, cost amount) (at time.Time, full *window, err error) {
	all := cost
	for _, c := range s.calls {
		// A request has room wherever a batch has, so that earlier requests are admitted before it.
		if c.waiting && !c.reserved && (c.cost.items == 0 || cost.items > 0) {
			all.add(c.cost)
		}
	}
	at = s.now
	for i := range s.windows {
		w := &s.windows[i]
		if w.count(cost) > w.limit {
			return s.now, w, nil
		}
		excess := s.excess(w, all)
		if excess <= 0 || w.count(cost) == 0 {
			continue
		}
		// The excess must become free first. Charges become free at known times, places in use one
		// window from now at the earliest, and calls that wait a limit at a time, one window apart.
		used := w.charged + w.count(s.inUse)
		rounds := max(0, (excess-used+w.limit-1)/w.limit)
		excess -= rounds * w.limit
		free := s.now
		if excess > w.charged {
			free = s.now.Add(w.per)
		} else if excess > 0 {
			if free, err = s.freeTime(ctx, w, excess); err != nil {
				return at, nil, err
			}
			free = later(s.now, free)
		}
		if free = free.Add(time.Duration(rounds) * w.per); full == nil || free.After(at) {
			at, full = free, w
		}
	}
	if s.cooldown.After(at) && len(s.windows) > 0 {
		if full == nil {
			full = &s.windows[0]
		}
		at = s.cooldown
	}
	return at, full, nil
}

// freeTime returns when n of what a window has charged are free.
func (s *state) freeTime(ctx context.Context, w *window, n int64) (time.Time, error) {
	var released int64
	_, err := db.Get(ctx, s.reader, []any{&released}, `SELECT released_at FROM quota_charges
		WHERE account = $1 AND `+w.column()+`_total >= $2
		ORDER BY `+w.column()+`_total, number LIMIT 1`, s.account, w.before+n)
	return time.Unix(0, released).Add(w.per), err
}

// remaining returns the states of the windows.
func (s *state) remaining(ctx context.Context) ([]quota.WindowState, error) {
	var states []quota.WindowState
	for i := range s.windows {
		w := &s.windows[i]
		used := w.charged + w.count(s.inUse)
		state := quota.WindowState{Window: w.name, Limit: int(w.limit), Per: w.per, Used: int(used)}
		if w.charged > 0 {
			free, err := s.freeTime(ctx, w, 1)
			if err != nil {
				return nil, err
			}
			state.NextFree = max(0, free.Sub(s.now))
		} else if used > 0 {
			state.NextFree = w.per
		}
		states = append(states, state)
	}
	return states, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
