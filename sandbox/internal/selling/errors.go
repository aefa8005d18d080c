package selling

import (
	"errors"
	"fmt"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Reasons of an Error.
var (
	// ErrInvalid: the request asks for something that makes no sense.
	ErrInvalid = errors.New("invalid")
	// ErrNotFound: the request is about something that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrRefused: the request makes sense, but not in the present state.
	ErrRefused = errors.New("refused")
)

// Error is a mistake of the seller's. Its message is meant for the seller; as
// the error of an item or an operation it is all there is to see.
type Error struct {
	Reason error  // ErrInvalid, ErrNotFound or ErrRefused
	Field  string // the member of the request that is to blame; may be empty
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

// found turns the store's ErrNotFound into one that names what is missing.
func found(err error, what, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return &Error{Reason: ErrNotFound, Text: fmt.Sprintf("there is no %s %.80q", what, id)}
	}
	return err
}

// mistake separates the seller's mistakes, whose text is the error of an item or
// an operation, from failures of the sandbox itself.
func mistake(err error) (text string, failure error) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Text, nil
	}
	return "", err
}
