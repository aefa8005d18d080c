package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// maxBody is the most bytes that a body may have.
const maxBody = 1 << 20

// serve serves the sandbox on a socket until the test ends and returns its address.
func (m *market) serve() string {
	m.t.Helper()
	l, err := new(net.ListenConfig).Listen(m.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(m.t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(m.t.Context()))
	served := make(chan error, 1)
	go func() { served <- m.Serve(ctx, l) }()
	m.t.Cleanup(func() {
		stop()
		require.NoError(m.t, <-served)
	})
	return l.Addr().String()
}

// dial connects to an address. Neither reads nor writes block for more than 20 seconds.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

func TestBodies_TooLongOverHTTP1(t *testing.T) {
	m := open(t)
	address := m.serve()
	head := func(path, headers string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + headers + "\r\n"
	}
	chunk := fmt.Sprintf("%x\r\n%s\r\n", maxBody+1, strings.Repeat("x", maxBody+1))
	declared := fmt.Sprintf("Content-Length: %d\r\n", 8<<20)
	const chunked = "Transfer-Encoding: chunked\r\n"
	for name, sent := range map[string]string{
		"declared, nothing sent yet":     head("/v2/selling/listings", declared),
		"declared, sent in part":         head("/v2/selling/listings", declared) + strings.Repeat("x", 2<<20),
		"declared, sent whole":           head("/v2/selling/listings", declared) + strings.Repeat("x", 8<<20),
		"chunks, not ended":              head("/v2/selling/listings", chunked) + chunk,
		"chunks, sent whole":             head("/v2/selling/listings", chunked) + strings.Repeat(chunk, 8) + "0\r\n\r\n",
		"waiting for 100 Continue":       head("/v2/selling/listings", declared+"Expect: 100-continue\r\n"),
		"to the token endpoint":          head("/oauth/token", chunked) + chunk,
		"to the control API":             head("/_sandbox/clock", chunked) + chunk,
		"to an operation without a body": head("/v2/selling/listings/"+unknownID, chunked) + chunk,
		"to a path of no operation":      head("/v2/nothing", chunked) + chunk,
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, address)
			_, err := io.WriteString(conn, sent)
			require.NoError(t, err, "a client may read the response only after it has sent everything")
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
			assert.JSONEq(t, `{"statusCode":413,"message":"body: must have 1048576 bytes at most"}`, string(body))
			assert.True(t, resp.Close, "what is left of the body is no request")
		})
	}
}

func TestBodies_TooLongOverHTTP2(t *testing.T) {
	m := open(t)
	srv := httptest.NewUnstartedServer(m)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	client := srv.Client()
	for name, whole := range map[string]bool{"sent whole": true, "not ended": false} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			defer w.Close()
			go func() {
				_, _ = io.Copy(w, io.LimitReader(zeros{}, 4<<20)) // it fails once the response is there
				if whole {
					w.Close()
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+sandbox.BasePath+"/selling/listings", r)
			require.NoError(t, err)
			resp, err := client.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, 2, resp.ProtoMajor)
			assert.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
			assert.JSONEq(t, `{"statusCode":413,"message":"body: must have 1048576 bytes at most"}`, string(body))
		})
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
