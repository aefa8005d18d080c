package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// Error refuses a request with a status and the error body of the document.
type Error struct {
	Status  int
	Message string
	Header  http.Header // added to the response; may be nil
}

func (e *Error) Error() string { return e.Message }

// Write responds with the error.
func (e *Error) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), e.Header)
	w.Header().Set("Content-Type", "application/json")
	var body bytes.Buffer // a client need not wait for the handler to end if it knows the length
	_ = json.NewEncoder(&body).Encode(PublicAPIError{StatusCode: e.Status, Message: e.Message})
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(e.Status)
	_, _ = body.WriteTo(w) // it fails only if the client is gone
}

// Invalidf returns an Error of status 400.
func Invalidf(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

// NoSuch returns an Error of status 404 for something that is looked up by its id.
func NoSuch(what, id string) *Error {
	return &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%s (%.80q): not found", what, id)}
}

// RetryAfter returns the value of a Retry-After header. It is in seconds and rounded up, because a
// request that comes a second early is refused again.
func RetryAfter(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// InternalError returns the Error of status 500 for a failure of the sandbox itself.
func InternalError() *Error {
	return &Error{Status: http.StatusInternalServerError, Message: "the sandbox failed; its log says why"}
}
