package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// wireRow is a row of the retry table as it happens on the wire, with how a call ends that meets it each time.
type wireRow struct {
	reason      string
	fault       wireFault
	renewable   bool  // Whether another token can be had than the first.
	sentinel    error // Of the statuses; nil for none of them.
	read, write wireEnd
	// streamed is how reading a document ends, where that differs from read: its body is the caller's to read.
	streamed *wireEnd
}

// wireEnd says whether the request is sent again, and what the last answer comes to.
type wireEnd struct {
	retried, unknown bool
	failure          func(error) bool
	retryAfter       time.Duration
}

// patience is the policy of the calls on the wire: one retry is enough to see whether there is one. A
// Retry-After of 7 s is beyond it, so that it is returned at once instead of being waited for.
func patience(attemptTimeout time.Duration) client.RetryPolicy {
	return client.RetryPolicy{MaxAttempts: 2, MinDelay: time.Millisecond, MaxDelay: time.Millisecond, MaxRetryAfter: time.Second, AttemptTimeout: attemptTimeout}
}

// wireRows are the rows of broken connections and those of statuses. Whatever can hide a write that was applied
// comes twice: once when it was, and once when it was not.
func wireRows() []wireRow {
	var (
		isSend   = isA[*client.SendError]
		isDecode = isA[*client.DecodeError]

		again = wireEnd{retried: true, failure: isSend}
		lost  = wireEnd{unknown: true, failure: isSend}
		cut   = wireEnd{retried: true, failure: isDecode}
		torn  = wireEnd{unknown: true, failure: isDecode}
		late  = &wireEnd{failure: isDecode}
	)
	rows := []wireRow{
		{reason: "nothing came back, and it was not applied", fault: wireFault{network: faultproxy.Reset}, read: again, write: lost},
		{reason: "nothing came back, and it was applied", fault: wireFault{network: faultproxy.LostAnswer}, read: again, write: lost},
		{reason: "nothing came back in time, and it was applied", fault: wireFault{network: faultproxy.Stall}, read: again, write: lost},
		{reason: "it was applied, but what it made is not told", fault: wireFault{network: faultproxy.ResetAfterHeaders}, read: cut, write: torn, streamed: late},
		{reason: "it was applied, but what it made is told in part", fault: wireFault{network: faultproxy.CutMidBody}, read: cut, write: torn, streamed: late},
	}
	for _, status := range wireStatuses() {
		rows = append(rows, status.rows(-1)...)
		rows = append(rows, status.rows(7)...)
		if status.kind == deferred || status.kind == doubtful {
			rows = append(rows, status.rows(0)...)
		}
	}
	return rows
}

// wireStatus is a status that gets in the way of an answer.
type wireStatus struct {
	code      int
	sentinel  error
	kind      statusKind
	reason    string
	renewable bool
}

type statusKind int

const (
	final     statusKind = iota // Nothing was applied, and the same call would be refused again.
	deferred                    // Nothing was applied, and the same call may be taken the next time.
	doubtful                    // It may have been applied.
	elsewhere                   // It may have been applied, and the same call would be answered so again.
)

func wireStatuses() []wireStatus {
	return []wireStatus{
		{302, nil, elsewhere, "a gateway sends away, which a write never follows, and a read not to another host", false},
		{400, client.ErrBadRequest, final, "the service has said no", false},
		{401, client.ErrUnauthorized, final, "there is no other token", false},
		{401, client.ErrUnauthorized, deferred, "there is another token, which is tried once", true},
		{403, client.ErrForbidden, final, "the service or a filter has said no", false},
		{404, client.ErrNotFound, final, "the service has said no", false},
		{408, nil, doubtful, "a gateway gave up waiting", false},
		{409, client.ErrConflict, final, "the service has said no", false},
		{413, nil, final, "a gateway has said no", false},
		{422, nil, final, "the service has said no", false},
		{429, client.ErrRateLimited, deferred, "it was refused, so that a write may be sent again", false},
		{500, client.ErrServer, doubtful, "the service broke off, nobody knows where", false},
		{501, client.ErrServer, final, "it says that nothing was tried", false},
		{502, client.ErrServer, doubtful, "a gateway lost its backend", false},
		{503, client.ErrServer, doubtful, "overload can strike before the work or after it", false},
		{504, client.ErrServer, doubtful, "a gateway gave up waiting", false},
		{505, client.ErrServer, final, "it says that nothing was tried", false},
		{524, client.ErrServer, doubtful, "a gateway gave up waiting, and says so in a code of its own", false},
	}
}

// rows are those of the status with one Retry-After in seconds, or none if it is negative: 7 outlasts the policy,
// so that it ends the call.
func (s wireStatus) rows(retryAfter int) []wireRow {
	end := wireEnd{retried: s.kind == deferred || s.kind == doubtful, failure: isA[*client.APIError]}
	fault := wireFault{status: sandbox.Fault{Kind: sandbox.FaultStatus, Status: s.code}}
	switch {
	case s.kind == elsewhere:
		fault.header, fault.value = "Location", "http://elsewhere.invalid/v2/selling/listings"
	case retryAfter == 0:
		fault.header, fault.value = "Retry-After", "0"
	}
	if retryAfter > 0 {
		fault.status.RetryAfter = time.Duration(retryAfter) * time.Second
		end.retried, end.retryAfter = false, fault.status.RetryAfter
	}
	row := wireRow{reason: s.reason, fault: fault, renewable: s.renewable, sentinel: s.sentinel, read: end, write: end}
	if s.kind == final || s.kind == deferred {
		return []wireRow{row}
	}
	row.write.retried, row.write.unknown = false, true
	applied := row
	applied.fault.status.Applied = true
	return []wireRow{row, applied}
}

// Only the sandbox knows what was applied. The client sees no more than what a fault looks like from its side,
// and if anything that looks so hides a write that was applied, then the outcome is unknown.
func TestTheOutcomeOfAWriteIsUnknownExactlyWhenItMayHaveBeenApplied(t *testing.T) {
	look := func(f wireFault) wireFault {
		if f.network == faultproxy.LostAnswer {
			f.network = faultproxy.Reset
		}
		f.status.Applied = false
		return f
	}
	applied := map[wireFault]bool{}
	for _, row := range wireRows() {
		applied[look(row.fault)] = applied[look(row.fault)] || row.fault.delivered()
	}
	for _, row := range wireRows() {
		assert.Equal(t, applied[look(row.fault)], row.write.unknown, "%s: %s", row.fault, row.reason)
	}
}
