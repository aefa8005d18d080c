package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strconv"

	"github.com/sellside-sdk/sellside-go/client"
)

const pageSize = 100

// streamPeaks iterates many listings with the SDK, and returns the peak of the heap in bytes during
// the first tenth and during all. The heap includes garbage that is not yet collected.
func streamPeaks(ctx context.Context, page call, listings int) (tenth, all uint64, err error) {
	endless, err := newEndless(page.body, listings)
	if err != nil {
		return 0, 0, err
	}
	c, err := newSDK(memoryURL, &http.Client{Transport: endless})
	if err != nil {
		return 0, 0, err
	}
	debug.FreeOSMemory()
	seen := 0
	for _, err := range c.Listings.List(ctx, client.ListingFilter{}) {
		if err != nil {
			return 0, 0, err
		}
		seen++
		if seen%pageSize == 0 {
			all = max(all, heap())
		}
		if seen == listings/10 {
			tenth = all
		}
	}
	if seen != listings {
		return 0, 0, fmt.Errorf("iterate listings: got %d, want %d", seen, listings)
	}
	return tenth, all, nil
}

// heap returns the bytes that objects on the heap occupy, live or not yet collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// endless is a transport that makes up the pages of a list, one call at a time. It reuses a page,
// so that the memory that it needs does not grow.
type endless struct {
	listings int
	array    []byte // The elements of a page.
	ids      []int  // The offsets of the digits that make the ids of the elements unique.
	page     bytes.Buffer
}

// digits is the number of digits at the end of an id that are replaced.
const digits = 12

func newEndless(template []byte, listings int) (*endless, error) {
	var page struct{ Listings json.RawMessage }
	if err := json.Unmarshal(template, &page); err != nil {
		return nil, fmt.Errorf("read template of a page: %w", err)
	}
	e := &endless{listings: listings, array: bytes.Clone(page.Listings)}
	const member, uuid = `"listingId":"`, 36
	for offset := 0; ; {
		i := bytes.Index(e.array[offset:], []byte(member))
		if i < 0 {
			break
		}
		offset += i + len(member) + uuid
		e.ids = append(e.ids, offset-digits)
	}
	if len(e.ids) != pageSize {
		return nil, fmt.Errorf("read template of a page: %d ids, want %d", len(e.ids), pageSize)
	}
	return e, nil
}

// RoundTrip implements [http.RoundTripper].
func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	number := 1
	if text := r.URL.Query().Get("pageNumber"); text != "" {
		var err error
		if number, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("read page number: %w", err)
		}
	}
	for i, offset := range e.ids {
		copy(e.array[offset:], fmt.Appendf(nil, "%0*d", digits, (number-1)*pageSize+i))
	}
	e.page.Reset()
	fmt.Fprintf(&e.page, `{"count":%d,"hasNextPage":%t,"pageNumber":%d,"pageSize":%d,"listings":`,
		e.listings, number*pageSize < e.listings, number, pageSize)
	e.page.Write(e.array)
	e.page.WriteByte('}')
	return response(r, e.page.Bytes()), nil
}
