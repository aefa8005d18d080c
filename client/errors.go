package client

import (
	"errors"
	"fmt"
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
	ErrServer       error = &statusError{"the service failed", 500, 599}

	// ErrOutcomeUnknown marks a write that the service may have applied although no answer says so. Never
	// send it again blindly: read the listing and its operations, or the batch's listings, and compare.
	ErrOutcomeUnknown = errors.New("the outcome of the write is unknown")
	// ErrInvalidArgument marks input that was refused before any I/O; see [ArgumentError].
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrTooManyItems marks a batch that is larger than the service takes.
	ErrTooManyItems = errors.New("too many items in one batch")
	// ErrPagingStuck marks a list that promises more, but sends the same page again or three pages without anything new.
	ErrPagingStuck = errors.New("paging does not move on")
	// ErrBodyTooLarge marks a body beyond 16 MiB, or beyond 64 KiB of an error that [Client.Raw] returns.
	ErrBodyTooLarge = errors.New("the body is too large")
)

// CallInfo says which call an error is about.
type CallInfo struct {
	Operation gen.OperationID // Such as GetListing.
	Method    string          // Such as GET.
	Route     string          // Such as /selling/listings/{listingId}; ids are left out.
	Attempts  int             // Requests sent, 1 or more unless the call was refused before any I/O.

	// OutcomeUnknown tells that the call is a write that may have been applied; the error also Is ErrOutcomeUnknown.
	OutcomeUnknown bool
}

// verdict ends the text of an error whose write may have been applied.
func (i CallInfo) verdict() string {
	if i.OutcomeUnknown {
		return "; " + ErrOutcomeUnknown.Error() + ": read before you send it again"
	}
	return ""
}

// APIError is an answer of the service other than 2xx.
type APIError struct {
	CallInfo
	StatusCode int           // The HTTP status, whatever the body says.
	Message    string        // The service's words, or the status text. Prose: show it, never match on it.
	RequestID  string        // The service's id of the request, if it gave one.
	RetryAfter time.Duration // How long the service asked to wait; zero if it did not.
	Body       []byte        // The body as it came, up to 64 KiB, with the credentials taken out.
}

func (e *APIError) Error() string {
	s := fmt.Sprintf("%s: %d %s", e.Operation, e.StatusCode, e.Message)
	if e.RequestID != "" {
		s += " (request " + e.RequestID + ")"
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf(" (retry after %s)", e.RetryAfter)
	}
	return s + e.verdict()
}

// Is matches the sentinel of the status, and [ErrOutcomeUnknown].
func (e *APIError) Is(target error) bool {
	if class, ok := target.(*statusError); ok {
		return class.first <= e.StatusCode && e.StatusCode <= class.last
	}
	return target == ErrOutcomeUnknown && e.OutcomeUnknown
}

// TransportError reports that no answer came: the connection failed, the attempt timed out, or ctx ended, which
// [errors.Is] tells. If ctx ended before the first attempt, Attempts is zero.
type TransportError struct {
	CallInfo
	Err error
}

func (e *TransportError) Error() string {
	what := []string{"not sent", "no answer"}[min(e.Attempts, 1)]
	return fmt.Sprintf("%s: %s: %s%s", e.Operation, what, oneLine(e.Err), e.verdict()) // net/http quotes what came
}

// Is matches [ErrOutcomeUnknown].
func (e *TransportError) Is(target error) bool {
	return target == ErrOutcomeUnknown && e.OutcomeUnknown
}

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Err }

// DecodeError reports a success whose body is not the response: it broke off, it was too large, it is not the JSON
// that the operation responds with, or it lacks what a response must hold, such as the id that was asked for. A write of
// this kind has probably been applied, so that it also Is [ErrOutcomeUnknown]; if Body still shows the id of what it
// made, the method returns that beside the error.
type DecodeError struct {
	CallInfo
	StatusCode int
	Body       []byte // The body as far as it came, up to 64 KiB, with the credentials taken out.
	Err        error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%s: read the response (%d): %s%s", e.Operation, e.StatusCode, oneLine(e.Err), e.verdict())
}

// Is matches [ErrOutcomeUnknown].
func (e *DecodeError) Is(target error) bool { return target == ErrOutcomeUnknown && e.OutcomeUnknown }

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// oneLine returns the text of an error as one short line: joined errors have a line each, and some quote what came.
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
	Problem   string // What is wrong with it and what is wanted.
	kind      error
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Operation, e.Field, e.Problem)
}

// Is matches [ErrInvalidArgument], and [ErrTooManyItems] where that is the problem.
func (e *ArgumentError) Is(target error) bool {
	return target == ErrInvalidArgument || e.kind != nil && target == e.kind
}
