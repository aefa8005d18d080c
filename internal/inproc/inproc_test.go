package inproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connections returns what connects an HTTP client to a handler: a Transport, and a socket, which a
// Transport must not be distinguishable from.
func connections() map[string]func(*testing.T, http.Handler) (url string, hc *http.Client) {
	return map[string]func(*testing.T, http.Handler) (string, *http.Client){
		"in process": func(t *testing.T, handler http.Handler) (string, *http.Client) {
			t.Helper()
			transport := &Transport{Handler: handler}
			t.Cleanup(transport.Close)
			return "http://service.invalid", &http.Client{Transport: transport}
		},
		"socket": func(t *testing.T, handler http.Handler) (string, *http.Client) {
			t.Helper()
			srv := httptest.NewUnstartedServer(handler)
			srv.Config.ErrorLog = log.New(io.Discard, "", 0)
			srv.Start()
			t.Cleanup(srv.Close)
			return srv.URL, srv.Client()
		},
	}
}

func TestTransport_DeliversWhatAServerDelivers(t *testing.T) {
	flush := func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }
	for _, tc := range []struct {
		why     string
		method  string
		handler http.HandlerFunc

		fails  bool // Of the call.
		status int
		media  string
		length int64
		body   string
		cut    bool // The body ends with io.ErrUnexpectedEOF.
	}{
		{
			why: "a response has a status, headers and a body", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/x-reason")
				w.WriteHeader(http.StatusTeapot)
				w.Header().Set("Content-Type", "too/late")
				_, _ = io.WriteString(w, "short and stout")
			},
			status: http.StatusTeapot, media: "text/x-reason", length: 15, body: "short and stout",
		},
		{
			why: "a handler that writes nothing succeeds", method: http.MethodPost,
			handler: func(http.ResponseWriter, *http.Request) {},
			status:  http.StatusOK,
		},
		{
			why: "a body without a type is sniffed", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			status:  http.StatusOK, media: "text/html; charset=utf-8", length: 6, body: "<html>",
		},
		{
			why: "an informational status does not end the headers", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(http.StatusAccepted)
			},
			status: http.StatusAccepted,
		},
		{
			why: "a response to HEAD has the headers alone", method: http.MethodHead,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("Content-Length", "6")
				_, _ = io.WriteString(w, "secret")
			},
			status: http.StatusOK, media: "text/plain", length: 6,
		},
		{
			why: "204 has no body", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
			status:  http.StatusNoContent,
		},
		{
			why: "an abort before the first byte", method: http.MethodPost,
			handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			fails:   true,
		},
		{
			why: "an abort loses what was not flushed", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "lost")
				panic(http.ErrAbortHandler)
			},
			fails: true,
		},
		{
			why: "an abort after a flush cuts the body", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, "half")
				flush(w)
				_, _ = io.WriteString(w, "lost")
				panic(fmt.Errorf("handle: %w", http.ErrAbortHandler))
			},
			status: http.StatusOK, media: "text/plain", length: -1, body: "half", cut: true,
		},
		{
			why: "an exit of the handler's goroutine is an abort", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "lost")
				runtime.Goexit()
			},
			fails: true,
		},
		{
			why: "fewer bytes than declared are a broken connection", method: http.MethodPost,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("Content-Length", "10")
				_, _ = io.WriteString(w, "{}")
			},
			status: http.StatusOK, media: "text/plain", length: 10, body: "{}", cut: true,
		},
	} {
		for name, connect := range connections() {
			t.Run(name+": "+tc.why, func(t *testing.T) {
				url, hc := connect(t, tc.handler)
				r, err := http.NewRequestWithContext(t.Context(), tc.method, url, http.NoBody)
				require.NoError(t, err)
				resp, err := hc.Do(r)
				if tc.fails {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if tc.cut {
					require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				} else {
					require.NoError(t, err)
				}
				assert.Equal(t, tc.body, string(body))
				assert.Equal(t, tc.status, resp.StatusCode)
				assert.Equal(t, tc.media, resp.Header.Get("Content-Type"))
				assert.Equal(t, tc.length, resp.ContentLength)
				assert.Same(t, r, resp.Request)
			})
		}
	}
}

func TestTransport_PassesTheRequestThatAServerReads(t *testing.T) {
	type key struct{}
	for name, connect := range connections() {
		t.Run(name, func(t *testing.T) {
			var got *http.Request
			var body []byte
			url, hc := connect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				r.Header.Set("X-Asked", "changed")
			}))
			ctx := context.WithValue(t.Context(), key{}, "of the caller")
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/a%2Fb/?q=1#here", strings.NewReader("body"))
			require.NoError(t, err)
			r.Header.Set("X-Asked", "yes")
			resp, err := hc.Do(r)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())

			assert.Equal(t, http.MethodPost, got.Method)
			assert.Equal(t, "/a%2Fb/?q=1", got.RequestURI)
			assert.Equal(t, "/a%2Fb/?q=1", got.URL.String())
			assert.Equal(t, "/a/b/", got.URL.Path)
			assert.Equal(t, strings.TrimPrefix(url, "http://"), got.Host)
			assert.Equal(t, "body", string(body))
			assert.EqualValues(t, 4, got.ContentLength)
			assert.Nil(t, got.Context().Value(key{}))
			assert.Equal(t, "yes", r.Header.Get("X-Asked"), "the caller's request is not changed")
		})
	}
}

