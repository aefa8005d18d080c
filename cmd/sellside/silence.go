package main

import (
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
)

// firstSilence is how long a service may take to respond before that is printed, and nextSilence how
// long until it is printed again.
const (
	firstSilence = 10 * time.Second
	nextSilence  = time.Minute
)

// silence prints that a service does not respond. Waits for the quota and pauses between requests
// that got a response do not count.
type silence struct {
	print func(format string, args ...any)

	mu       sync.Mutex
	since    time.Time   // When the first request was begun since the last response; zero if none was.
	reported bool        // That there is no response.
	timer    *time.Timer // Nil unless a request was begun.
}

// watch returns a [client.Middleware] that watches all requests of a client.
func (s *silence) watch(next client.Doer) client.Doer {
	return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
		trace := &httptrace.ClientTrace{
			GetConn:              func(string) { s.begin() },
			GotFirstResponseByte: s.end,
		}
		return next.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	})
}

// begin is called when a request is about to be sent.
func (s *silence) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = time.Now()
		s.timer = time.AfterFunc(firstSilence, s.report)
	}
}

func (s *silence) report() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return // a response came meanwhile
	}
	s.reported = true
	s.print("no response from the service for %s: waiting for it, stop with Ctrl-C", time.Since(s.since).Round(time.Second))
	s.timer = time.AfterFunc(nextSilence, s.report)
}

// end is called when a response begins.
func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
	if s.reported {
		s.print("the service responds again")
	}
	s.reported = false
}

// stop prints nothing more until the next request.
func (s *silence) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
}

func (s *silence) reset() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.since, s.timer = time.Time{}, nil
}
