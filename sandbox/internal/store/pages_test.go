package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// start is the time of the first listing of a test.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// random draws listings and changes of them.
type random struct{ *rand.Rand }

func (r random) pick(values ...string) string { return values[r.IntN(len(values))] }

// some draws a few of the values, often none.
func (r random) some(values ...string) []string {
	if r.IntN(2) == 0 {
		return nil
	}
	r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values[:1+r.IntN(len(values))]
}

func (r random) ids(kind string, n int) []string {
	if r.IntN(3) > 0 {
		return nil
	}
	ids := make([]string, 1+r.IntN(3))
	for i := range ids {
		ids[i] = fmt.Sprint(kind, r.IntN(n))
	}
	return ids
}

func (r random) listing(n int) Listing {
	created := start.Add(time.Duration(n) * time.Minute).Add(-time.Duration(r.IntN(3)) * time.Minute) // the clock goes back at times
	l := Listing{
		ID: fmt.Sprint("listing", n), Account: int64(1 + r.IntN(10)/9), // the second account has a tenth of them
		Status: r.pick(state.Inactive, state.Active, state.Active, state.Active, state.Deleted, state.Matched),
		Amount: 1, Currency: "USD",
		ProductID: fmt.Sprint("product", r.IntN(5)), VariantID: fmt.Sprint("variant", r.IntN(20)),
		InventoryType: r.pick("STANDARD", "STANDARD", "STANDARD", "DIRECT"), Ask: Ask{ID: "ask"},
		ExpiresAt: start, CreatedAt: created, UpdatedAt: created,
	}
	if r.IntN(2) == 0 {
		l.BatchID = fmt.Sprint("batch", n/50)
	}
	return l
}

// changeSome changes the state of some listings.
func (r random) changeSome(tx *Tx, listings int) error {
	for _, n := range r.Perm(listings)[:listings/20] {
		l, err := tx.AnyListing(fmt.Sprint("listing", n))
		if err != nil {
			return err
		}
		l.Status = r.pick(append(state.Listing.Targets(l.Status), l.Status)...)
		l.Expired = slices.Contains([]string{state.Inactive, state.Deleted, state.Canceled}, l.Status) && r.IntN(2) == 0
		if err := tx.SaveListing(l); err != nil {
			return err
		}
	}
	return nil
}

func (r random) filter(listings int) ListingFilter {
	f := ListingFilter{
		Account:        int64(1 + r.IntN(2)),
		Statuses:       r.some(state.Inactive, state.Active, state.Deleted, state.Canceled, state.Matched, state.Completed),
		InventoryTypes: r.some("STANDARD", "DIRECT", "FLEX", "DFS"),
		WithExpired:    r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 {
		f.ProductIDs, f.VariantIDs, f.BatchIDs = r.ids("product", 5), r.ids("variant", 20), r.ids("batch", listings/50)
	}
	if r.IntN(2) == 0 {
		f.From = start.Add(time.Duration(r.IntN(listings)) * time.Minute)
	}
	if r.IntN(2) == 0 {
		f.Until = start.Add(time.Duration(r.IntN(listings)) * time.Minute)
	}
	return f
}

// simplePage reads a page with the simplest queries.
func simplePage(tx *Tx, f ListingFilter, limit, offset int) (ids []string, count int, err error) {
	var w where
	w.and("account = ?", f.Account)
	w.in("product_id", f.ProductIDs)
	w.in("variant_id", f.VariantIDs)
	w.in("batch_id", f.BatchIDs)
	w.in("status", f.Statuses)
	w.in("inventory_type", f.InventoryTypes)
	if !f.From.IsZero() {
		w.and("created_at >= ?", at(f.From))
	}
	if !f.Until.IsZero() {
		w.and("created_at < ?", at(f.Until))
	}
	if !f.WithExpired {
		w.and("expired = 0")
	}
	if err := tx.get(`SELECT count(*) FROM listings`+w.String(), w.args, []any{&count}); err != nil {
		return nil, 0, err
	}
	ids, err = list(tx, func(id *string) []any { return []any{id} },
		`SELECT id FROM listings`+w.String()+` ORDER BY seq DESC LIMIT ? OFFSET ?`, append(w.args, limit, offset)...)
	return ids, count, err
}

func TestPages_EqualThoseOfASimpleQuery(t *testing.T) {
	const listings = 2500 // several small blocks, in one large one
	for seed := range uint64(2) {
		s := reopen(t, filepath.Join(t.TempDir(), "sandbox.db"))
		r := random{rand.New(rand.NewPCG(seed, 0))}
		require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
			for n := range listings {
				if err := tx.InsertListing(r.listing(n)); err != nil {
					return err
				}
			}
			return nil
		}))
		for range 3 {
			require.NoError(t,
				s.Update(t.Context(), func(tx *Tx) error { return r.changeSome(tx, listings) }))
			require.NoError(t, s.View(t.Context(), func(tx *Tx) error { comparePages(t, tx, r, listings); return nil }))
		}
	}
}

