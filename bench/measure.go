package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"time"
)

const (
	// turn is how long a contender repeats its call in a round. It spans several collections of
	// garbage, so that each contender pays for its own.
	turn = 10 * time.Millisecond
	// counted is how many calls the allocations are counted over.
	counted = 200
)

// cell is the measurement of one contender: medians over all rounds.
type cell struct {
	time time.Duration // By the clock.
	// times is the processor time relative to the first contender, with that of the server. It is the
	// median of the ratios within each round, so that a change of the machine's speed between two
	// rounds does not change it. On an idle machine, ratios by the clock are nearly the same; on a
	// busy one, they depend on the other processes.
	times float64
}

// compare measures runs that take turns, each round beginning with another one.
func compare(ctx context.Context, rounds int, runs []run) ([]cell, error) {
	repeats := make([]int, len(runs))
	for i, r := range runs {
		if _, err := repeat(ctx, r, 3); err != nil { // opens connections and fills caches
			return nil, err
		}
		took, err := repeat(ctx, r, 3)
		if err != nil {
			return nil, err
		}
		repeats[i] = max(1, int(turn/max(took.clock, 1)))
	}
	taken := make([][]duration, len(runs))
	for round := range rounds {
		for i := range runs {
			i = (i + round) % len(runs)
			took, err := repeat(ctx, runs[i], repeats[i])
			if err != nil {
				return nil, err
			}
			taken[i] = append(taken[i], took)
		}
	}
	cells := make([]cell, len(runs))
	for i := range runs {
		var clocks []time.Duration
		var ratios []float64
		for round, took := range taken[i] {
			clocks = append(clocks, took.clock)
			ratios = append(ratios, float64(took.processor)/float64(taken[0][round].processor))
		}
		cells[i] = cell{time: median(clocks), times: median(ratios)}
	}
	return cells, nil
}

// duration is how long a run took, by the clock and on the processor.
type duration struct{ clock, processor time.Duration }

// repeat returns the mean duration of n runs.
func repeat(ctx context.Context, r run, n int) (duration, error) {
	begin := time.Now()
	used, err := processorTime()
	if err != nil {
		return duration{}, err
	}
	for range n {
		if _, err := r(ctx); err != nil {
			return duration{}, err
		}
	}
	after, err := processorTime()
	return duration{time.Since(begin) / time.Duration(n), (after - used) / time.Duration(n)}, err
}

// median returns the upper median of values that there is at least one of.
func median[T time.Duration | float64](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// allocations returns the allocations of a run and their bytes, the mean over many runs.
func allocations(ctx context.Context, r run) (count, size uint64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, err := repeat(ctx, r, 5); err != nil { // fills pools
		return 0, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = repeat(ctx, r, counted)
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / counted, (after.TotalAlloc - before.TotalAlloc) / counted, err
}

// row is what is measured of one contender and one call.
type row struct {
	call, contender string
	http, tls       cell
	allocations     uint64 // In memory, as bytes is.
	bytes           uint64
	decode          cell // Relative to encoding/json; zero without decoding.
}

// servers serve the calls over loopback until they are closed.
type servers struct {
	plain, tls *httptest.Server
	client     *http.Client // Of all contenders.
}

func startServers(calls []call) *servers {
	s := &servers{plain: httptest.NewServer(newService(calls)), tls: httptest.NewTLSServer(newService(calls))}
	transport := trusting(s.tls)
	s.client = &http.Client{Transport: transport}
	return s
}

func (s *servers) close() {
	s.client.CloseIdleConnections()
	s.plain.Close()
	s.tls.Close()
}

// trusting returns the default transport of net/http, which trusts the certificate of a server.
func trusting(server *httptest.Server) *http.Transport {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	t := &http.Transport{ForceAttemptHTTP2: true}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		t = standard.Clone()
	}
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return t
}

// memoryURL is the base URL of calls that use no connection.
const memoryURL = "https://bench.invalid" + prefix

// measure measures all calls of the contenders.
func measure(ctx context.Context, calls []call, contenders []contender, rounds int) ([]row, error) {
	s := startServers(calls)
	defer s.close()
	inMemory := &http.Client{Transport: newService(calls)}
	var rows []row
	for _, c := range calls {
		measured, err := measureCall(ctx, c, contenders, rounds, s, inMemory)
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", c.title, err)
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

func measureCall(
	ctx context.Context, c call, contenders []contender, rounds int, s *servers, inMemory *http.Client,
) ([]row, error) {
	overHTTP, err := callsOf(c, contenders, s.plain.URL+prefix, s.client)
	if err != nil {
		return nil, err
	}
	overTLS, err := callsOf(c, contenders, s.tls.URL+prefix, s.client)
	if err != nil {
		return nil, err
	}
	memory, err := callsOf(c, contenders, memoryURL, inMemory)
	if err != nil {
		return nil, err
	}
	httpCells, err := compare(ctx, rounds, overHTTP)
	if err != nil {
		return nil, err
	}
	tlsCells, err := compare(ctx, rounds, overTLS)
	if err != nil {
		return nil, err
	}
	decodeCells, err := compareDecoding(ctx, c, contenders, rounds)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(contenders))
	for i, contender := range contenders {
		rows[i] = row{
			call: c.name, contender: contender.name,
			http: httpCells[i], tls: tlsCells[i], decode: decodeCells[contender.name],
		}
		if rows[i].allocations, rows[i].bytes, err = allocations(ctx, memory[i]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// callsOf returns the runs of a call by all contenders.
func callsOf(c call, contenders []contender, baseURL string, hc *http.Client) ([]run, error) {
	runs := make([]run, len(contenders))
	for i, contender := range contenders {
		var err error
		if runs[i], err = contender.call(baseURL, hc, c); err != nil {
			return nil, fmt.Errorf("%s: %w", contender.name, err)
		}
	}
	return runs, nil
}

// compareDecoding compares the contenders that decode, in memory, with encoding/json.
func compareDecoding(ctx context.Context, c call, contenders []contender, rounds int) (map[string]cell, error) {
	decoding := slices.DeleteFunc(slices.Clone(contenders), func(c contender) bool { return c.decode == nil })
	first := slices.IndexFunc(decoding, func(c contender) bool { return c.name == encodingJSON })
	decoding[0], decoding[first] = decoding[first], decoding[0]
	runs := make([]run, len(decoding))
	for i, contender := range decoding {
		runs[i] = contender.decode(c)
	}
	cells, err := compare(ctx, rounds, runs)
	if err != nil {
		return nil, err
	}
	byName := map[string]cell{}
	for i, contender := range decoding {
		byName[contender.name] = cells[i]
	}
	return byName, nil
}
