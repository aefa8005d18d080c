package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestLog_HasARecordOfEachRequest(t *testing.T) {
	var log bytes.Buffer
	m := open(t, func(o *sandbox.Options) {
		o.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	s := m.add("second")
	line := func() map[string]any {
		var last map[string]any
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
		return last
	}
	for _, row := range []struct {
		do                 func()
		level              string
		operation, account string
		status             float64
	}{
		{func() { m.get("/selling/listings?pageSize=1") }, "INFO", "ListListings", "first", 200},
		{func() { s.call(http.MethodGet, "/selling/listings/x", nil) }, "INFO", "GetListing", "second", 400},
		{func() { s.call(http.MethodGet, "/nothing", nil) }, "INFO", "", "second", 404},
		{func() { m.with("wrong") }, "INFO", "ListListings", "", 401},
		{func() { m.refresh(s.account.RefreshToken) }, "INFO", "token", "second", 200},
		{func() { m.control(http.MethodGet, "/clock", "") }, "INFO", "control", "", 200},
		{func() {
			m.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, sandbox.HealthPath, nil))
		}, "DEBUG", "health", "", 200},
		{func() {
			require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))
			m.create()
		}, "INFO", "CreateListing", "", 0},
	} {
		row.do()
		got := line()
		assert.Equal(t, row.level, got["level"], row.operation)
		assert.Equal(t, row.operation, got["operation"])
		assert.Equal(t, row.account, got["account"], row.operation)
		assert.InDelta(t, row.status, got["status"], 0, row.operation)
		assert.Positive(t, got["duration"], row.operation)
	}
}

func TestLog_HasNoCredentials(t *testing.T) {
	var log bytes.Buffer
	m := open(t, func(o *sandbox.Options) {
		o.APIKey, o.Token, o.RefreshToken, o.ControlKey = "first-api-key", "first-token", "first-refresh", "the-control-key"
		o.RotateRefreshTokens = true
		o.Accounts = []sandbox.Account{{Name: "chosen", APIKey: "chosen-api-key", Token: "chosen-token", RefreshToken: "chosen-refresh"}}
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	secrets := []string{"first-api-key", "first-token", "first-refresh", "the-control-key"}
	grant := m.refresh("first-refresh")
	secrets = append(secrets, grant["access_token"].(string), grant["refresh_token"].(string))
	m.with(grant["access_token"])
	s := seller{m, m.Accounts()[1]}
	s.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": "200"})
	m.control(http.MethodPost, "/accounts", `{"name":"added"}`)
	m.control(http.MethodGet, "/accounts", "")
	for _, a := range m.Accounts() {
		secrets = append(secrets, a.APIKey, a.Token, a.RefreshToken)
	}
	wrong := m.request(http.MethodGet, "/selling/listings?token=wrong-token", nil)
	wrong.Header.Set("Authorization", "Bearer wrong-token")
	wrong.Header.Set("x-api-key", "wrong-key")
	m.send(wrong)
	m.post(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"wrong-refresh"}}.Encode())
	m.post(url.Values{"grant_type": {"password"}, "password": {"wrong-password"}}.Encode())
	secrets = append(secrets, "wrong-token", "wrong-key", "wrong-refresh", "wrong-password")
	require.NoError(t, m.Close())
	m.call(http.MethodGet, "/selling/listings", nil).
		refused(http.StatusInternalServerError, "", "the database is closed")
	m.control(http.MethodPost, "/reset", "").
		refused(http.StatusInternalServerError, "", "the control API, too")

	require.Greater(t, strings.Count(log.String(), "\n"), 10)
	for _, secret := range secrets {
		assert.NotContains(t, log.String(), secret)
	}
}

func TestCounters_CountByOperationAndStatus(t *testing.T) {
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
	assert.Equal(t, 4, m.Counters().Of("ListListings"), "the caller owns the map")
}

func TestLog_ClientsThatAreGoneAreNoFailure(t *testing.T) {
	var log bytes.Buffer
	m := open(t, func(o *sandbox.Options) {
		o.RotateRefreshTokens, o.Logger = true, slog.New(slog.NewTextHandler(&log, nil))
	})
	grant := httptest.NewRequestWithContext(t.Context(), http.MethodPost, sandbox.TokenPath,
		strings.NewReader("grant_type=refresh_token&refresh_token="+m.RefreshToken()))
	grant.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	advance := httptest.NewRequestWithContext(t.Context(), http.MethodPost, sandbox.ControlPath+"/reset", nil)
	advance.Header.Set("x-sandbox-key", m.ControlKey())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []*http.Request{m.request(http.MethodGet, "/selling/listings", nil), grant, advance} {
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
			m.ServeHTTP(httptest.NewRecorder(), r.WithContext(gone))
		}, "no response: %s", r.URL.Path)
	}
	assert.Equal(t, sandbox.Counters{"ListListings": {0: 1}, "token": {0: 1}}, m.Counters())
	assert.NotContains(t, log.String(), "level=ERROR")
}
