package recovery_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client/recovery"
)

func TestVerdict_SaysWhatItRestsOn(t *testing.T) {
	c := newMarket(t).c
	for want, v := range map[string]recovery.Verdict{
		"no verdict":                           {},
		"landed as batch b1":                   {Kind: recovery.Landed, Batch: c.Batches.ResumeCreate("b1")},
		"landed on listing l1 as operation o1": {Kind: recovery.Landed, ListingID: "l1", Operation: c.Listings.Operation("l1", "o1")},
		"cannot tell: batch b1 cannot be read": {Kind: recovery.CannotTell, Reason: "batch b1 cannot be read"},
		"not seen since 2000-02-01T00:00:00Z, if it shows within 10m0s": {Kind: recovery.NotSeen, Since: february, Settle: 10 * time.Minute},
	} {
		assert.Equal(t, want, v.String())
	}
}

func TestRecover_TakesACertainBatchBeforeADoubtfulOne(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		doubtful := m.create(one("76"))
		m.respond = on(doubtful+"/items", http.StatusForbidden, "")
		submission := newSubmission(t, one("76"))
		m.lose(lostResponse, submission)
		v := m.recover(submission, recovery.Options{})
		assert.Equal(t, recovery.Landed, v.Kind, v)
		assert.NotEqual(t, doubtful, v.Batch.ID())
	})
}

func TestRecover_NamesAllCandidates(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		a, b := m.create(one("76")), m.create(one("76"))
		m.respond = on("/items", http.StatusForbidden, "")
		v := m.recover(newSubmission(t, one("76")), recovery.Options{})
		assert.Equal(t, recovery.CannotTell, v.Kind)
		assert.ElementsMatch(t, []string{a, b}, v.Candidates)
		assert.Contains(t, v.Reason, a)
		assert.Contains(t, v.Reason, b)
	})
	inMarket(t, func(t *testing.T, m *market) {
		for range 30 {
			m.create(one("76"))
		}
		v := m.recover(newSubmission(t, one("76")), recovery.Options{})
		assert.Len(t, v.Candidates, 30)
		assert.Equal(t, 10, strings.Count(v.Reason, "batch "), "a reason has an end")
	})
}

func TestRecover_DistinguishesEqualSubmissions(t *testing.T) {
	bare := recovery.WithoutMark()
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("unmarked: one landed and is known, the other did not")
		known, lost := m.create(one("76")), newSubmission(t, one("76"), bare)
		assert.Equal(t, recovery.NotSeen, m.recover(lost, recovery.Options{Known: []string{known}}).Kind)
		assert.Equal(t, recovery.CannotTell, m.recover(lost, recovery.Options{Known: []string{strings.ToUpper(known)}}).Kind, "another case may be another id")
	})
	inMarket(t, func(t *testing.T, m *market) {
		lost := newSubmission(t, one("76"), bare)
		known := m.create(one("76"))
		assert.Equal(t, known, m.recover(lost, recovery.Options{}).Batch.ID(), "what is not known is mistaken")
	})
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("unmarked: both landed; the caller may share them out")
		a, b := m.create(one("76")), m.create(one("76"))
		submission := newSubmission(t, one("76"), bare)
		v := m.recover(submission, recovery.Options{})
		assert.Equal(t, recovery.CannotTell, v.Kind)
		assert.ElementsMatch(t, []string{a, b}, v.Candidates)
		assert.Equal(t, b, m.recover(submission, recovery.Options{Known: []string{a}}).Batch.ID())
	})
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("marked: each finds its own, and what did not land is not seen once the others are known")
		submissions := []recovery.Submission{newSubmission(t, one("76")), newSubmission(t, one("76")), newSubmission(t, one("76"))}
		b1, b2 := m.create(submissions[0].Items), m.create(submissions[1].Items)
		assert.Equal(t, b2, m.recover(submissions[1], recovery.Options{}).Batch.ID())
		assert.Equal(t, b1, m.recover(submissions[0], recovery.Options{}).Batch.ID())
		assert.Equal(t, recovery.CannotTell, m.recover(submissions[2], recovery.Options{}).Kind, "another expiry alone proves nothing")
		assert.Equal(t, recovery.NotSeen, m.recover(submissions[2], recovery.Options{Known: []string{b1, b2}}).Kind)
	})
	inMarket(t, func(t *testing.T, m *market) {
		t.Log("marked, but the service cuts the millisecond that tells them apart")
		submission := newSubmission(t, one("76"))
		m.lose(lostResponse, submission)
		m.edit = eachInput(func(in map[string]any) { in["expiresAt"] = submission.Items[0].ExpiresAt.Format(time.RFC3339) })
		assert.Equal(t, recovery.CannotTell, m.recover(submission, recovery.Options{}).Kind)
	})
}
