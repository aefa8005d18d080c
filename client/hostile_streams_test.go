package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
)

// hostileStreams are answers whose trouble is how their bytes come.
func hostileStreams(t *testing.T) []hostileCase {
	t.Helper()
	bomb := gzipped(t, 40<<20)
	impatient := client.RetryPolicy{MaxAttempts: 1, AttemptTimeout: 200 * time.Millisecond}
	theFirst := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(firstListing), firstListing)
	const tooLarge = "DecodeError, ErrBodyTooLarge; sent 1"
	return []hostileCase{
		{name: "100 MB, read", rule: "an answer is read up to 16 MiB, once", call: getListing, answer: spaces(200, 100<<20), result: tooLarge},
		{name: "100 MB, write", rule: "what was written with it is unknown", call: createListing, answer: spaces(200, 100<<20), result: "DecodeError, ErrBodyTooLarge, ErrOutcomeUnknown; sent 1"},
		{name: "100 MB of an error", rule: "an error's body is read up to 64 KiB, and its status stays", call: createListing, answer: spaces(500, 100<<20), result: "APIError 500, ErrOutcomeUnknown; sent 1"},
		{name: "gzip bomb, read", rule: "the bound holds after decompression", call: getListing, answer: packed(200, bomb), result: tooLarge},
		{name: "gzip bomb, write", rule: "also for a write", call: createListing, answer: packed(200, bomb), result: "DecodeError, ErrBodyTooLarge, ErrOutcomeUnknown; sent 1"},
		{name: "gzip bomb of an error", rule: "also for an error", call: getListing, answer: packed(404, bomb), result: "APIError 404; sent 1"},
		{name: "gzip that is none", rule: "what cannot be unpacked broke off", call: createListing, answer: packed(200, []byte(`{"listingId":"l"}`)), result: "DecodeError, ErrOutcomeUnknown; sent 1"},
		{name: "gzip that is none, of an error", rule: "an error's status stays when its body cannot be unpacked", call: createListing, answer: packed(409, []byte("conflict")), result: "APIError 409; sent 1"},
		{name: "slow drip, read", rule: "the attempt timeout covers the body", call: getListing, answer: dripping(200), result: "DecodeError; sent 1", policy: impatient},
		{name: "slow drip, write", rule: "a write whose answer drips is unknown", call: createListing, answer: dripping(200), result: "DecodeError, ErrOutcomeUnknown; sent 1", policy: impatient},
		{name: "slow drip of an error", rule: "an error's status stays, however little of its body came", call: createListing, answer: dripping(409), result: "APIError 409; sent 1", policy: impatient},
		{name: "12 MB of headers", rule: "headers are bounded too", call: createListing, answer: manyHeaders, result: "TransportError, ErrOutcomeUnknown; sent 1"},
		{name: "not HTTP", rule: "another protocol's greeting is no answer", call: createListing, answer: onTheWire("SSH-2.0-OpenSSH_9.9\r\n"), result: "TransportError, ErrOutcomeUnknown; sent 1"},
		{name: "a length of -1", rule: "nor is a head that makes no sense", call: createListing, answer: onTheWire("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"), result: "TransportError, ErrOutcomeUnknown; sent 1"},
		{name: "chunks that are none", rule: "a broken framing is a body that broke off", call: createListing, answer: onTheWire("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"), result: "DecodeError, ErrOutcomeUnknown; sent 1"},
		{name: "two answers to one request", rule: "what comes after an answer belongs to nobody", call: twice, answer: onTheWire(theFirst + strings.Replace(theFirst, "first", "other", 1)), result: "read; sent 2"},
	}
}

const firstListing = `{"listingId":"` + listingID + `","condition":"first"}`

func spaces(status, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		block := bytes.Repeat([]byte(" "), 64<<10)
		for sent := 0; sent < size; sent += len(block) {
			if _, err := w.Write(block); err != nil {
				return // the client has read enough
			}
		}
	}
}

func gzipped(t *testing.T, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	require.NoError(t, err)
	block := bytes.Repeat([]byte(" "), 1<<20)
	for sent := 0; sent < size; sent += len(block) {
		_, err = w.Write(block)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.Less(t, packed.Len(), 1<<20)
	return packed.Bytes()
}

func packed(status int, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		_, _ = w.Write(data)
	}
}

// drip sends a byte every few milliseconds until the client goes away.
func dripping(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		flow := time.NewTicker(5 * time.Millisecond)
		defer flow.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-flow.C:
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
			}
		}
	}
}

func manyHeaders(w http.ResponseWriter, _ *http.Request) {
	for i := range 12_000 {
		w.Header().Set(fmt.Sprintf("X-Header-%d", i), string(bytes.Repeat([]byte("x"), 1000)))
	}
	_, _ = io.WriteString(w, `{}`)
}

// raw answers with bytes of its own and closes the connection.
func onTheWire(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

// twice reads a listing twice; both times it must be the first answer that counts.
func twice(ctx context.Context, c *client.Client) (any, error) {
	for range 2 {
		l, err := c.Listings.Get(ctx, listingID)
		if err != nil {
			return nil, err
		}
		if l.Condition != "first" {
			return nil, fmt.Errorf("read the response %q", l.Condition)
		}
	}
	return nil, nil
}

func TestAHugeAnswerIsNotReadToItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		status, most int
	}{
		"of success": {200, 20 << 20},
		"of failure": {404, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			c, read := countingClient(t, spaces(test.status, 100<<20))
			_, err := c.Listings.Get(t.Context(), listingID)
			require.Error(t, err)
			assert.Less(t, int(read.Load()), test.most, "bytes read off the connection")
		})
	}
}
