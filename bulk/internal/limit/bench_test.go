package limit_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/limit"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		d, err := openDatabase(":memory:")
		if err != nil {
			b.Fatal(err)
		}
		_ = d.Close()
	}
}

// BenchmarkAcquire acquires and releases places, with a day of 25,000 charges in the windows.
func BenchmarkAcquire(b *testing.B) {
	for name, database := range map[string]string{"memory": ":memory:", "file": filepath.Join(b.TempDir(), "ledger.db")} {
		b.Run(name, func(b *testing.B) {
			d := openDB(b, database)
			l := limit.New(d, limit.Config{Account: "a", Quota: quota.Quota{
				RequestsPerSecond: 1_000_000, RequestsPerDay: 1_000_000_000, ItemsPerWindow: 1_000_000_000, ItemsPerDay: 1_000_000_000,
			}})
			acquire := func() {
				release, err := l.Acquire(b.Context(), 1)
				if err != nil {
					b.Fatal(err)
				}
				release(quota.Sent)
			}
			for range 25_000 {
				acquire()
			}
			var longest time.Duration
			for b.Loop() {
				start := time.Now()
				acquire()
				longest = max(longest, time.Since(start))
			}
			b.ReportMetric(float64(longest.Milliseconds()), "longest-ms")
			if err := l.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
