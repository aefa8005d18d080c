package sandbox_test

import (
	"net/http"
	"testing"
)

func TestBothCredentialsAreNeeded(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ header, value, says, why string }{
		{"Authorization", "", "Authorization header is missing", "no token"},
		{"Authorization", "Bearer wrong", "access token", "a token of somebody else"},
		{"Authorization", "Basic " + m.Token(), "access token", "another scheme"},
		{"Authorization", m.Token(), "access token", "no scheme"},
		{"x-api-key", "", "x-api-key header is missing", "no API key"},
		{"x-api-key", "wrong", "API key", "an API key of somebody else"},
	} {
		r := m.request(http.MethodGet, "/selling/listings", nil)
		if row.value == "" {
			r.Header.Del(row.header)
		} else {
			r.Header.Set(row.header, row.value)
		}
		m.send(r).refused(http.StatusUnauthorized, row.says, row.why)
	}
	m.get("/selling/listings")
}
