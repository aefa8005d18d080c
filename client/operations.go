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

// ListOperations yields the operations on a listing, with GET
// /selling/listings/{listingId}/operations. Pages work as in [Listings.List]. Errors: those of
// [Listings.ListOperationsPage], and [ErrPagingStuck].
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

// ListOperationsPage reads one page of a listing's operations with GET
// /selling/listings/{listingId}/operations. cursor is the NextCursor of the page before, "" for the
// first page. size is 1 to 100, or 0 for the service's default. The cursor may be the same for all
// pages. Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized], [DecodeError] also if a page
// with entries has no cursor.
func (s *Listings) ListOperationsPage(
	ctx context.Context, listingID, cursor string, size int,
) (*gen.ListingOperationPage, error) {
	params := &gen.ListListingOperationsParams{Cursor: set(cursor), PageSize: set(size)}
	return s.c.calls(checkPage(gen.OpListListingOperations, 0, size, 100)).ListListingOperations(ctx, listingID, params)
}

// GetOperation reads one operation with GET /selling/listings/{listingId}/operations/{operationId}.
// Errors: [ErrNotFound], [ErrBadRequest], [ErrUnauthorized].
func (s *Listings) GetOperation(ctx context.Context, listingID, operationID string) (*gen.ListingOperation, error) {
	operation, _, err := s.Operation(listingID, operationID).get(ctx)
	return operation, err
}

// Operation returns the handle of an operation by its ids, for example after a restart. It does no
// I/O.
func (s *Listings) Operation(listingID, operationID string) *Operation {
	return &Operation{c: s.c, listingID: listingID, operationID: operationID}
}

// Operation is a handle of one operation on a listing. It is safe for concurrent use.
type Operation struct {
	c                      *Client
	listingID, operationID string

	mu   sync.Mutex
	last gen.ListingOperation
}

// ID returns the operation's id.
func (o *Operation) ID() string { return o.operationID }

// ListingID returns the id of the operation's listing.
func (o *Operation) ListingID() string { return o.listingID }

