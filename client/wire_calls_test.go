package client_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
)

// The typed call of every operation meets every fault on its way to the sandbox: once, so that a repeated call
// succeeds, and each time, so that its error is seen. In the end the sandbox shows what was done.
func TestEveryOperationKeepsTheRetryTableOnTheWire(t *testing.T) {
	market := openWireMarket(t)
	t.Run("calls", func(t *testing.T) {
		for _, row := range wireRows() {
			t.Run(row.name(), func(t *testing.T) {
				t.Parallel()
				row.meet(t, market)
			})
		}
	})
	market.assertApplied(t)
}

func (row wireRow) name() string {
	if row.renewable {
		return row.fault.String() + " and another token"
	}
	return row.fault.String()
}

// meet makes all calls of a row at once, so that those of a stalling one wait together.
func (row wireRow) meet(t *testing.T, market *wireMarket) {
	t.Helper()
	var wg sync.WaitGroup
	for _, op := range gen.Operations() {
		end := row.write
		switch {
		case op.ID == gen.OpGetShippingDocument && row.streamed != nil:
			end = *row.streamed
		case op.RetrySafe:
			end = row.read
		}
		for faults := 1; faults == 1 || faults == 2 && end.retried; faults++ {
			e := encounter{wireRow: row, op: op, faults: faults, want: end}
			wg.Go(func() { e.run(t, market) })
		}
	}
	wg.Wait()
}

// encounter is one call that meets the fault of its row so many times.
type encounter struct {
	wireRow
	op     gen.Operation
	faults int
	want   wireEnd
}

// sent is how many requests of the call go out, and delivered how many of them the service sees.
func (e encounter) sent() (sent, delivered int) {
	sent = 1
	if e.want.retried {
		sent = 2
	}
	if e.fault.delivered() {
		return sent, sent
	}
	return sent, sent - min(sent, e.faults)
}

func (e encounter) run(t *testing.T, market *wireMarket) {
	t.Helper()
	sent, delivered := e.sent()
	call, way := market.calls[e.op.ID](), &wireWay{t: t, market: market, encounter: e}
	p, err := faultproxy.Start(way, way.connect)
	if !assert.NoError(t, err) {
		return
	}
	defer p.Close()
	timeout := 30 * time.Second
	if e.fault.network == faultproxy.Stall {
		timeout = 2 * time.Second
	}
	var opts []client.Option
	if e.renewable {
		opts = append(opts, client.WithTokenSource(&twoTokens{}))
	}
	c, done := wireClient(t, p.URL(), patience(timeout), opts...)
	defer done()

	err = call.do(t.Context(), c)

	what := string(e.op.ID) + " meets " + e.name() + ": " + e.reason
	assert.Equal(t, sent, p.Requests(), "requests: %s", what)
	assert.Equal(t, delivered, int(way.seen.Load()), "requests that the service saw: %s", what)
	e.assertEnd(t, what, err)
	if !e.op.RetrySafe {
		assertSafe(t, what, err, int(way.accepted.Load()))
		market.expect(what, call, delivered)
	}
}

func (e encounter) assertEnd(t *testing.T, what string, err error) {
	t.Helper()
	if e.want.retried && e.faults == 1 {
		assert.NoError(t, err, "the second answer is whole: %s", what)
		return
	}
	if !assert.Error(t, err, what) {
		return
	}
	assert.True(t, e.want.failure(err), "%s: %T: %v", what, err, err)
	for _, sentinel := range []error{
		client.ErrBadRequest, client.ErrUnauthorized, client.ErrForbidden, client.ErrNotFound,
		client.ErrConflict, client.ErrRateLimited, client.ErrServer,
	} {
		assert.Equal(t, sentinel == e.sentinel, errors.Is(err, sentinel), "%s: Is %v: %v", what, sentinel, err) //nolint:errorlint // which of them it is
	}
	assert.Equal(t, e.want.unknown, errors.Is(err, client.ErrOutcomeUnknown), "%s: %v", what, err)
	if answered, ok := errors.AsType[*client.APIError](err); ok {
		sent, _ := e.sent()
		assert.Equal(t, client.CallInfo{Operation: e.op.ID, Method: e.op.Method, Route: e.op.Route, Attempts: sent, OutcomeUnknown: e.want.unknown}, answered.CallInfo)
		assert.Equal(t, e.fault.status.Status, answered.StatusCode, what)
		assert.Equal(t, e.want.retryAfter, answered.RetryAfter, what)
	}
}

// assertSafe holds a write to what the retry table is for, whatever its row says.
func assertSafe(t *testing.T, what string, err error, accepted int) {
	t.Helper()
	switch {
	case err == nil:
		assert.Equal(t, 1, accepted, "a success was applied once: %s", what)
	case errors.Is(err, client.ErrOutcomeUnknown):
		assert.LessOrEqual(t, accepted, 1, "nothing is applied twice: %s", what)
	default:
		assert.Zero(t, accepted, "what fails for certain was not applied: %s", what)
	}
}
