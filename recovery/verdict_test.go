package recovery_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

func TestAVerdictSaysWhatItRestsOn(t *testing.T) {
	opened := newService(t).c.Batches.OpenCreate("b1")
	for want, v := range map[string]recovery.Verdict{
		"no verdict":         {},
		"landed as batch b1": {Kind: recovery.Landed, Batch: opened},
		"not seen since 2000-02-01T00:00:00Z, if listings show within 10m0s": {Kind: recovery.NotSeen, Since: february, Settle: 10 * time.Minute},
		"cannot tell: batch b1 cannot be read":                               {Kind: recovery.CannotTell, Reason: "batch b1 cannot be read"},
	} {
		assert.Equal(t, want, v.String())
	}
}

func TestItCannotTellWhatTheAnswersDoNotSay(t *testing.T) {
	fails := func(what string) func(*service) {
		return func(s *service) {
			s.fails = func(call string) int { return map[string]int{what: http.StatusForbidden}[call] }
		}
	}
	for _, row := range []struct {
		spoil  func(*service)
		reason string
	}{
		{fails("batch b1"), "batch b1 may be it: it cannot be read: GetCreateListingsBatch: 403 forbidden"},
		{fails("items b1"), "batch b1 may be it: its items cannot be read: ListCreateListingsBatchItems: 403 forbidden"},
		{func(s *service) { s.items["b1"] = nil }, "batch b1 may be it: 0 of its 2 items are listed"},
		{func(s *service) { s.items["b1"] = s.items["b1"][:1] }, "batch b1 may be it: 1 of its 2 items are listed"},
		{func(s *service) { s.items["b1"][0].ListingInput.Amount = "" }, "batch b1 may be it: its items do not say all that they were made from"},
		{func(s *service) { s.batches["b1"] = gen.Batch{TotalItems: 2} }, "batch b1 may be it: it does not say when it was created"},
		{func(s *service) { s.listings[0].InventoryType = gen.InventoryTypeDirect }, "batch b1 may be it: its listings have another inventory type than was asked for"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *service) {
				attempt := newAttempt(t, append(one("76"), one("77")...))
				s.land(attempt.Items)
				row.spoil(s)
				began := time.Now()

				v := s.recover(t, attempt, recovery.Options{})

				assert.Equal(t, recovery.CannotTell, v.Kind, v)
				assert.Equal(t, row.reason, v.Reason)
				assert.Equal(t, []string{"b1"}, v.Candidates)
				assert.Nil(t, v.Batch)
				assert.Equal(t, 10*time.Minute, time.Since(began), "it may be clearer later")
			})
		})
	}
}

func TestACertainBatchOutweighsADoubtfulOne(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		doubtful := s.land(one("76"))
		s.items[doubtful] = nil
		attempt := newAttempt(t, one("76"))
		certain := s.land(attempt.Items)
		v := s.recover(t, attempt, recovery.Options{})
		assert.Equal(t, recovery.Landed, v.Kind)
		assert.Equal(t, certain, v.Batch.ID())
	})
	bubble(t, func(t *testing.T, s *service) {
		a, b := s.land(one("76")), s.land(one("76"))
		s.items[a], s.batches[b] = nil, gen.Batch{}
		v := s.recover(t, newAttempt(t, one("76")), recovery.Options{})
		assert.Equal(t, recovery.CannotTell, v.Kind)
		assert.Equal(t, []string{a, b}, v.Candidates)
		assert.Equal(t, "batch b1 may be it: 0 of its 1 items are listed; batch b2 may be it: it does not say when it was created", v.Reason)
	})
}

func TestEqualAttemptsAreToldApart(t *testing.T) {
	marked := recovery.Marked()
	bubble(t, func(t *testing.T, s *service) {
		t.Log("unmarked: one landed and is known, the other did not")
		known, lost := s.land(one("76")), newAttempt(t, one("76"))
		assert.Equal(t, recovery.NotSeen, s.recover(t, lost, recovery.Options{Known: []string{known}}).Kind)
		lost = newAttempt(t, one("76"))
		known = s.land(one("76"))
		pass(6 * time.Minute)
		assert.Equal(t, known, s.recover(t, lost, recovery.Options{}).Batch.ID(), "what is not known is mistaken")
	})
	bubble(t, func(t *testing.T, s *service) {
		t.Log("unmarked: both landed; the caller may share them out")
		a, b := s.land(one("76")), s.land(one("76"))
		attempt := newAttempt(t, one("76"))
		v := s.recover(t, attempt, recovery.Options{})
		assert.Equal(t, recovery.CannotTell, v.Kind)
		assert.Equal(t, []string{a, b}, v.Candidates)
		assert.Equal(t, "these batches match equally: b1, b2", v.Reason)
		assert.Equal(t, b, s.recover(t, attempt, recovery.Options{Known: v.Candidates[:1]}).Batch.ID())
	})
	bubble(t, func(t *testing.T, s *service) {
		t.Log("marked: nothing is known, and each finds its own")
		attempts := []recovery.Attempt{newAttempt(t, one("76"), marked), newAttempt(t, one("76"), marked), newAttempt(t, one("76"), marked)}
		b1, b2 := s.land(attempts[0].Items), s.land(attempts[1].Items)
		assert.Equal(t, b2, s.recover(t, attempts[1], recovery.Options{}).Batch.ID())
		assert.Equal(t, b1, s.recover(t, attempts[0], recovery.Options{}).Batch.ID())
		assert.Equal(t, recovery.NotSeen, s.recover(t, attempts[2], recovery.Options{}).Kind)
	})
	bubble(t, func(t *testing.T, s *service) {
		t.Log("marked, but the service cuts the millisecond that tells them apart")
		attempt := newAttempt(t, one("76"), marked)
		s.land(attempt.Items)
		s.items["b1"][0].ListingInput.ExpiresAt = attempt.Items[0].ExpiresAt.Format(time.RFC3339)
		assert.Equal(t, recovery.CannotTell, s.recover(t, attempt, recovery.Options{}).Kind)
	})
}
