package client_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// statusKind is what a status says of a request.
type statusKind int

const (
	final     statusKind = iota // Nothing was applied, and the same request would be refused again.
	deferred                    // Nothing was applied, and the same request may be accepted the next time.
	doubtful                    // It may have been applied.
	elsewhere                   // It may have been applied, and the same request would get the same response.
)

// statusRow is a status in place of the response that was due.
type statusRow struct {
	code       int
	sentinel   error
	kind       statusKind
	reason     string
	renewable  bool // Whether another token can be had than the first.
	retryAfter int  // In seconds; none if it is negative. 7 outlasts the policy, so that it ends the call.
	applied    bool
}

// statusRows has every status once for each way in which it can come: what may hide a write that was applied comes once
// when it was and once when it was not.
func statusRows() []statusRow {
	var rows []statusRow
	for _, row := range []statusRow{
		{code: 302, kind: elsewhere, reason: "a gateway redirects: a write is not redirected, a read not to another host"},
		{code: 400, sentinel: client.ErrBadRequest, kind: final, reason: "the service refuses"},
		{code: 401, sentinel: client.ErrUnauthorized, kind: final, reason: "there is no other token"},
		{code: 401, sentinel: client.ErrUnauthorized, kind: deferred, reason: "there is another token, which is tried once", renewable: true},
		{code: 403, sentinel: client.ErrForbidden, kind: final, reason: "the service or a filter refuses"},
		{code: 404, sentinel: client.ErrNotFound, kind: final, reason: "the service refuses"},
		{code: 408, kind: doubtful, reason: "a gateway gave up waiting"},
		{code: 409, sentinel: client.ErrConflict, kind: final, reason: "the service refuses"},
		{code: 413, kind: final, reason: "a gateway refuses"},
		{code: 422, kind: final, reason: "the service refuses"},
		{code: 429, sentinel: client.ErrRateLimited, kind: deferred, reason: "it was refused, so that a write may be sent again"},
		{code: 500, sentinel: client.ErrServer, kind: doubtful, reason: "the service broke off, and does not say where"},
		{code: 501, sentinel: client.ErrServer, kind: final, reason: "it says that nothing was tried"},
		{code: 502, sentinel: client.ErrServer, kind: doubtful, reason: "a gateway lost its backend"},
		{code: 503, sentinel: client.ErrServer, kind: doubtful, reason: "overload can come before the work or after it"},
		{code: 504, sentinel: client.ErrServer, kind: doubtful, reason: "a gateway gave up waiting"},
		{code: 505, sentinel: client.ErrServer, kind: final, reason: "it says that nothing was tried"},
		{code: 524, sentinel: client.ErrServer, kind: doubtful, reason: "a gateway gave up waiting, with a code of its own"},
	} {
		for _, row.retryAfter = range []int{-1, 0, 7} {
			for _, row.applied = range []bool{false, true} {
				if !row.applied || row.kind == doubtful || row.kind == elsewhere {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// ending is an exchange with the status of the row.
func (row statusRow) ending() http1Ending {
	name := fmt.Sprintf("%d, applied %t", row.code, row.applied)
	header := "Location: http://elsewhere.invalid/v2/selling/listings\r\n"
	if row.retryAfter >= 0 {
		name += fmt.Sprintf(", Retry-After %d", row.retryAfter)
		header += fmt.Sprintf("Retry-After: %d\r\n", row.retryAfter)
	}
	if row.renewable {
		name += ", another token"
	}
	return http1Ending{name: name, delivered: row.applied, status: row.code, end: func(x *http1Exchange) bool {
		if row.applied {
			x.apply()
		} else {
			x.read()
		}
		x.send(fmt.Sprintf("HTTP/1.1 %d Status\r\n%sContent-Length: 2\r\n\r\n{}", row.code, header))
		return true
	}}
}

// TestHTTP1_StatusesFollowTheTable has writes of every kind and reads meet every status: once, so that a repeated call
// succeeds, and each time, so that its error is seen.
func TestHTTP1_StatusesFollowTheTable(t *testing.T) {
	rows := statusRows()
	s := openSocketService(t, 2*len(rows))
	t.Run("statuses", func(t *testing.T) {
		for _, row := range rows {
			t.Run(row.ending().name, func(t *testing.T) {
				t.Parallel()
				for _, faults := range []int32{1, 2} {
					for _, op := range http1Writes {
						s.meetStatus(t, row, &trial{call: s.writes[op](), faults: faults})
					}
					for _, call := range slices.Collect(maps.Values(s.reads)) {
						s.meetStatus(t, row, &trial{call: call(), faults: faults})
					}
				}
			})
		}
	})
	s.assertApplied(t)
}

func (s *socketService) meetStatus(t *testing.T, row statusRow, tr *trial) {
	t.Helper()
	token := socketToken()
	if row.renewable {
		token = client.WithTokenSource(&twoTokens{})
	}
	run := s.prepareHTTP1(t, row.ending(), http1Setting{}, tr, token)
	run.finish(t.Context())

	read := tr.call.op.RetrySafe
	retried := (row.kind == deferred || row.kind == doubtful && read) && row.retryAfter < 7
	unknown := (row.kind == doubtful || row.kind == elsewhere) && !read
	requests := 1
	if retried {
		requests = 2
	}
	what := fmt.Sprintf("%s: %s: %v", tr, row.reason, run.err)
	assert.EqualValues(t, requests, tr.seen.Load(), what)
	assert.EqualValues(t, requests, run.attempts.Load(), what)
	if !read {
		assert.Equal(t, row.applied || retried && tr.faults == 1, tr.applied.Load() == 1, what)
		run.assertStatement(t, run.err)
	}
	if retried && tr.faults == 1 {
		assert.NoError(t, run.err, what)
		return
	}
	failed, ok := errors.AsType[*client.APIError](run.err)
	if !assert.True(t, ok, what) {
		return
	}
	op := tr.call.op
	info := client.CallInfo{Operation: op.ID, Method: op.Method, Route: op.Route, Attempts: requests, OutcomeUnknown: unknown}
	assert.Equal(t, info, failed.CallInfo, what)
	assert.Equal(t, row.code, failed.StatusCode, what)
	assert.Equal(t, time.Duration(max(row.retryAfter, 0))*time.Second, failed.RetryAfter, what)
	assert.Equal(t, unknown, errors.Is(run.err, client.ErrOutcomeUnknown), what)
	for _, sentinel := range []error{
		client.ErrBadRequest, client.ErrUnauthorized, client.ErrForbidden, client.ErrNotFound,
		client.ErrConflict, client.ErrRateLimited, client.ErrServer,
	} {
		assert.Equal(t, sentinel == row.sentinel, errors.Is(run.err, sentinel), "Is %v: %s", sentinel, what) //nolint:errorlint // which of them it is
	}
}

// TestHTTP1Writes_StandForEveryWrite finds kinds of writes that are missing from the table.
func TestHTTP1Writes_StandForEveryWrite(t *testing.T) {
	type kind struct {
		method string
		body   bool
	}
	kinds := map[kind]bool{}
	for _, id := range http1Writes {
		op, _ := gen.LookupOperation(id)
		kinds[kind{op.Method, clienttest.RequestExampleOf(op.ID) != nil}] = true
	}
	for _, op := range gen.Operations() {
		if !op.RetrySafe {
			assert.True(t, kinds[kind{op.Method, clienttest.RequestExampleOf(op.ID) != nil}], op.ID)
		}
	}
}
