package main

import (
	"bytes"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
	"github.com/sellside-sdk/sellside-go/internal/h2peer"
)

// inTurn lets submissions of batches meet the mishaps one after the other, and everything else pass.
func inTurn(mishaps ...mishap) network {
	return func(uint64) func(*http.Request) mishap {
		var submissions atomic.Int64
		return func(r *http.Request) mishap {
			if r.Method != http.MethodPost {
				return mishap{}
			}
			n := int(submissions.Add(1)) - 1
			return mishaps[n%len(mishaps)]
		}
	}
}

var (
	none       = mishap{}
	lostAnswer = connection(faultproxy.LostResponse, h2peer.Applied, h2peer.ResetStream, http2.ErrCodeProtocol)
	reset      = connection(faultproxy.Reset, h2peer.Headers, h2peer.GoAwayClose, http2.ErrCodeNo)
	stall      = connection(faultproxy.Stall, h2peer.Applied, h2peer.Stall, http2.ErrCodeNo)
)

func TestRecoveryNeitherLosesNorDuplicatesListings(t *testing.T) {
	cut := connection(faultproxy.CutMidBody, h2peer.HalfResponse, h2peer.ResetStream, http2.ErrCodeCancel)
	headers := connection(faultproxy.ResetAfterHeaders, h2peer.ResponseHeaders, h2peer.ResetConnection, http2.ErrCodeNo)
	net := inTurn(lostAnswer, reset, none, cut, headers, status(503, true), status(503, false))
	for seed, protocol := range map[uint64]string{1: "HTTP/1", 2: "HTTP/2"} {
		t.Run(protocol, func(t *testing.T) {
			o, err := run{listings: 600, deadline: time.Minute, network: net}.sellSeed(t.Context(), seed)

			require.NoError(t, err)
			assert.Equal(t, "lost=0 duplicated=0 unknown=0", o.String())
			assert.Equal(t, 5, o.recovered, "of six batches, submitted eight times, five landed without saying so")
		})
	}
}

func TestTheExitCodeSaysWhetherRecoveryWasNeeded(t *testing.T) {
	for _, row := range []struct {
		what string
		args []string
		code int
		last string
	}{
		{"what was recovered is there once", nil, 0, "lost=0 duplicated=0 unknown=0\n"},
		{"what was sent again without recovery is there twice", []string{"-blind"}, 1, "lost=0 duplicated=200 unknown=0\n"},
	} {
		t.Run(row.what, func(t *testing.T) {
			var out, failed bytes.Buffer

			code := command(t.Context(), append(row.args, "-seeds", "2", "-listings", "100"), &out, &failed, inTurn(lostAnswer, none))

			assert.Equal(t, row.code, code)
			assert.Contains(t, out.String(), row.last)
			assert.Equal(t, code != 0, failed.Len() > 0, failed.String())
		})
	}
}

func TestWhatDoesNotGetOnIsGivenUp(t *testing.T) {
	for _, row := range []struct {
		what string
		net  network
		args []string
		want string
	}{
		{"a refusal stays one", inTurn(status(400, false)), nil, "chaos: seed 1: batch 1 of 1: submit it: CreateListingsBatch: 400"},
		{"what fails each time does not pass", inTurn(status(429, false)), nil, "chaos: seed 1: batch 1 of 1: submit it: it fails again and again, 10 times in a row: CreateListingsBatch: 429"},
		{"what hangs ends with the seed", inTurn(stall), []string{"-deadline", "200ms"}, "chaos: seed 1: not over at the deadline of 200ms: batch 1 of 1: submit it: CreateListingsBatch"},
	} {
		t.Run(row.what, func(t *testing.T) {
			var out, failed bytes.Buffer

			code := command(t.Context(), append(row.args, "-seeds", "1", "-listings", "10"), &out, &failed, row.net)

			assert.Equal(t, 1, code)
			assert.Contains(t, failed.String(), row.want)
			assert.NotContains(t, out.String(), "lost=")
		})
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	var out, failed bytes.Buffer

	code := command(t.Context(), []string{"-seed", "1"}, &out, &failed, inTurn(none))

	assert.Equal(t, 2, code)
	assert.Contains(t, failed.String(), "not defined: -seed")
	assert.Empty(t, out.String())
}
