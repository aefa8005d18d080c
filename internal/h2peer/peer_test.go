package h2peer_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/http2"

	"github.com/sellside-sdk/sellside-go/internal/h2peer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const request, response = "a listing", "0123456789"

// counted returns a target that counts the requests that it handles.
func counted(t *testing.T) (http.Handler, *atomic.Int32) {
	t.Helper()
	handled := new(atomic.Int32)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, request, string(body))
		assert.Equal(t, "/v2/sell?all=1", r.URL.String())
		assert.Equal(t, "yes", r.Header.Get("X-Request"))
		handled.Add(1)
		w.Header().Set("X-Response", "yes")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, response)
	}), handled
}

// post sends a request that net/http cannot repeat, unless it is repeatable, and reads the
// response.
func post(
	ctx context.Context, t *testing.T, peer *h2peer.Peer, hc *http.Client, repeatable bool,
) (status int, body string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, peer.URL()+"/v2/sell?all=1", strings.NewReader(request))
	require.NoError(t, err)
	r.Header.Set("X-Request", "yes")
	if !repeatable {
		r.GetBody = nil
	}
	resp, err := hc.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	assert.Equal(t, 2, resp.ProtoMajor)
	var text bytes.Buffer
	_, err = text.ReadFrom(resp.Body)
	return resp.StatusCode, text.String(), err
}

func TestPeer_PerformsEachEnding(t *testing.T) {
	for _, ending := range h2peer.Endings() {
		t.Run(ending.String(), func(t *testing.T) {
			t.Parallel()
			target, handled := counted(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			peer := h2peer.Start(target, func(*http.Request) h2peer.Ending {
				if ending.Silent() {
					cancel() // there is no response
				}
				return ending
			})
			transport := peer.Transport()
			defer transport.CloseIdleConnections()

			status, body, err := post(ctx, t, peer, &http.Client{Transport: transport}, false)
			peer.Close()

			assert.Equal(t, 1, peer.Requests())
			if ending.Delivered() && !ending.Silent() {
				assert.EqualValues(t, 1, handled.Load())
			} else if !ending.Delivered() {
				assert.Zero(t, handled.Load())
			}
			switch {
			case ending.Do == h2peer.Refuse:
				require.NoError(t, err)
				assert.Equal(t, http.StatusRequestEntityTooLarge, status)
			case ending.Whole():
				assert.Equal(t, http.StatusCreated, status)
				assert.Equal(t, response, body)
			default:
				require.Error(t, err)
				assert.NotEqual(t, response, body)
			}
		})
	}
}

// This is why the package exists: net/http repeats requests that were applied.
func TestPeer_MakesNetHTTPRepeatRequests(t *testing.T) {
	reset := func(code http2.ErrCode) h2peer.Ending {
		return h2peer.Ending{At: h2peer.Applied, Do: h2peer.ResetStream, Code: code}
	}
	for _, tc := range []struct {
		ending   h2peer.Ending
		repeated bool
		why      string
	}{
		{reset(http2.ErrCodeProtocol), true, "net/http sees an unusable connection"},
		{reset(http2.ErrCodeRefusedStream), true, "by the protocol the request was not handled"},
		{h2peer.Ending{At: h2peer.Applied, Do: h2peer.GoAway}, true, "by the protocol the request was not handled"},
		{reset(http2.ErrCodeInternal), false, "it may have been applied"},
	} {
		t.Run(tc.ending.String(), func(t *testing.T) {
			target, handled := counted(t)
			var requests atomic.Int32
			peer := h2peer.Start(target, func(*http.Request) h2peer.Ending {
				if requests.Add(1) > 1 {
					return h2peer.Ending{}
				}
				return tc.ending
			})
			defer peer.Close()
			transport := peer.Transport()
			defer transport.CloseIdleConnections()

			_, _, err := post(t.Context(), t, peer, &http.Client{Transport: transport}, true)

			assert.Equal(t, tc.repeated, err == nil, tc.why)
			assert.Equal(t, tc.repeated, handled.Load() == 2, tc.why)
		})
	}
}

func TestPeer_EndsItsConnections(t *testing.T) {
	for _, do := range []h2peer.Action{h2peer.Close, h2peer.ResetConnection, h2peer.GoAway, h2peer.GoAwayClose} {
		t.Run(do.String(), func(t *testing.T) {
			target, _ := counted(t)
			arrived, end := make(chan struct{}), make(chan struct{})
			peer := h2peer.Start(target, func(r *http.Request) h2peer.Ending {
				close(arrived)
				<-end
				return h2peer.Ending{At: h2peer.Headers, Do: h2peer.Stall}
			})
			defer peer.Close()
			transport := peer.Transport()
			defer transport.CloseIdleConnections()
			go func() {
				<-arrived
				peer.End(do)
				close(end)
			}()

			_, _, err := post(t.Context(), t, peer, &http.Client{Transport: transport}, false)

			require.Error(t, err)
		})
	}
}
