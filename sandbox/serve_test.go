package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
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

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

func newOne(t *testing.T) *Sandbox {
	t.Helper()
	s, err := New(Options{Delay: -1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestServeFinishesWhatItAccepted(t *testing.T) {
	s := newOne(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	srv := s.httpServer()
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-finish
		s.ServeHTTP(w, r)
	})
	l := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, srv, l) }()

	answer := make(chan int, 1)
	go func() {
		body := strings.NewReader(`{"variantId":"` + Catalog()[0].Variants[0].ID + `","amount":"200"}`)
		r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, "http://"+l.Addr().String()+BasePath+"/selling/listings", body)
		if !assert.NoError(t, err) {
			return
		}
		r.Header.Set("Authorization", "Bearer "+s.Token())
		r.Header.Set("x-api-key", s.APIKey())
		r.Header.Set("Content-Type", "application/json")
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if assert.NoError(t, err) {
			answer <- resp.StatusCode
			resp.Body.Close()
		}
	}()
	<-begun
	stop()
	require.Eventually(t, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, 5*time.Second, time.Millisecond, "nobody listens any more")
	select {
	case err := <-served:
		require.Fail(t, "it did not wait", "%v", err)
	default:
	}
	close(finish)
	assert.Equal(t, http.StatusCreated, <-answer)
	require.NoError(t, <-served)
}

func TestServeSaysWhyItEnded(t *testing.T) {
	l := listen(t)
	require.NoError(t, l.Close())
	require.ErrorContains(t, newOne(t).Serve(t.Context(), l), "sandbox: serve: ")
}

func TestServeHangsUpOnEverybodyIfItsListenerFails(t *testing.T) {
	s, l := newOne(t), listen(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), l) }()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = io.WriteString(conn, "GET "+HealthPath+" HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	answer := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-served, net.ErrClosed)
	_, err = answer.ReadByte()
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is not left open")
}

func TestTheServerHasLimits(t *testing.T) {
	srv := newOne(t).httpServer()
	assert.Equal(t, 5*time.Second, srv.ReadHeaderTimeout)
	assert.Equal(t, 30*time.Second, srv.ReadTimeout)
	assert.Equal(t, time.Minute, srv.WriteTimeout)
	assert.Equal(t, 2*time.Minute, srv.IdleTimeout)
	assert.Equal(t, 64<<10, srv.MaxHeaderBytes)
}

// Which timeout ends a connection is net/http's to decide; that they are in
// place is ours.
func TestSlowAndLargeCallersAreHungUpOn(t *testing.T) {
	for name, row := range map[string]struct {
		sends  string
		change func(*http.Server)
		gets   string
	}{
		"a header that does not end": {"GET / HTTP/1.1\r\nHost: x\r\n", func(s *http.Server) { s.ReadHeaderTimeout = time.Millisecond }, ""},
		"a body that does not come": {
			"POST " + TokenPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\ngrant",
			func(s *http.Server) { s.ReadTimeout = 50 * time.Millisecond }, "HTTP/1.1 400",
		},
		"a connection that is not used": {
			"GET " + HealthPath + " HTTP/1.1\r\nHost: x\r\n\r\n", func(s *http.Server) { s.IdleTimeout = time.Millisecond }, "HTTP/1.1 200",
		},
		"a header without end": {
			"GET / HTTP/1.1\r\nHost: x\r\nx: " + strings.Repeat("x", maxHeader+8<<10), func(*http.Server) {}, "HTTP/1.1 431",
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(nil)
			srv.Config = newOne(t).httpServer()
			row.change(srv.Config)
			srv.Start()
			defer srv.Close()
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
			_, err = io.WriteString(conn, row.sends)
			require.NoError(t, err)
			got, err := io.ReadAll(conn)
			var late net.Error
			require.False(t, errors.As(err, &late) && late.Timeout(), "the server hangs up, politely or with a reset")
			assert.True(t, strings.HasPrefix(string(got), row.gets), string(got))
		})
	}
}

func TestABodyThatIsTooLongIsRefused(t *testing.T) {
	s := newOne(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, BasePath+"/selling/listings", strings.NewReader(strings.Repeat(" ", maxBody+1)))
	r.Header.Set("Authorization", "Bearer "+s.Token())
	r.Header.Set("x-api-key", s.APIKey())
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
}
