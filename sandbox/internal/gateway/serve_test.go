package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var silent = slog.New(slog.DiscardHandler)

// readAll reads the body of a request and responds 200, or 400 if the body breaks off.
var readAll = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
})

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

func TestServe_FinishesRequestsThatItAccepted(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-finish
		w.WriteHeader(http.StatusCreated)
	})
	l := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, h, silent) }()
	conn := dial(t, l)
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	<-began
	stop()
	require.Eventually(t, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, 5*time.Second, time.Millisecond, "the listener is closed")
	select {
	case err := <-served:
		require.Fail(t, "Serve did not wait for the request", "%v", err)
	default:
	}
	close(finish)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusCreated, resp.StatusCode)
	require.NoError(t, <-served)
}

func TestServe_EndsWorkThatTheNextStartContinues(t *testing.T) {
	began := make(chan struct{})
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx, cancel := UntilStopped(r.Context())
		defer cancel()
		close(began)
		<-ctx.Done()
		assert.NoError(t, r.Context().Err(), "the request itself is not ended")
	})
	l := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, h, silent) }()
	_, err := io.WriteString(dial(t, l), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	<-began
	stop()
	require.NoError(t, <-served)
}

func TestServe_ReturnsTheErrorOfItsListener(t *testing.T) {
	l := listen(t)
	require.NoError(t, l.Close())
	require.ErrorIs(t, Serve(t.Context(), l, readAll, silent), net.ErrClosed)
}

func TestServe_ClosesConnectionsIfItsListenerFails(t *testing.T) {
	l := listen(t)
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), l, readAll, silent) }()
	conn := dial(t, l)
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-served, net.ErrClosed)
	_, err = reader.ReadByte()
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is not left open")
}

func TestServe_HasTimeouts(t *testing.T) {
	srv := newServer(readAll, silent)
	assert.Equal(t, 5*time.Second, srv.ReadHeaderTimeout)
	assert.Equal(t, 30*time.Second, srv.ReadTimeout)
	assert.Equal(t, time.Minute, srv.WriteTimeout)
	assert.Equal(t, 2*time.Minute, srv.IdleTimeout)
	assert.Equal(t, 64<<10, srv.MaxHeaderBytes)
}

// The timeouts are shortened, since only net/http decides which of them ends a connection.
func TestServe_EndsSlowAndLargeRequests(t *testing.T) {
	for name, row := range map[string]struct {
		sent     string
		change   func(*http.Server)
		received string
	}{
		"a header that does not end": {
			"GET / HTTP/1.1\r\nHost: x\r\n",
			func(s *http.Server) { s.ReadHeaderTimeout = time.Millisecond }, "",
		},
		"a body that does not come": {
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nbody",
			func(s *http.Server) { s.ReadTimeout = 50 * time.Millisecond }, "HTTP/1.1 400",
		},
		"an idle connection": {
			"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
			func(s *http.Server) { s.IdleTimeout = time.Millisecond }, "HTTP/1.1 200",
		},
		"a header that is too long": {
			"GET / HTTP/1.1\r\nHost: x\r\nx: " + strings.Repeat("x", maxHeader+8<<10),
			func(*http.Server) {}, "HTTP/1.1 431",
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(nil)
			srv.Config = newServer(readAll, silent)
			row.change(srv.Config)
			srv.Start()
			defer srv.Close()
			conn := dial(t, srv.Listener)
			_, err := io.WriteString(conn, row.sent)
			require.NoError(t, err)
			received, err := io.ReadAll(conn)
			timeout, ok := errors.AsType[net.Error](err)
			require.False(t, ok && timeout.Timeout(), "the server closes the connection")
			assert.True(t, strings.HasPrefix(string(received), row.received), string(received))
		})
	}
}
