package clienttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// serve responds to a request as the script says.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	path, hasBase := strings.CutPrefix(r.URL.EscapedPath(), basePath)
	op, known := gen.MatchOperation(r.Method, path)
	if !hasBase || !known {
		s.refuse(w, r, errors.New("no operation of the spec"))
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
	maps.Copy(w.Header(), e.response.header)
	for name, values := range e.header {
		w.Header()[name] = append(w.Header()[name], values...)
	}
	e.response.withIDs(params).write(w)
}

func (s *Server) record(op gen.OperationID, path string, r *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Recorded{
		Operation: op, Method: r.Method, Path: path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
	})
}

// take counts a request against the first expectation that matches, and returns a copy of that.
func (s *Server) take(op gen.OperationID, path map[string]string) (Expectation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.script, func(e *Expectation) bool { return e.matches(op, path) })
	if i < 0 {
		return Expectation{}, fmt.Errorf("unexpected request (%s)", s.unmet())
	}
	e := s.script[i]
	e.got++
	taken := *e
	taken.path, taken.checks, taken.header = maps.Clone(e.path), slices.Clone(e.checks), e.header.Clone()
	return taken, nil
}

// unmet lists the expectations that are not met. The caller holds the lock.
func (s *Server) unmet() string {
	var list []string
	for _, e := range s.script {
		if e.got < e.want {
			list = append(list, e.describe())
		}
	}
	if list == nil {
		return "no expectation is left"
	}
	return "expected: " + strings.Join(list, "; ")
}

// reportUnmet fails the test for each expectation that is not met.
func (s *Server) reportUnmet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.script {
		if e.got < e.want {
			s.tb.Errorf("clienttest: expectation not met: %s", e.describe())
		}
	}
}

// wait delays a response. It returns false if the client is gone.
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

// refuse fails the test, and responds with a status that clients do not retry.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, reason error) {
	s.tb.Errorf("clienttest: %s %s: %v", r.Method, r.URL.RequestURI(), reason)
	body, err := json.Marshal(gen.PublicAPIError{
		StatusCode: http.StatusNotImplemented, Message: "clienttest: " + reason.Error(),
	})
	if err != nil {
		panic(err) // a number and a string can always be marshalled
	}
	w.Header().Set("Content-Type", "application/json")
	response{status: http.StatusNotImplemented, body: body}.write(w)
}

// write sends the response, or the part of it that arrives. The headers are set before.
func (resp response) write(w http.ResponseWriter) {
	switch resp.disconnect {
	case BeforeHeaders:
		cutHeaders(w)
	case MidBody:
		w.Header().Set("Content-Length", strconv.Itoa(len(resp.body)))
		w.WriteHeader(resp.status)
		send(w, resp.body[:len(resp.body)/2])
		if err := http.NewResponseController(w).Flush(); err != nil {
			return // the client is gone
		}
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(resp.status)
		send(w, resp.body)
	}
}

// send ignores a failed write: the client is gone, and the test sees that at the client.
func send(w io.Writer, body []byte) { _, _ = w.Write(body) }

// cutHeaders breaks the connection within the headers. If the connection closed before the first
// byte, net/http would repeat a read on a reused connection, which neither the client nor the
// script expects.
func cutHeaders(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // in process: that transport repeats nothing
	}
	send(buffered, []byte("HTTP/1.1 200 OK\r\n"))
	_ = buffered.Flush() // fails if the client is gone
	_ = conn.Close()
}

// pathValues returns the parameters in an escaped path that matches the route.
func pathValues(route, path string) map[string]string {
	values := make(map[string]string)
	segments := strings.Split(path, "/")
	for i, name := range strings.Split(route, "/") {
		if !strings.HasPrefix(name, "{") {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			value = segments[i] // does not happen: net/http has parsed the path
		}
		values[strings.Trim(name, "{}")] = value
	}
	return values
}
