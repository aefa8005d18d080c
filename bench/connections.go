package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
)

const (
	callers     = 64
	steadyCalls = 1_000 // Of all callers together.
)

// newConnections returns how many connections 1,000 calls from 64 goroutines open over TLS, once
// there is a connection for each goroutine. The transport is the contender's default one. The
// server has no HTTP/2, which needs one connection for all.
func newConnections(ctx context.Context, c call, by caller) (int, error) {
	var connections atomic.Int64
	service := &meeting{Handler: newService([]call{c}), all: make(chan struct{})}
	server := httptest.NewUnstartedServer(service)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients give up connections that they no longer need
	server.StartTLS()
	defer server.Close()
	standard := http.DefaultTransport
	transport := trusting(server)
	http.DefaultTransport = transport // the SDK clones it
	defer func() { http.DefaultTransport = standard }()
	defer transport.CloseIdleConnections()

	run, err := by(server.URL+prefix, http.DefaultClient, c)
	if err != nil {
		return 0, err
	}
	if err := callFrom(ctx, callers, callers, run); err != nil {
		return 0, err
	}
	before := connections.Load()
	err = callFrom(ctx, callers, steadyCalls, run)
	return int(connections.Load() - before), err
}

// callFrom makes n calls from some goroutines.
func callFrom(ctx context.Context, goroutines, n int, run run) error {
	var remaining atomic.Int64
	remaining.Store(int64(n))
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for remaining.Add(-1) >= 0 && errs[i] == nil {
				_, errs[i] = run(ctx)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// meeting is a handler whose first requests wait until there is one from each caller, so that each
// needs a connection of its own.
type meeting struct {
	http.Handler

	requests atomic.Int64
	all      chan struct{} // Closed with the last of them.
}

// ServeHTTP implements [http.Handler].
func (m *meeting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n := m.requests.Add(1); n == callers {
		close(m.all)
	}
	select {
	case <-m.all:
		m.Handler.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}
