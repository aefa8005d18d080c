// Package serve runs a marketplace on a socket until it is told to stop.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Server is an HTTP server that is up.
type Server struct {
	http   *http.Server
	addr   *net.TCPAddr
	failed chan error // receives the one error that ended it
}

// Start listens on a TCP address, such as 127.0.0.1:0, and serves handler. Stop has to be called.
func Start(ctx context.Context, address string, handler http.Handler, logger *slog.Logger) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &Server{
		http: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       30 * time.Second,
			WriteTimeout:      time.Minute,
			IdleTimeout:       2 * time.Minute,
			ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		},
		addr:   listener.Addr().(*net.TCPAddr),
		failed: make(chan error, 1),
	}
	go func() { s.failed <- s.http.Serve(listener) }()
	return s, nil
}

// URL returns the address for clients on this machine, without a path.
func (s *Server) URL() string {
	addr := *s.addr
	if addr.IP.IsUnspecified() {
		addr.IP = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + addr.String()
}

// Failed receives an error if the server ends without being stopped.
func (s *Server) Failed() <-chan error { return s.failed }

// Stop lets the requests under way finish, but not for longer than ten seconds.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, s.http.Close())
	}
	return err
}
