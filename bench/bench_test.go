package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/bench/rival"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(tb testing.TB) []call {
	tb.Helper()
	calls, err := loadCalls()
	require.NoError(tb, err)
	return calls
}

// A contender that decodes less than the others would be faster for the wrong reason.
func TestContenders_DecodeEverything(t *testing.T) {
	calls := load(t)
	hc := &http.Client{Transport: newService(calls)}
	for _, c := range calls {
		var want any
		for _, contender := range contenders() {
			run, err := contender.call(memoryURL, hc, c)
			require.NoError(t, err)
			got, err := run(t.Context())
			require.NoError(t, err, "%s: %s", c.title, contender.name)
			switch contender.name {
			case rawRead:
				assert.Equal(t, c.body, got, c.title)
				continue
			case encodingJSON:
				want = got
				assert.NotZero(t, want)
			case oapiCodegen:
				count, first := countOf(got)
				model := c.target()
				require.NoError(t, json.Unmarshal(c.body, model))
				wantCount, wantFirst := countOf(model)
				assert.Equal(t, wantCount, count, c.title)
				assert.Equal(t, wantFirst, first, c.title)
			default:
				assert.Equal(t, want, got, "%s: %s", c.title, contender.name)
			}
			decoded, err := contender.decode(c)(t.Context())
			require.NoError(t, err)
			assert.Equal(t, got, decoded, "%s: %s decodes in memory as it does in a call", c.title, contender.name)
		}
	}
}

// countOf returns the number of entries of a model, and the id of the first one.
func countOf(v any) (n int, first string) {
	switch v := v.(type) {
	case *gen.ListingPage:
		return len(v.Listings), v.Listings[0].ListingID
	case *rival.ListingPage:
		return len(v.Listings), v.Listings[0].ListingId.String()
	case *gen.CreateBatchItemList:
		return len(v.Items), v.Items[0].ItemID
	case *rival.CreateBatchItemList:
		return len(v.Items), *v.Items[0].ItemId
	case *gen.MarketData:
		return 1, v.VariantID
	case *rival.MarketData:
		return 1, *v.VariantId
	case *gen.Listing:
		return 1, v.ListingID
	case *rival.Listing:
		return 1, v.ListingId.String()
	}
	return 0, ""
}

func TestOptions_MeasureEveryLimit(t *testing.T) {
	calls := load(t)
	limits, err := loadLimits()
	require.NoError(t, err)

	rows, figures, err := options{rounds: 1, listings: 2000}.measure(t.Context(), calls, compared())

	require.NoError(t, err)
	assert.Len(t, rows, len(calls)*len(compared()))
	for _, l := range limits {
		assert.Contains(t, figures, l.Figure)
	}
	for _, table := range []table{callTable(calls, rows), figureTable(limits, figures, openedByNetHTTP)} {
		for _, line := range table.lines {
			assert.Len(t, line, len(table.lines[0]), "%v", line)
		}
	}
}

func TestCheck_FailsIfLimitIsExceededTwice(t *testing.T) {
	limits := []limit{{Figure: "a", Limit: 10}, {Figure: "b", Limit: 4, AtLeast: true}}
	for _, test := range []struct {
		name     string
		measured []map[string]float64
		err      error
	}{
		{"figures at their limits are allowed", []map[string]float64{{"a": 10, "b": 4}}, nil},
		{"noise in one measurement is forgiven", []map[string]float64{{"a": 11, "b": 4}, {"a": 9, "b": 4}}, nil},
		{"the second one decides only what failed in the first", []map[string]float64{{"a": 11, "b": 4}, {"a": 9, "b": 3}}, nil},
		{"too much twice", []map[string]float64{{"a": 11, "b": 4}, {"a": 11, "b": 4}}, errLimit},
		{"too little twice", []map[string]float64{{"a": 1, "b": 3}, {"a": 1, "b": 3}}, errLimit},
		{"a figure that is not measured", []map[string]float64{{"a": 1}, {"a": 1}}, errLimit},
	} {
		t.Run(test.name, func(t *testing.T) {
			measured := 0
			err := check(limits, func() (map[string]float64, error) {
				measured++
				return test.measured[measured-1], nil
			}, func(table) {})

			assert.ErrorIs(t, err, test.err)
			assert.Equal(t, len(test.measured), measured)
		})
	}
}

func TestPrintMarkdown_PrintsTable(t *testing.T) {
	var b strings.Builder
	printMarkdown(&b, table{"Title", [][]string{{"a", "b"}, {"1", ""}}})
	assert.Equal(t, "### Title\n\n| a | b |\n|---|---|\n| 1 |  |\n\n", b.String())
}

func TestNumber_KeepsTwoDigits(t *testing.T) {
	for _, test := range []struct {
		number float64
		want   string
	}{{0, "0"}, {4, "4"}, {1.3, "1.3"}, {7.256, "7.26"}, {90, "90"}, {1649.5, "1,650"}, {1_234_567, "1,234,567"}} {
		assert.Equal(t, test.want, number(test.number))
	}
}

func BenchmarkCall(b *testing.B) {
	calls := load(b)
	s := startServers(calls)
	b.Cleanup(s.close)
	for _, c := range calls {
		for _, contender := range contenders() {
			for _, transport := range []struct {
				name, baseURL string
				client        *http.Client
			}{
				{"HTTP", s.plain.URL + prefix, s.client},
				{"TLS", s.tls.URL + prefix, s.client},
				{"memory", memoryURL, &http.Client{Transport: newService(calls)}},
			} {
				run, err := contender.call(transport.baseURL, transport.client, c)
				require.NoError(b, err)
				b.Run(fmt.Sprintf("%s/%s/%s", c.name, transport.name, contender.name), func(b *testing.B) {
					benchmark(b, c, run)
				})
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range load(b) {
		for _, contender := range contenders() {
			if contender.decode != nil {
				b.Run(c.name+"/"+contender.name, func(b *testing.B) { benchmark(b, c, contender.decode(c)) })
			}
		}
	}
}

func benchmark(b *testing.B, c call, r run) {
	b.ReportAllocs()
	b.SetBytes(int64(len(c.body)))
	for b.Loop() {
		if _, err := r(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
