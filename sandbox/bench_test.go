package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// BenchmarkNew starts and closes a sandbox in memory.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		s, err := sandbox.New(sandbox.Options{})
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
}

// tenThousand is a batch of 10,000 listings.
const tenThousand = `{"items":[{"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef","amount":"200","quantity":10000}]}`

// BenchmarkBatchItems does the work of a large batch in a file.
func BenchmarkBatchItems(b *testing.B) {
	var took time.Duration
	for b.Loop() {
		m := open(b, inFile(tempFile(b)))
		m.ServeHTTP(discard{}, m.request(http.MethodPost, "/selling/batch/create-listing", tenThousand))
		start := time.Now()
		m.settle()
		took += time.Since(start)
		require.NoError(b, m.Close())
	}
	b.ReportMetric(10_000*float64(b.N)/took.Seconds(), "items/s")
}

// BenchmarkListListings reads a filtered page of 100 of 10,000 listings.
func BenchmarkListListings(b *testing.B) {
	m := open(b, inFile(tempFile(b)))
	m.ServeHTTP(discard{}, m.request(http.MethodPost, "/selling/batch/create-listing", tenThousand))
	m.settle()
	for b.Loop() {
		m.ServeHTTP(discard{}, m.request(http.MethodGet, "/selling/listings?pageSize=100&listingStatuses=ACTIVE", nil))
	}
}

// discard discards a response.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
