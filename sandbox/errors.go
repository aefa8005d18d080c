package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// statusError is an error with the status it is answered with.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

func badRequest(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func notFound(what, id string) error {
	return &statusError{http.StatusNotFound, fmt.Sprintf("there is no %s %.80q", what, id)}
}

// answerTo finds the answer to an error. A request that is refused in the
// present state of things is answered 400: no operation declares a 409.
func answerTo(err error) *statusError {
	var a *statusError
	var mistake *selling.Error
	switch {
	case errors.As(err, &a):
		return a
	case errors.As(err, &mistake):
		message := mistake.Text
		if mistake.Field != "" {
			message = "/" + mistake.Field + ": " + message
		}
		if errors.Is(mistake, selling.ErrNotFound) {
			return &statusError{http.StatusNotFound, message}
		}
		return &statusError{http.StatusBadRequest, message}
	default:
		return &statusError{http.StatusInternalServerError, "the sandbox failed; its log says why"}
	}
}

// abortIfGone ends a request whose caller has gone away, as net/http ends it:
// without an answer.
func abortIfGone(r *http.Request) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
}

// writeError answers with the body that every error has.
func writeError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone; there is nobody else to tell.
	_ = json.NewEncoder(w).Encode(wire.PublicAPIError{StatusCode: status, Message: message})
}
