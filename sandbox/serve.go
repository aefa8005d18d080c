package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long the server waits for a caller, and how long Serve waits for the
// requests under way when it has to end.
const (
	headerWait   = 5 * time.Second
	readWait     = 30 * time.Second // header and body
	writeWait    = time.Minute      // from the header to the end of the answer
	idleWait     = 2 * time.Minute  // between two requests
	shutdownWait = 10 * time.Second
)

// maxHeader is how many bytes the header of a request may have, about a
// hundred times what it does have.
const maxHeader = 64 << 10

// Serve answers the requests that come in through l until ctx ends. It then
// takes no more, lets those under way finish, for up to ten seconds, and returns
// nil. Callers who are too slow, with a header, a body or taking their answer,
// are hung up on. If l fails, Serve hangs up on all callers and returns its error.
// Serve closes l, but not the sandbox.
func (s *Sandbox) Serve(ctx context.Context, l net.Listener) error {
	return serve(ctx, s.httpServer(), l)
}

func (s *Sandbox) httpServer() *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerWait,
		ReadTimeout:       readWait,
		WriteTimeout:      writeWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelWarn),
	}
}

func serve(ctx context.Context, srv *http.Server, l net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended: // the listener failed, those who are connected already have nobody to stop them
		return errors.Join(fmt.Errorf("sandbox: serve: %w", err), srv.Close())
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	if err := srv.Shutdown(patience); err != nil {
		err = fmt.Errorf("sandbox: serve: requests under way did not finish in %s: %w", shutdownWait, err)
		return errors.Join(err, srv.Close())
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("sandbox: serve: %w", err)
	}
	return nil
}
