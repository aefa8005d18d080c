package client

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// entryID is an entry of a simulated list. The number of the newest entry is the greatest.
type entryID int

func idOfEntry(e *entryID) string { return fmt.Sprint("id-", *e) }

// TestNumbered_YieldsEntriesOnceWhileTheListShifts reads lists, newest entries first, to which
// entries are added between pages. All that are added after an entry was read shift it to later
// pages, so that it may be read again.
func TestNumbered_YieldsEntriesOnceWhileTheListShifts(t *testing.T) {
	const size, pageSize = 3 * seenWindow, 100
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 0))
		newest, left := size, seenWindow-pageSize // Entries that may still be added.
		fetch := func(number int) (page[entryID], error) {
			var p page[entryID]
			for i := (number - 1) * pageSize; i < number*pageSize && i < newest; i++ {
				p.entries = append(p.entries, entryID(newest-i))
			}
			p.more = number*pageSize < newest
			// Fewer than a page, so that pages are not stuck, or seldom many at once.
			added := min(random.IntN(pageSize), left)
			if random.IntN(400) == 0 {
				added = min(random.IntN(2*pageSize), left)
			}
			newest, left = newest+added, left-added
			return p, nil
		}
		yielded := map[entryID]bool{}
		for e, err := range numbered(gen.OpListListings, 1, idOfEntry, fetch) {
			require.NoError(t, err)
			require.False(t, yielded[e], "seed %d: entry %d is yielded twice", seed, e)
			yielded[e] = true
		}
		for e := range size {
			require.True(t, yielded[entryID(e+1)], "seed %d: entry %d was there from the beginning", seed, e+1)
		}
	}
}

func TestListProgress_IsBounded(t *testing.T) {
	p := &listProgress{}
	for i := range 5 * seenWindow {
		require.True(t, p.isNew(fmt.Sprint(i)))
		require.LessOrEqual(t, len(p.recent)+len(p.older), 2*seenWindow)
	}
}

func TestListProgress_ForgetsAfterWindowOnly(t *testing.T) {
	for _, before := range []int{0, 1, seenWindow - 1, seenWindow, seenWindow + 1} {
		p, n := &listProgress{}, 0
		read := func(count int) {
			for range count {
				require.True(t, p.isNew(fmt.Sprint(n)))
				n++
			}
		}
		read(before)
		require.True(t, p.isNew("again"))
		for range 4 { // seen again, it is remembered for as long again
			read(seenWindow - 1)
			require.False(t, p.isNew("again"), "after %d entries", n)
		}
		read(2 * seenWindow)
		require.True(t, p.isNew("again"), "after %d entries", n)
	}
}

// TestNumbered_EndsListThatBeginsAgain reads a list that is larger than the window and never ends.
func TestNumbered_EndsListThatBeginsAgain(t *testing.T) {
	const pages, pageSize = 5 * seenWindow / 100, 100
	fetch := func(number int) (page[entryID], error) {
		p := page[entryID]{entries: make([]entryID, pageSize), more: true}
		for i := range p.entries {
			p.entries[i] = entryID((number-1)%pages*pageSize + i)
		}
		require.LessOrEqual(t, number, pages+1)
		return p, nil
	}
	var last error
	for _, err := range numbered(gen.OpListListings, 1, idOfEntry, fetch) {
		last = err
	}
	require.ErrorIs(t, last, ErrPagingStuck)
}
