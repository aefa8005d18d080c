// Package change makes changes to listings, and finds out what became of each of them. It sends a
// change once, and reads the service if the response is lost.
package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Status is what became of a change.
type Status string

// The statuses.
const (
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"    // The service accepted it, and it failed.
	Refused   Status = "REFUSED"   // The service did not accept it. Nothing was changed.
	NotSent   Status = "NOT_SENT"  // Nothing was changed.
	NotSeen   Status = "NOT_SEEN"  // It was sent, and is proved not to have arrived.
	Submitted Status = "SUBMITTED" // The service accepted it, and its outcome was not read.
	Unknown   Status = "UNKNOWN"   // It may have been applied. Sending it again may apply it twice.
)

// ErrDryRun is the error of a request that was shown and not sent.
var ErrDryRun = errors.New("dry run: not sent")

// Result is a change and what became of it.
type Result struct {
	ListingID   string            `json:"listingId"`
	Change      gen.OperationType `json:"change"`
	Status      Status            `json:"status"`
	OperationID string            `json:"operationId,omitempty"`
	BatchID     string            `json:"batchId,omitempty"`
	Error       string            `json:"error,omitempty"` // Why it did not succeed, and what to do.
}

// Settings are the settings of changes.
type Settings struct {
	Client *client.Client
	Settle time.Duration // The longest time to look for a change whose response was lost.
	NoWait bool          // Do not wait until the service has completed a change.
	// Log prints a line while a change is under way.
	Log func(format string, args ...any)
}

// One is a change to one listing.
type One struct {
	Item gen.UpdateItem // The listing, and the terms that are sent.
	Type gen.OperationType
	Send func(context.Context) (*client.Operation, error)
}

// One sends a change to one listing. It returns an error with the result if no further change
// should be sent. The result is zero for invalid input and for a dry run.
func (s Settings) One(ctx context.Context, one One) (Result, error) {
	result := Result{ListingID: one.Item.ListingID, Change: one.Type}
	sentAt := time.Now()
	op, err := one.Send(ctx)
	switch {
	case op != nil: // also if the response is broken
		return s.wait(ctx, result, op)
	case !errors.Is(err, client.ErrOutcomeUnknown):
		return result.unsent(err), Stops(ctx, err)
	}
	s.Log("no response to the change of listing %s: reading its operations for up to %s", result.ListingID, s.Settle)
	verdict, err := recovery.SettleOperation(ctx, s.Client, one.Type, one.Item, sentAt, s.options())
	if err != nil {
		return result.unknown(err.Error()), err
	}
	if verdict.Kind != recovery.Landed {
		return result.judged(verdict), nil
	}
	return s.wait(ctx, result, verdict.Operation)
}

func (s Settings) options() recovery.Options { return recovery.Options{Settle: s.Settle} }

// wait waits until an operation has ended.
func (s Settings) wait(ctx context.Context, result Result, op *client.Operation) (Result, error) {
	result.ListingID, result.OperationID = op.ListingID(), op.ID()
	if s.NoWait {
		return result.submitted("not waited for"), nil
	}
	_, err := op.Wait(ctx)
	failed, isFailed := errors.AsType[*client.OperationError](err)
	switch {
	case err == nil:
		result.Status = Succeeded
		return result, nil
	case isFailed:
		result.Status, result.Error = Failed, reason(failed.Operation.Error)
		return result, nil
	default:
		return result.submitted(err.Error()), Stops(ctx, err)
	}
}

func reason(r gen.Reason) string {
	if r == "" {
		return "no reason given"
	}
	return string(r)
}

// submitted returns the result of a change that the service has accepted.
func (r Result) submitted(why string) Result {
	r.Status = Submitted
	r.Error = fmt.Sprintf("%s: read its outcome with sellside listings get %s --operation %s", why, r.ListingID, r.OperationID)
	return r
}

// unsent returns the result of a change that was not applied because of an error. Invalid input has
// no result.
func (r Result) unsent(err error) Result {
	if _, isInvalid := errors.AsType[*client.ArgumentError](err); isInvalid || errors.Is(err, ErrDryRun) {
		return Result{}
	}
	r.Status, r.Error = NotSent, err.Error()
	if _, ok := errors.AsType[*client.APIError](err); ok {
		r.Status = Refused
	}
	return r
}

// unknown returns the result of a change that may have been applied.
func (r Result) unknown(why string) Result {
	r.Status = Unknown
	r.Error = fmt.Sprintf("the change may have been applied (%s): read the listing with "+
		"sellside listings get %s --operations before you send it again", why, r.ListingID)
	return r
}

// judged returns the result of a change that has not landed.
func (r Result) judged(v recovery.Verdict) Result {
	if v.Kind != recovery.NotSeen {
		return r.unknown(v.String())
	}
	r.Status, r.Error = NotSeen, "the change did not reach the service: send it again"
	return r
}

// Stops returns the error after which no further change should be sent: it is not about the change
// but about the connection, the credentials or ctx.
func Stops(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, isRefused := errors.AsType[*client.APIError](err)
	concernsAll := errors.Is(err, client.ErrUnauthorized) || errors.Is(err, client.ErrForbidden) ||
		errors.Is(err, client.ErrRateLimited) || errors.Is(err, client.ErrServer)
	if errors.Is(err, ErrDryRun) || isRefused && !concernsAll {
		return nil
	}
	return err
}
