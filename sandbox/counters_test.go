package sandbox_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestRequestsAreCountedByOperationAndStatus(t *testing.T) {
	m := open(t)
	m.get("/selling/listings")
	m.get("/selling/listings?pageSize=5")
	m.call(http.MethodGet, "/selling/listings?pageSize=0", nil)
	r := m.request(http.MethodGet, "/selling/listings", nil)
	r.Header.Del("x-api-key")
	m.send(r)
	m.call(http.MethodGet, "/nothing/here", nil)
	m.call(http.MethodPut, "/selling/listings", nil)
	m.refresh(m.RefreshToken())
	m.control(http.MethodGet, "/counters", "")
	c := m.Counters()
	assert.Equal(t, sandbox.Counters{"ListListings": {200: 2, 400: 1, 401: 1}, "token": {200: 1}}, c)
	assert.Equal(t, 4, c.Of("ListListings"))
	assert.Zero(t, c.Of("GetListing"))
	clear(c["ListListings"])
	assert.Equal(t, 4, m.Counters().Of("ListListings"), "what was given out is the caller's")
}

func TestACallerWhoGoesAwayIsNoFailure(t *testing.T) {
	var log bytes.Buffer
	m := open(t, func(o *sandbox.Options) {
		o.RotateRefreshTokens, o.Logger = true, slog.New(slog.NewTextHandler(&log, nil))
	})
	grant := httptest.NewRequestWithContext(t.Context(), http.MethodPost, sandbox.TokenPath,
		strings.NewReader("grant_type=refresh_token&refresh_token="+m.RefreshToken()))
	grant.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	advance := httptest.NewRequestWithContext(t.Context(), http.MethodPost, sandbox.ControlPath+"/reset", nil)
	advance.Header.Set("x-sandbox-key", m.ControlKey())
	gone, goAway := context.WithCancel(t.Context())
	goAway()
	for _, r := range []*http.Request{m.request(http.MethodGet, "/selling/listings", nil), grant, advance} {
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
			m.ServeHTTP(httptest.NewRecorder(), r.WithContext(gone))
		}, "nobody is answered: %s", r.URL.Path)
	}
	assert.Equal(t, sandbox.Counters{"ListListings": {0: 1}, "token": {0: 1}}, m.Counters())
	assert.NotContains(t, log.String(), "level=ERROR")
}
