package clienttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// serve answers one request by the script.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the caller went away before the request was whole
	}
	path, below := strings.CutPrefix(r.URL.EscapedPath(), basePath)
	op, known := gen.MatchOperation(r.Method, path)
	if !below || !known {
		s.refuse(w, r, errors.New("the spec has no such operation below "+basePath))
		return
	}
	params := pathValues(op.Route, path)
	for name, value := range params {
		r.SetPathValue(name, value)
	}
	s.record(op.ID, path, r, body)

	broken := s.contract.checkRequest(op, r, params, body)
	e, unexpected := s.take(op.ID, params)
	if err := errors.Join(broken, unexpected); err != nil {
		s.refuse(w, r, fmt.Errorf("%s: %w", op.ID, err))
		return
	}
	for _, check := range e.checks {
		if err := check(r, body); err != nil {
			s.tb.Errorf("clienttest: %s: %v", e.describe(), err)
		}
	}
	if !wait(r, e.delay) {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), e.answer.header)
	for name, values := range e.header {
		w.Header()[name] = append(w.Header()[name], values...)
	}
	e.answer.about(params).write(w)
}

// wait holds an answer back, and reports whether there is still somebody to answer.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// refuse fails the test and tells the caller so with a status that nobody takes for a fault worth a retry.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, reason error) {
	s.tb.Errorf("clienttest: %s %s: %v", r.Method, r.URL.RequestURI(), reason)
	body, err := json.Marshal(gen.PublicAPIError{
		StatusCode: http.StatusNotImplemented, Message: "clienttest: " + reason.Error(),
	})
	if err != nil {
		panic(err) // a number and a text always marshal
	}
	w.Header().Set("Content-Type", "application/json")
	answer{status: http.StatusNotImplemented, body: body}.write(w)
}

// write sends the answer, or as much of it as is to arrive. The headers are set already.
func (a answer) write(w http.ResponseWriter) {
	switch a.disconnect {
	case BeforeHeaders:
		cutHeaders(w)
	case MidBody:
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		w.WriteHeader(a.status)
		send(w, a.body[:len(a.body)/2])
		if err := http.NewResponseController(w).Flush(); err != nil {
			return // the caller has broken the connection first
		}
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(a.status)
		send(w, a.body)
	}
}

// send ignores a failed write: the caller has gone, and the test learns from the caller what that did.
func send(w io.Writer, body []byte) { _, _ = w.Write(body) }

// cutHeaders breaks the connection within the headers, of which the caller then sees nothing. Were it closed
// without a byte, net/http would send a read on a reused connection once more, behind the back of client and
// script.
func cutHeaders(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // within the process there is no such surprise
	}
	send(buffered, []byte("HTTP/1.1 200 OK\r\n"))
	_ = buffered.Flush() // a caller that has gone needs no headers
	_ = conn.Close()
}

// pathValues reads the parameters of a route from an escaped path that fits it.
func pathValues(route, path string) map[string]string {
	values := make(map[string]string)
	segments := strings.Split(path, "/")
	for i, name := range strings.Split(route, "/") {
		if !strings.HasPrefix(name, "{") {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			value = segments[i] // net/http has parsed it, so this does not happen
		}
		values[strings.Trim(name, "{}")] = value
	}
	return values
}
