package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// ListOperations yields the operations performed on a listing with
// GET /selling/listings/{listingId}/operations (documented), page after page as the loop reaches them; each
// range starts anew. An error is the last thing yielded: those of [Listings.ListOperationsPage], and
// [ErrPagingStuck].
func (s *Listings) ListOperations(ctx context.Context, listingID string) iter.Seq2[gen.ListingOperation, error] {
	id := func(o *gen.ListingOperation) string { return o.OperationID }
	return byCursor(gen.OpListListingOperations, id, func(cursor string) (page[gen.ListingOperation], error) {
		p, err := s.ListOperationsPage(ctx, listingID, cursor, 100)
		if err != nil {
			return page[gen.ListingOperation]{}, err
		}
		return page[gen.ListingOperation]{entries: p.Operations, cursor: p.NextCursor}, nil
	})
}

// ListOperationsPage reads one page of a listing's operations with GET /selling/listings/{listingId}/operations
// (documented). The cursor is the NextCursor of the page before, "" for the first; the size is 1 to 100, or 0 for
// the service's default. A cursor may be the same for all pages. Errors: [ArgumentError], [ErrBadRequest],
// [ErrUnauthorized], [DecodeError] also if a page with entries leaves its cursor out.
func (s *Listings) ListOperationsPage(ctx context.Context, listingID, cursor string, size int) (*gen.ListingOperationPage, error) {
	const op = gen.OpListListingOperations
	params := &gen.ListListingOperationsParams{Cursor: set(cursor), PageSize: set(size)}
	return do2[gen.ListingOperationPage](ctx, s.c, op, s.c.low.ListListingOperations, listingID, params, checkPage(op, 0, size, 100))
}

// GetOperation reads one operation with GET /selling/listings/{listingId}/operations/{operationId}
// (documented). Errors: [ErrNotFound], [ErrBadRequest], [ErrUnauthorized].
func (s *Listings) GetOperation(ctx context.Context, listingID, operationID string) (*gen.ListingOperation, error) {
	answer, _, err := s.Operation(listingID, operationID).get(ctx)
	return answer, err
}

// Operation returns the handle of an operation by its ids, for instance after a restart. It does no I/O.
func (s *Listings) Operation(listingID, operationID string) *Operation {
	return &Operation{c: s.c, listingID: listingID, operationID: operationID}
}

// Operation follows one operation on a listing to its end. It is safe for concurrent use.
type Operation struct {
	c                      *Client
	listingID, operationID string

	mu   sync.Mutex
	last gen.ListingOperation
}

// ID returns the operation's id.
func (o *Operation) ID() string { return o.operationID }

// ListingID returns the id of the listing that the operation is about.
func (o *Operation) ListingID() string { return o.listingID }

