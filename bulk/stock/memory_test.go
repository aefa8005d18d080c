package stock_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
)

// generated is an inventory of n rows that is not in memory.
type generated struct {
	n, next int
	rest    []byte
	line    func(i int) string
}

func (g *generated) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		if g.next > g.n {
			return 0, io.EOF
		}
		g.rest = []byte(g.line(g.next))
		g.next++
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

func csvLine(i int) string {
	if i == 0 {
		return header
	}
	return fmt.Sprintf("SKU-%d,DZ5485-612,10.5,162.50,USD,1\n", i)
}

func jsonLine(i int) string {
	return fmt.Sprintf(`{"sku":"SKU-%d","style_id":"DZ5485-612","size":"10.5","price":162.50,"currency":"USD","quantity":1}`+"\n", i)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestReader_UsesLittleMemoryPerRow(t *testing.T) {
	const rows = 50_000
	for _, test := range []struct {
		line    func(int) string
		why     string
		bytes   uint64 // More than the map of hashes needs, less than any line.
		invalid bool
	}{
		{csvLine, "CSV", 48, false},
		{jsonLine, "NDJSON", 48, false},
		{func(i int) string { return csvLine(min(i, 1)) }, "the same key again", 1, true},
		{func(i int) string {
			if i == 0 {
				return "note," + header
			}
			return fmt.Sprintf("\"%d\n", i)
		}, "a quote on every line", 1, true},
		{func(i int) string {
			if i == 0 {
				return header
			}
			return strings.Repeat("x", 1<<10)
		}, "a line without an end", 1, true},
	} {
		before := heap()
		reader := stock.NewReader(&generated{n: rows, line: test.line}, stock.Options{})
		var most uint64
		count, problems := 0, 0
		for _, err := range reader.Rows() {
			if err != nil {
				_, ok := errors.AsType[*stock.Problem](err)
				require.True(t, ok, test.why)
				problems++
			}
			if count++; count%10_000 == 0 {
				most = max(most, heap())
			}
		}
		most = max(most, heap())
		runtime.KeepAlive(reader)
		const buffers = 3 << 19 // A line, the buffers of the reader, and what else lives.
		assert.Less(t, most, before+test.bytes*rows+buffers, test.why)
		assert.Equal(t, test.invalid, problems > 0, test.why)
	}
}

func TestReader_AllocatesLittlePerRow(t *testing.T) {
	const rows = 2_000
	for _, test := range []struct {
		line  func(int) string
		limit int
		why   string
	}{
		{csvLine, 5, "the line, its fields, their offsets"},
		{jsonLine, 8, "the line, and its check"},
	} {
		allocs := testing.AllocsPerRun(2, func() {
			reader := stock.NewReader(&generated{n: rows, line: test.line}, stock.Options{})
			for range reader.Rows() { //nolint:errcheck // counts allocations
			}
		})
		generation := testing.AllocsPerRun(2, func() {
			_, _ = io.Copy(io.Discard, struct{ io.Reader }{&generated{n: rows, line: test.line}})
		})
		perRow := int(allocs-generation) / rows
		t.Logf("%s: %d allocations a row", test.why, perRow)
		assert.LessOrEqual(t, perRow, test.limit, test.why)
	}
}

func benchmarkText(line func(int) string) string {
	var text strings.Builder
	for i := range 10_000 {
		text.WriteString(line(i))
	}
	return text.String()
}

// BenchmarkReader compares rows with the records of encoding/csv, which checks nothing.
func BenchmarkReader(b *testing.B) {
	for name, line := range map[string]func(int) string{"csv": csvLine, "ndjson": jsonLine} {
		text := benchmarkText(line)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				for _, err := range stock.NewReader(strings.NewReader(text), stock.Options{}).Rows() {
					if err != nil {
						b.Fatal(err)
					}
					rows++
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	text := benchmarkText(csvLine)
	b.Run("encoding-csv", func(b *testing.B) {
		b.ReportAllocs()
		rows := 0
		for b.Loop() {
			for reader := csv.NewReader(strings.NewReader(text)); ; rows++ {
				if _, err := reader.Read(); err != nil {
					break
				}
			}
		}
		b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	})
}
