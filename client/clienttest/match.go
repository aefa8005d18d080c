package clienttest

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
)

// take uses up the expectation that a request is answered by, and returns it as it stands.
func (s *Server) take(op gen.OperationID, path map[string]string) (Expectation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.script, func(e *Expectation) bool { return e.fits(op, path) })
	if i < 0 {
		return Expectation{}, errors.New("it is not expected; " + s.outstanding())
	}
	e := s.script[i]
	e.got++
	taken := *e
	taken.path, taken.checks, taken.header = maps.Clone(e.path), slices.Clone(e.checks), e.header.Clone()
	return taken, nil
}

// outstanding lists what is still expected. The caller holds the lock.
func (s *Server) outstanding() string {
	var left []string
	for _, e := range s.script {
		if e.got < e.want {
			left = append(left, e.describe())
		}
	}
	if left == nil {
		return "nothing is expected any more"
	}
	return "still expected: " + strings.Join(left, "; ")
}

func (s *Server) reportLeftovers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.script {
		if e.got < e.want {
			s.tb.Errorf("clienttest: left over at the end of the test: %s", e.describe())
		}
	}
}

// fits reports whether the expectation is still to be used and has the path values of a request.
func (e *Expectation) fits(op gen.OperationID, path map[string]string) bool {
	if e.op != op || !e.answered || e.got >= e.want {
		return false
	}
	for name, value := range e.path {
		if path[name] != value {
			return false
		}
	}
	return true
}

// describe says what is still expected, and where the test said so.
func (e *Expectation) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", e.op)
	for _, name := range slices.Sorted(maps.Keys(e.path)) {
		fmt.Fprintf(&b, " %s=%s", name, e.path[name])
	}
	if e.want > 1 {
		fmt.Fprintf(&b, " (%d of %d came)", e.got, e.want)
	}
	if !e.answered {
		b.WriteString(" (has no answer)")
	}
	return b.String() + " from " + e.where
}

// callerLine names the line of the test that called Expect.
func callerLine() string {
	_, file, line, _ := runtime.Caller(2)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}