func comparePages(t *testing.T, tx *Tx, r random, listings int) {
	t.Helper()
	for range 25 {
		f, limit := r.filter(listings), 1+r.IntN(100)
		_, matches, err := simplePage(tx, f, 1, 0)
		require.NoError(t, err)
		for _, offset := range []int{0, r.IntN(matches + 1), max(0, matches-limit), matches + 1} {
			want, count, err := simplePage(tx, f, limit, offset)
			require.NoError(t, err)
			page, n, err := tx.Listings(f, limit, offset)
			require.NoError(t, err)
			var got []string
			for _, l := range page {
				got = append(got, l.ID)
			}
			require.Equal(t, want, got, "limit %d, offset %d of %+v", limit, offset, f)
			require.Equal(t, count, n, "%+v", f)
		}
	}
}

// The numbers of the listings have gaps, so that a few listings are in several large blocks.
func TestPages_SpanLargeBlocks(t *testing.T) {
	s := reopen(t, "")
	r := random{rand.New(rand.NewPCG(1, 2))}
	const listings = 1500
	require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
		for n := range listings {
			if n%10 == 0 {
				if err := tx.exec(`INSERT INTO listings SELECT max(seq) + 1000, 'gap' || max(seq), 9, status, 0, product_id, variant_id, amount, currency,
					inventory_type, expires_at, NULL, NULL, ask_id, NULL, NULL, created_at, updated_at FROM listings HAVING max(seq) > 0`); err != nil {
					return err
				}
			}
			if err := tx.InsertListing(r.listing(n)); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
		comparePages(t, tx, r, listings)
		return nil
	}))
}

func TestListings_CreatedAtNeverFalls(t *testing.T) {
	s := reopen(t, "")
	r := random{rand.New(rand.NewPCG(1, 1))}
	for n, created := range []time.Time{start, start.Add(time.Hour), start.Add(-time.Hour)} {
		l := r.listing(n)
		l.CreatedAt = created
		require.NoError(t, s.Update(t.Context(), func(tx *Tx) error { return tx.InsertListing(l) }))
	}
	require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
		last, err := tx.AnyListing("listing2")
		assert.Equal(t, start.Add(time.Hour), last.CreatedAt, "a clock that went back")
		return err
	}))
}

func TestListings_AreSavedOnceAfterBeingRead(t *testing.T) {
	s := reopen(t, "")
	l := random{rand.New(rand.NewPCG(1, 1))}.listing(0)
	l.Status = state.Active
	err := s.Update(t.Context(), func(tx *Tx) error {
		require.NoError(t, tx.InsertListing(l))
		read, err := tx.AnyListing(l.ID)
		require.NoError(t, err)
		read.Status = state.Deleted
		require.NoError(t, tx.SaveListing(read))
		return tx.SaveListing(read)
	})
	require.Error(t, err, "it would be counted twice")
}