// Snapshot returns the operation as last read. It is zero until the first poll of a handle from
// [Listings.Operation].
func (o *Operation) Snapshot() gen.ListingOperation {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// Done reports whether the last snapshot is final.
func (o *Operation) Done() bool { return statusOfOperation(o.Snapshot()).Terminal() }

// statusOfOperation returns the status in upper case, as the service documents it.
func statusOfOperation(o gen.ListingOperation) gen.OperationStatus {
	return gen.OperationStatus(strings.ToUpper(string(o.OperationStatus)))
}

// Poll reads the operation once. A failed poll does not change the snapshot.
func (o *Operation) Poll(ctx context.Context) (gen.ListingOperation, error) {
	_, _, err := o.get(ctx)
	return o.Snapshot(), err
}

func (o *Operation) get(ctx context.Context) (*gen.ListingOperation, http.Header, error) {
	call := o.c.newCall()
	operation, err := gen.Calls{Invoker: call}.GetListingOperation(ctx, o.listingID, o.operationID)
	if err != nil {
		return nil, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = *operation
	return operation, call.header, nil
}

// Wait polls until the operation has succeeded or failed and returns the same handle. A failed
// operation is an [OperationError]. When ctx ends, after 30 minutes if ctx has no deadline, or when
// a poll fails with a permanent error, the error is a [WaitError] with the last snapshot. Waiting
// again is harmless, and useful unless the error was permanent, such as [ErrNotFound]. An unknown
// status does not end the wait.
func (o *Operation) Wait(ctx context.Context, opts ...WaitOption) (*Operation, error) {
	w, err := newWaiting(o.c.waitOptions, opts)
	if err != nil {
		return o, err
	}
	err = w.waitUntil(ctx, IsTransient, func(ctx context.Context) (bool, http.Header, error) {
		if o.Done() {
			return true, nil, nil
		}
		_, header, err := o.get(ctx)
		return o.Done(), header, err
	})
	last := o.c.redactOperation(o.Snapshot())
	if err != nil && !statusOfOperation(last).Terminal() { // another goroutine may have read its end meanwhile
		return o, &WaitError{What: "operation", ID: o.c.redact(o.operationID, ""), Operation: &last, Err: err}
	}
	if statusOfOperation(last) == gen.OperationStatusFailed {
		return o, &OperationError{Operation: last}
	}
	return o, nil
}

// redactOperation removes the credentials from the parts of an operation that errors print.
func (c *Client) redactOperation(o gen.ListingOperation) gen.ListingOperation {
	o.ListingID, o.OperationID = c.redact(o.ListingID, ""), c.redact(o.OperationID, "")
	o.OperationType = gen.OperationType(c.redact(string(o.OperationType), ""))
	o.OperationStatus = gen.OperationStatus(c.redact(string(o.OperationStatus), ""))
	o.Error = gen.Reason(c.redact(string(o.Error), ""))
	return o
}

// OperationError reports an operation that ended in FAILED. Its ids, type, status and Error contain
// no credentials.
type OperationError struct{ Operation gen.ListingOperation }

func (e *OperationError) Error() string {
	o := e.Operation
	reason := cmp.Or(gen.OneLine(string(o.Error)), "no reason given")
	return fmt.Sprintf("%s of listing %s failed: %s (operation %s)",
		gen.OneLine(string(o.OperationType)), gen.OneLine(o.ListingID), reason, gen.OneLine(o.OperationID))
}

// FoundOperation is a result of [Listings.OperationsSince].
type FoundOperation struct {
	*Operation
	// Doubt is why the operation may not match the request, such as a missing createdAt; "" if it
	// certainly matches.
	Doubt string
}

// OperationsSince returns the operations of one type, or of all types if kind is "", that clients
// of the public API have started on a listing since a time of the service's clock, in no guaranteed
// order. It omits operations that certainly do not match: of another type, older, or started in an
// app, on the website or by an integration. It returns with a Doubt those whose createdAt, type,
// initiator or channel is missing or unknown, and those that the service started itself, which may
// be part of a batch. Package recovery uses it to settle writes. Errors: as
// [Listings.ListOperationsPage].
func (s *Listings) OperationsSince(
	ctx context.Context, listingID string, kind gen.OperationType, since time.Time,
) ([]FoundOperation, error) {
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

// doubtAbout reports whether an operation may match, and why that is not certain.
func doubtAbout(o gen.ListingOperation, kind gen.OperationType, since time.Time) (doubt string, ok bool) {
	switch {
	case kind != "" && o.OperationType != kind && o.OperationType.Valid(),
		!o.CreatedAt.IsZero() && o.CreatedAt.Before(since.Truncate(time.Millisecond)):
		return "", false
	}
	switch o.OperationInitiatedVia {
	case gen.OperationChannelIOS, gen.OperationChannelAndroid, gen.OperationChannelWeb,
		gen.OperationChannelScout, gen.OperationChannelShopify:
		return "", false
	}
	var doubts []string
	doubtful := func(member, value string) {
		doubts = append(doubts, fmt.Sprintf("%s is %q", member, gen.OneLine(value)))
	}
	if kind != "" && o.OperationType != kind || !o.OperationType.Valid() {
		doubtful("operationType", string(o.OperationType))
	}
	if o.OperationInitiatedBy != gen.OperationInitiatorUser {
		doubtful("operationInitiatedBy", string(o.OperationInitiatedBy))
	}
	if o.OperationInitiatedVia != gen.OperationChannelPublicAPI {
		doubtful("operationInitiatedVia", string(o.OperationInitiatedVia))
	}
	if o.CreatedAt.IsZero() {
		doubts = append(doubts, "createdAt is missing")
	}
	return strings.Join(doubts, ", "), true
}
