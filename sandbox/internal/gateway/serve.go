package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// WriteTimeout is how long a client may take from the header of its request to the end of the
// response.
const WriteTimeout = time.Minute

const (
	headerTimeout   = 5 * time.Second
	readTimeout     = 30 * time.Second // header and body
	idleTimeout     = 2 * time.Minute  // between two requests
	shutdownTimeout = 10 * time.Second // for requests that are being handled
)

// maxHeader is the most bytes that the header of a request may have, about a hundred times what it
// does have.
const maxHeader = 64 << 10

// Serve serves h to the connections of l until ctx ends, then waits for the requests that are being
// handled, for up to ten seconds, and returns nil. Delays of faults end with ctx. If l fails, Serve closes all connections and
// returns its error. Serve closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	return serve(ctx, l, newServer(h, log))
}

func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      WriteTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// stoppingKey is the key of a context, in that of a request, that ends when the server of the
// request begins to shut down.
type stoppingKey struct{}

// stopping returns that context. Without a server it never ends.
func stopping(ctx context.Context) context.Context {
	if c, ok := ctx.Value(stoppingKey{}).(context.Context); ok {
		return c
	}
	return context.Background()
}

// UntilStopped returns the context of a request that also ends when its server begins to shut down,
// for work that may take longer than a shutdown waits and that the next start continues.
func UntilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	until, cancel := context.WithCancel(ctx)
	unregister := context.AfterFunc(stopping(ctx), cancel)
	return until, func() {
		unregister()
		cancel()
	}
}

func serve(ctx context.Context, l net.Listener, srv *http.Server) error {
	requests := context.WithValue(context.WithoutCancel(ctx), stoppingKey{}, ctx)
	srv.BaseContext = func(net.Listener) context.Context { return requests }
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended: // the listener failed; its open connections would be served on
		return errors.Join(err, srv.Close())
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(shutdown); err != nil {
		err = fmt.Errorf("requests were not handled within %s: %w", shutdownTimeout, err)
		return errors.Join(err, srv.Close())
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
