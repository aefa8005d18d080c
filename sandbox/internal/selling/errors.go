package selling

import (
	"errors"
	"fmt"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Reasons of an Error.
var (
	// ErrInvalid reports that a request makes no sense.
	ErrInvalid = errors.New("invalid")
	// ErrNotFound reports that a request is about something that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrRefused reports that a request is not possible in the current state.
	ErrRefused = errors.New("refused")
)

// Error is a mistake of a seller. Its message is for the seller; it becomes the error of an item or
// an operation.
type Error struct {
	Reason error  // ErrInvalid, ErrNotFound or ErrRefused
	Field  string // the member of the request that is wrong; may be empty
	Text   string
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Reason }

func invalid(field, format string, args ...any) *Error {
	return &Error{Reason: ErrInvalid, Field: field, Text: fmt.Sprintf(format, args...)}
}

func refused(format string, args ...any) *Error {
	return &Error{Reason: ErrRefused, Text: fmt.Sprintf(format, args...)}
}

// lookup returns the error of looking something up by id, with store.ErrNotFound as an Error.
func lookup(err error, what, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return &Error{Reason: ErrNotFound, Text: fmt.Sprintf("%s (%.80q): not found", what, id)}
	}
	return err
}

// split separates the mistakes of sellers, which become the text of an item or an operation, from
// failures of the sandbox.
func split(err error) (mistake string, failure error) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Text, nil
	}
	return "", err
}
