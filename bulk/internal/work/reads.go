package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

const (
	// newEvery is how long the reading of new listings is put off for each page that it takes.
	newEvery = 5 * time.Minute
	// togetherMost is how many listings are read together at most. Their ids fit into a URL.
	togetherMost = 100
	// mostPages is how many pages a list of them has at most.
	mostPages = 10
)

// statuses are those in which a listing is accounted for. Services may hide some that are not named.
var statuses = [...]gen.ListingStatus{
	gen.ListingStatusActive, gen.ListingStatusInactive, gen.ListingStatusMatched,
	gen.ListingStatusCompleted, gen.ListingStatusCanceled, gen.ListingStatusDeleted,
}

// isNewRead reports whether the new listings need not be read. They are listed by days, together
// with those that the ledger knows: a page is read whenever it is asked for, more of them the more
// rarely the more they are.
func (e *Engine) isNewRead(ctx context.Context, tx ledger.Tx, mark, now time.Time) (bool, error) {
	if !mark.Before(e.needs.New) {
		return true, nil
	}
	if e.needs.Foreign || e.newPage > 0 {
		return false, nil
	}
	pages := max(1, int(now.Sub(mark)/newEvery))
	first := e.newSince(mark).UTC().Truncate(24 * time.Hour)
	n, err := tx.CountCreated(ctx, first, pages*pageSize+1)
	return n > pages*pageSize, err
}

// newSince returns the time from which listings may not have been shown when new ones were read last.
func (e *Engine) newSince(mark time.Time) time.Time {
	if mark.IsZero() {
		return mark
	}
	return mark.Add(-max(overlap, e.Settle))
}

// readNew reads the next page of the listings that were created since they were read last.
func (e *Engine) readNew(ctx context.Context) error {
	mark, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) (time.Time, error) {
		return tx.TimeMark(ctx, markNew)
	})
	if err != nil {
		return err
	}
	if e.newPage == 0 {
		e.newPage, e.newBegan = 1, time.Now()
	}
	page, err := e.Client.Listings.ListPage(ctx, client.ListingFilter{
		From: e.newSince(mark), PageNumber: e.newPage, PageSize: pageSize,
	})
	if err != nil {
		return err
	}
	isLast := !page.HasNextPage || len(page.Listings) == 0
	err = e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		if err := putListed(ctx, tx, page.Listings); err != nil || !isLast {
			return err
		}
		return tx.SetTimeMark(ctx, markNew, e.newBegan)
	})
	switch {
	case err != nil:
	case isLast:
		e.newPage = 0
	default:
		e.newPage++
	}
	return err
}

// putListed records the listings of a page of some listings.
func putListed(ctx context.Context, tx ledger.Tx, shown []gen.Listing) error {
	reading, err := tx.IntMark(ctx, markReading)
	if err != nil {
		return err
	}
	return putShown(ctx, tx, shown, reading, time.Now())
}

// together is a list that shows several listings which have to be read.
type together struct {
	filter client.ListingFilter
	ids    []string // Of the listings.
	pages  int      // That it is expected to have.
}

// saved returns how many requests a list saves.
func (t together) saved() int { return len(t.ids) - t.pages }

// readWanted reads listings that have to be read: several of the same batches or variants if that
// takes fewer requests, otherwise one by its id. What a list does not show is read by its id.
func (e *Engine) readWanted(ctx context.Context, first *ledger.Listing) error {
	t, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) (together, error) {
		wanted, err := tx.WantedTogether(ctx, time.Now(), togetherMost)
		if err != nil || len(wanted) < 2 {
			return together{}, err
		}
		return cheapest(ctx, tx, wanted)
	})
	if err != nil {
		return err
	}
	if t.saved() <= 0 {
		return e.readListing(ctx, first)
	}
	var shown []gen.Listing
	for number := range t.pages {
		t.filter.PageNumber = number + 1
		page, err := e.Client.Listings.ListPage(ctx, t.filter)
		if errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrInvalidArgument) {
			break // an id that the service does not accept in a list: each is read by its id
		}
		if err != nil {
			return err
		}
		shown = append(shown, page.Listings...)
		if !page.HasNextPage {
			break
		}
	}
	isShown := make(map[string]bool, len(shown))
	for i := range shown {
		isShown[shown[i].ListingID] = true
	}
	var missed []string
	for _, id := range t.ids {
		if !isShown[id] {
			missed = append(missed, id)
		}
	}
	return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		if err := putListed(ctx, tx, shown); err != nil {
			return err
		}
		return tx.WantByID(ctx, missed...)
	})
}

// cheapest returns the list that saves the most requests.
func cheapest(ctx context.Context, tx ledger.Tx, wanted []ledger.Listing) (best together, err error) {
	var variants, batches []string
	byVariant, byBatch := together{}, together{}
	for i := range wanted {
		l := &wanted[i]
		if l.Variant != "" {
			variants, byVariant.ids = append(variants, l.Variant), append(byVariant.ids, l.ID)
		}
		if l.Batch != "" && l.Submission != "" { // of other batches, the size is not known
			batches, byBatch.ids = append(batches, l.Batch), append(byBatch.ids, l.ID)
		}
	}
	byVariant.filter.VariantIDs, byBatch.filter.BatchIDs = distinct(variants), distinct(batches)
	n, err := tx.CountOfVariants(ctx, mostPages*pageSize+1, byVariant.filter.VariantIDs...)
	if err != nil {
		return best, err
	}
	byVariant.pages = pagesOf(n)
	if n, err = tx.CountOfBatches(ctx, byBatch.filter.BatchIDs...); err != nil {
		return best, err
	}
	byBatch.pages = pagesOf(n)
	for _, t := range []together{byBatch, byVariant} {
		if t.pages <= mostPages && t.saved() > best.saved() {
			best = t
		}
	}
	best.filter.Statuses, best.filter.PageSize = statuses[:], pageSize
	return best, nil
}

func pagesOf(listings int) int { return max(1, (listings+pageSize-1)/pageSize) }

// distinct returns the values without repetitions, sorted.
func distinct(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