// Snapshot returns the operation as it was last read; it is zero after OpenOperation until the first poll.
func (o *Operation) Snapshot() gen.ListingOperation {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// Done reports whether the last snapshot is final.
func (o *Operation) Done() bool { return o.Snapshot().OperationStatus.Terminal() }

// Poll reads the operation once. A failed poll leaves the snapshot as it was.
func (o *Operation) Poll(ctx context.Context) (gen.ListingOperation, error) {
	_, _, err := o.get(ctx)
	return o.Snapshot(), err
}

func (o *Operation) get(ctx context.Context) (*gen.ListingOperation, http.Header, error) {
	call := newCall(gen.OpGetListingOperation, o.listingID, o.operationID)
	answer, err := do[gen.ListingOperation](ctx, o.c, call, func(ctx context.Context) (*http.Response, error) {
		return o.c.low.GetListingOperation(ctx, o.listingID, o.operationID)
	})
	if err != nil {
		return nil, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = *answer
	return answer, call.header, nil
}

// Wait polls until the operation has succeeded or failed and returns the same handle. A failed operation is
// an [OperationError]. When ctx ends, or after 30 minutes if it has no deadline, or when polling fails for
// good, the error is a [WaitError] that keeps the last snapshot; the operation goes on all the same, and
// waiting again is harmless. A status that this module does not know is not an end.
func (o *Operation) Wait(ctx context.Context, opts ...WaitOption) (*Operation, error) {
	err := waitUntil(ctx, opts, IsTransient, func(ctx context.Context) (bool, http.Header, error) {
		if o.Done() {
			return true, nil, nil
		}
		_, header, err := o.get(ctx)
		return o.Done(), header, err
	})
	last := o.c.redactOperation(o.Snapshot())
	if err != nil && !last.OperationStatus.Terminal() { // another who waits may have seen its end meanwhile
		return o, &WaitError{What: "operation", ID: o.c.redact(o.operationID, ""), Operation: &last, Err: err}
	}
	if last.OperationStatus == gen.OperationStatusFailed {
		return o, &OperationError{Operation: last}
	}
	return o, nil
}

// redactOperation takes the credentials out of what errors print of an operation.
func (c *Client) redactOperation(o gen.ListingOperation) gen.ListingOperation {
	o.ListingID, o.OperationID = c.redact(o.ListingID, ""), c.redact(o.OperationID, "")
	o.OperationType = gen.OperationType(c.redact(string(o.OperationType), ""))
	o.OperationStatus = gen.OperationStatus(c.redact(string(o.OperationStatus), ""))
	o.Error = gen.Reason(c.redact(string(o.Error), ""))
	return o
}

// OperationError reports an operation that ended in FAILED. The credentials are taken out of its ids, its type, its
// status and its reason, Error.
type OperationError struct{ Operation gen.ListingOperation }

func (e *OperationError) Error() string {
	o := e.Operation
	reason := cmp.Or(gen.OneLine(string(o.Error)), "the service gives no reason")
	return fmt.Sprintf("%s of listing %s failed: %s (operation %s)",
		gen.OneLine(string(o.OperationType)), gen.OneLine(o.ListingID), reason, gen.OneLine(o.OperationID))
}

// FoundOperation is an operation that [Listings.OperationsSince] has found.
type FoundOperation struct {
	*Operation
	// Doubt is why it is not certain that the operation is one that was asked for, such as a
	// missing createdAt; "" if it is certain.
	Doubt string
}

// OperationsSince finds the operations of one type, or of every type if it is "", that a client of
// the public API has started on a listing since a moment, by the service's clock, in no promised
// order. What certainly is another operation is left out: of another type, from before, or started in
// an app, on the website or by an integration. What cannot be placed is kept with its Doubt: the
// service leaves out when, by whom or how it was started, says it in words that this module does not
// know, or started it itself, as it may do to work off a batch. Package recovery settles writes by
// it. Errors: as [Listings.ListOperationsPage].
func (s *Listings) OperationsSince(ctx context.Context, listingID string, kind gen.OperationType, since time.Time) ([]FoundOperation, error) {
	var found []FoundOperation
	for o, err := range s.ListOperations(ctx, listingID) {
		if err != nil {
			return nil, err
		}
		doubt, ok := doubtAbout(o, kind, since)
		if !ok {
			continue
		}
		handle := s.Operation(listingID, o.OperationID)
		handle.last = o
		found = append(found, FoundOperation{handle, doubt})
	}
	return found, nil
}

// doubtAbout reports whether an operation may be one that was asked for, and why that is not certain.
func doubtAbout(o gen.ListingOperation, kind gen.OperationType, since time.Time) (doubt string, ok bool) {
	switch {
	case kind != "" && o.OperationType != kind && o.OperationType.Valid(),
		!o.CreatedAt.IsZero() && o.CreatedAt.Before(since.Truncate(time.Millisecond)):
		return "", false
	}
	switch o.OperationInitiatedVia {
	case gen.OperationChannelIOS, gen.OperationChannelAndroid, gen.OperationChannelWeb, gen.OperationChannelScout, gen.OperationChannelShopify:
		return "", false
	}
	var doubts []string
	if kind != "" && o.OperationType != kind || !o.OperationType.Valid() {
		doubts = append(doubts, fmt.Sprintf("operationType is %q", gen.OneLine(string(o.OperationType))))
	}
	if o.OperationInitiatedBy != gen.OperationInitiatorUser {
		doubts = append(doubts, fmt.Sprintf("operationInitiatedBy is %q", gen.OneLine(string(o.OperationInitiatedBy))))
	}
	if o.OperationInitiatedVia != gen.OperationChannelPublicAPI {
		doubts = append(doubts, fmt.Sprintf("operationInitiatedVia is %q", gen.OneLine(string(o.OperationInitiatedVia))))
	}
	if o.CreatedAt.IsZero() {
		doubts = append(doubts, "createdAt is missing")
	}
	return strings.Join(doubts, ", "), true
}
