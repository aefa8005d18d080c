package client

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// statusError is the sentinel of one or more statuses of an [APIError].
type statusError struct {
	text        string
	first, last int
}

func (c *statusError) Error() string { return c.text }

// Sentinels for [errors.Is]. The first seven stand for statuses of an [APIError].
var (
	ErrBadRequest   error = &statusError{"bad request", 400, 400}
	ErrUnauthorized error = &statusError{"unauthorized", 401, 401}
	ErrForbidden    error = &statusError{"forbidden", 403, 403}
	ErrNotFound     error = &statusError{"not found", 404, 404}
	ErrConflict     error = &statusError{"conflict", 409, 409}
	ErrRateLimited  error = &statusError{"rate limited", 429, 429}
	ErrServer       error = &statusError{"server error", 500, 599}

	// ErrOutcomeUnknown marks a write that the service may have applied although no response
	// confirms it. Never send the write again blindly: read the listing and its operations, or the
	// listings of the batch, and compare. Package recovery does that.
	ErrOutcomeUnknown = errors.New("the outcome of the write is unknown")
	// ErrInvalidArgument marks input that was refused before any I/O; see [ArgumentError].
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrTooManyItems marks a batch that is larger than the service accepts.
	ErrTooManyItems = errors.New("too many items in one batch")
	// ErrPagingStuck marks a list that promises more pages but sends the same page again, or three
	// pages in a row without a new entry.
	ErrPagingStuck = errors.New("the list sends no new entries")
	// ErrBodyTooLarge marks a body beyond 16 MiB, or an error body beyond 64 KiB from [Client.Raw].
	ErrBodyTooLarge = errors.New("the body is too large")
)

// CallInfo identifies the call that an error is about.
type CallInfo struct {
	Operation gen.OperationID // Such as GetListing.
	Method    string          // Such as GET.
	Route     string          // Such as /selling/listings/{listingId}, without ids.
	Attempts  int             // Requests sent; zero only if the call was refused before any I/O.

	// OutcomeUnknown reports whether the call is a write that may have been applied. The error then
	// also Is ErrOutcomeUnknown.
	OutcomeUnknown bool
}

// attemptsNote says how many requests were sent, if there were several.
func (i CallInfo) attemptsNote() string {
	if i.Attempts > 1 {
		return fmt.Sprintf(" after %d attempts", i.Attempts)
	}
	return ""
}

// isWrite reports whether the call may change anything on the service.
func (i CallInfo) isWrite() bool { return i.Method != "" && i.Method != http.MethodGet }

// outcomeNote ends the text of an error whose write may have been applied.
func (i CallInfo) outcomeNote() string {
	if i.OutcomeUnknown {
		return fmt.Sprintf("; %s: read the current state before you send the write again", ErrOutcomeUnknown)
	}
	return ""
}

// APIError is a response other than 2xx.
type APIError struct {
	CallInfo
	StatusCode int           // The HTTP status, whatever the body says.
	Message    string        // The service's message, or the status text. Show it; never match on it.
	RequestID  string        // The service's id of the request, if the response has one.
	RetryAfter time.Duration // The pause that the service requested; zero if it requested none.
	Body       []byte        // Up to 64 KiB of the body, with the credentials removed.
}

func (e *APIError) Error() string {
	s := fmt.Sprintf("%s: %d %s", e.Operation, e.StatusCode, e.Message)
	if e.StatusCode/100 == 3 {
		s += " (redirect not followed)"
	}
	s += e.attemptsNote()
	if e.RequestID != "" {
		s += " (request " + e.RequestID + ")"
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf(" (retry after %s)", e.RetryAfter)
	}
	return s + e.outcomeNote()
}

// Is matches the sentinel of the status, and [ErrOutcomeUnknown].
func (e *APIError) Is(target error) bool {
	if class, ok := target.(*statusError); ok {
		return class.first <= e.StatusCode && e.StatusCode <= class.last
	}
	return target == ErrOutcomeUnknown && e.OutcomeUnknown
}

// TransportError reports a call without a response: the connection failed, the attempt timed out
// ([ErrAttemptTimeout]), or ctx ended. If ctx ended before the first attempt, Attempts is zero. A
// write whose OutcomeUnknown is false was not sent, and is safe to send again.
type TransportError struct {
	CallInfo
	Err error
}

func (e *TransportError) Error() string {
	what, note := "no response", e.outcomeNote()
	if e.Attempts == 0 || e.isWrite() && !e.OutcomeUnknown {
		what = "not sent"
	}
	if e.isWrite() && !e.OutcomeUnknown {
		note = "; the write is safe to send again"
	}
	return fmt.Sprintf("%s: %s%s: %s%s", e.Operation, what, e.attemptsNote(), oneLine(e.Err), note)
}

// Is matches [ErrOutcomeUnknown].
func (e *TransportError) Is(target error) bool {
	return target == ErrOutcomeUnknown && e.OutcomeUnknown
}

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Err }

// DecodeError reports a success whose body is not the response: the body is incomplete or too
// large, is not the operation's JSON, or lacks a required member, such as the requested id. If the
// call is a write, it has probably been applied, and the error also Is [ErrOutcomeUnknown]; if Body
// contains the id of what the write created, the method returns a handle beside the error.
type DecodeError struct {
	CallInfo
	StatusCode int
	Body       []byte // Up to 64 KiB of the received part, with the credentials removed.
	Err        error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%s: read response (status %d)%s: %s%s",
		e.Operation, e.StatusCode, e.attemptsNote(), oneLine(e.Err), e.outcomeNote())
}

// Is matches [ErrOutcomeUnknown].
func (e *DecodeError) Is(target error) bool { return target == ErrOutcomeUnknown && e.OutcomeUnknown }

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// oneLine returns the text of an error as one short line. Joined errors have a line each, and
// errors of net/http may quote the peer.
func oneLine(err error) string {
	return gen.OneLine(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// joinErrors is [errors.Join] with a text of one line; a single error is returned as it is.
func joinErrors(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	default:
		return &joinedError{errors.Join(errs...)}
	}
}

type joinedError struct{ errs error }

func (e *joinedError) Error() string { return strings.ReplaceAll(e.errs.Error(), "\n", "; ") }

func (e *joinedError) Unwrap() error { return e.errs }

// ArgumentError reports input that was refused before any I/O. It Is [ErrInvalidArgument].
type ArgumentError struct {
	Operation gen.OperationID
	Field     string // Such as items[3].amount.
	Problem   string // What is wrong with the field, and what is required.
	kind      error
}

// invalid returns an [ArgumentError] whose Problem is a formatted text.
func invalid(op gen.OperationID, field, format string, args ...any) error {
	return &ArgumentError{Operation: op, Field: field, Problem: fmt.Sprintf(format, args...)}
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Operation, e.Field, e.Problem)
}

// Is matches [ErrInvalidArgument], and [ErrTooManyItems] where that is the problem.
func (e *ArgumentError) Is(target error) bool {
	return target == ErrInvalidArgument || e.kind != nil && target == e.kind
}
