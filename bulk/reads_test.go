package bulk_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// reads returns how many pages of listings and how many listings by their ids have been read so far.
func (s *scenario) reads() (pages, byID int) {
	return s.m.Counters().Of("ListListings"), s.m.Counters().Of("GetListing")
}

// TestPlan_ReadsNewListings counts the pages that later plans read to find what was made elsewhere.
func TestPlan_ReadsNewListings(t *testing.T) {
	for _, row := range []struct {
		own   int
		wait  time.Duration
		opts  bulk.PlanOptions
		pages int
		why   string
	}{
		{350, time.Minute, bulk.PlanOptions{}, 0, "the own new ones fill four pages, which is too much after a minute"},
		{350, time.Minute, bulk.PlanOptions{Adopt: true}, 4, "nothing is put off if it may be adopted"},
		{350, 21 * time.Minute, bulk.PlanOptions{}, 4, "it has been put off for long enough"},
		{50, time.Minute, bulk.PlanOptions{}, 1, "one page is read always"},
	} {
		simulate(t, func(s *scenario) {
			text := inventory(row.own, 200)
			s.apply(s.plan(text, bulk.PlanOptions{}))
			s.wait(row.wait)
			_, err := s.m.AddListings(s.Context(), 1, sandbox.Listing{VariantID: variants()[0], Amount: "150"})
			require.NoError(s, err)
			before, _ := s.reads()
			plan := s.plan(text, row.opts)
			after, byID := s.reads()
			assert.Equal(s, row.pages, after-before, row.why)
			assert.Equal(s, min(1, row.pages), plan.Foreign, row.why)
			assert.Zero(s, byID, row.why)
			assert.Equal(s, "+0 ~0 -0", changes(plan))
		})
	}
}

// TestApply_ReadsDoubtsTogether lets updates fail, after which the listings are read, and counts the
// requests.
func TestApply_ReadsDoubtsTogether(t *testing.T) {
	for _, row := range []struct {
		listings, failed int
		pages, byID      int
		why              string
	}{
		{60, 60, 1, 0, "all of one batch"},
		{60, 2, 1, 0, "two of one batch"},
		{60, 1, 0, 1, "one costs as much by its id"},
		{150, 150, 2, 0, "of two batches: first a hundred, then the others"},
	} {
		simulate(t, func(s *scenario) {
			s.apply(s.plan(inventory(row.listings, 200), bulk.PlanOptions{}))
			for _, id := range s.ids()[:row.failed] {
				require.NoError(s, s.m.FailWork(s.Context(), sandbox.Failure{Target: id, Operation: "UPDATE", Error: "not today"}))
			}
			plan := s.plan(inventory(row.listings, 300), bulk.PlanOptions{})
			pages, byID := s.reads()
			run := s.apply(plan)
			assert.Equal(s, row.failed, run.Failed, row.why)
			pagesAfter, byIDAfter := s.reads()
			assert.Equal(s, row.pages, pagesAfter-pages, row.why)
			assert.Equal(s, row.byID, byIDAfter-byID, row.why)
		})
	}
}