func TestTransport_HasTLSForHTTPS(t *testing.T) {
	for url, want := range map[string]bool{"http://service.invalid/": false, "https://service.invalid/": true} {
		var got bool
		transport := &Transport{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.TLS != nil })}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		resp, err := transport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, got, url)
		transport.Close()
	}
}

func TestTransport_ReportsToHTTPTrace(t *testing.T) {
	for name, connect := range connections() {
		t.Run(name, func(t *testing.T) {
			url, hc := connect(t, http.NotFoundHandler())
			var mu sync.Mutex
			var steps []string
			step := func(name string) {
				mu.Lock()
				defer mu.Unlock()
				steps = append(steps, name)
			}
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				GetConn:              func(string) { step("GetConn") },
				GotConn:              func(httptrace.GotConnInfo) { step("GotConn") },
				WroteHeaders:         func() { step("WroteHeaders") },
				WroteRequest:         func(httptrace.WroteRequestInfo) { step("WroteRequest") },
				GotFirstResponseByte: func() { step("GotFirstResponseByte") },
			})
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("body"))
			require.NoError(t, err)
			resp, err := hc.Do(r)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			mu.Lock()
			defer mu.Unlock()
			assert.Equal(t, []string{"GetConn", "GotConn", "WroteHeaders", "WroteRequest", "GotFirstResponseByte"}, steps)
		})
	}
}

// requestBody counts how often it is closed, and fails with err instead of io.EOF.
type requestBody struct {
	err    error
	closed atomic.Int32
}

func (b *requestBody) Read([]byte) (int, error) { return 0, b.err }
func (b *requestBody) Close() error             { b.closed.Add(1); return nil }

func TestTransport_FailsWithoutCallingTheHandler(t *testing.T) {
	reason := errors.New("the reason")
	for _, tc := range []struct {
		why   string
		setUp func(tr *Transport, r *http.Request, body *requestBody) *http.Request
		want  error
		sent  bool // Whether the headers count as written.
	}{
		{
			"the context has ended", func(_ *Transport, r *http.Request, _ *requestBody) *http.Request {
				ctx, cancel := context.WithCancelCause(r.Context())
				cancel(reason)
				return r.WithContext(ctx)
			}, reason, false,
		},
		{
			"another host is not in the process", func(_ *Transport, r *http.Request, _ *requestBody) *http.Request {
				r.URL.Host = "elsewhere.invalid"
				return r
			}, syscall.ECONNREFUSED, false,
		},
		{
			"the transport is closed", func(tr *Transport, r *http.Request, _ *requestBody) *http.Request {
				tr.Close()
				tr.Close()
				return r
			}, syscall.ECONNREFUSED, false,
		},
		{
			"the request body cannot be read", func(_ *Transport, r *http.Request, body *requestBody) *http.Request {
				body.err = reason
				return r
			}, reason, true,
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			tr := &Transport{Host: "service.invalid", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				t.Error("the handler was called")
			})}
			defer tr.Close()
			var sent bool
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteHeaders: func() { sent = true }})
			body := &requestBody{err: io.EOF}
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://service.invalid/", body)
			require.NoError(t, err)
			_, err = tr.RoundTrip(tc.setUp(tr, r, body)) //nolint:bodyclose // there is no response
			require.ErrorIs(t, err, tc.want)
			assert.Equal(t, tc.sent, sent)
			assert.EqualValues(t, 1, body.closed.Load())
		})
	}
}

func TestTransport_ReturnsWhenTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		tr := &Transport{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			ended = time.Now()
			<-time.After(time.Hour) // as a handler that does not look at its context
		})}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://service.invalid/", nil)
		require.NoError(t, err)
		_, err = tr.RoundTrip(r) //nolint:bodyclose // there is no response
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
		tr.Close()
		assert.Equal(t, time.Second, ended.Sub(start), "the context of the handler ends with the call")
		assert.Equal(t, time.Hour+time.Second, time.Since(start), "Close waits for the handler")
	})
}

func TestTransport_CloseBreaksOpenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &Transport{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://service.invalid/", nil)
				if assert.NoError(t, err) {
					_, err = tr.RoundTrip(r) //nolint:bodyclose // there is no response
					assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
				}
			})
		}
		synctest.Wait()
		tr.Close()
		calls.Wait()
	})
}

func TestTransport_BodyFailsLikeAConnection(t *testing.T) {
	for name, connect := range connections() {
		for _, tc := range []struct {
			why  string
			end  func(cancel context.CancelFunc, body io.Closer)
			want error // Nil for any: that of net/http is private.
		}{
			{"after its context", func(cancel context.CancelFunc, _ io.Closer) { cancel() }, context.Canceled},
			{"after its end", func(_ context.CancelFunc, body io.Closer) { _ = body.Close() }, nil},
		} {
			t.Run(name+": "+tc.why, func(t *testing.T) {
				url, hc := connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, _ = w.Write(make([]byte, 1<<20))
				}))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
				require.NoError(t, err)
				resp, err := hc.Do(r)
				require.NoError(t, err)
				defer resp.Body.Close()
				tc.end(cancel, resp.Body)
				_, err = io.ReadAll(resp.Body)
				require.Error(t, err)
				if tc.want != nil {
					require.ErrorIs(t, err, tc.want)
				}
			})
		}
	}
}

func TestTransport_LeavesOtherPanics(t *testing.T) {
	w := &response{header: http.Header{}}
	assert.PanicsWithValue(t, "a defect", func() {
		w.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a defect") }), nil)
	})
}
