package sandbox_test

import (
	"net/http"
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
