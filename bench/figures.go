package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
)

// limitsFile is the one place with the limits.
//
//go:embed limits.json
var limitsFile []byte

// limit is what a figure has to be.
type limit struct {
	// Figure names the figure.
	Figure string `json:"figure"`
	// AtLeast makes the limit, the target and the aim lower bounds. They are upper bounds otherwise.
	AtLeast bool `json:"atLeast"`
	// Limit fails the check if the figure is beyond it. It includes a margin of 30 % for the noise of
	// a machine.
	Limit float64 `json:"limit"`
	// Target is what the figure has to become, without a margin.
	Target float64 `json:"target"`
	// Aim is better than the target; 0 if there is no such aim.
	Aim float64 `json:"aim"`
}

// loadLimits returns the limits in the order of the file.
func loadLimits() (limits []limit, err error) {
	decoder := json.NewDecoder(bytes.NewReader(limitsFile))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&limits); err != nil {
		return nil, fmt.Errorf("read limits.json: %w", err)
	}
	return limits, nil
}

// allows reports whether a figure is within its limit. A missing figure is not.
func (l limit) allows(figures map[string]float64) bool {
	figure, ok := figures[l.Figure]
	switch {
	case !ok:
		return false
	case l.AtLeast:
		return figure >= l.Limit
	default:
		return figure <= l.Limit
	}
}

// addRows adds the figures of the SDK's calls, by their names in limits.json.
func addRows(figures map[string]float64, rows []row) {
	for _, r := range rows {
		if r.contender != sdk {
			continue
		}
		figures[r.call+": time over HTTP / raw read"] = r.http.times
		figures[r.call+": allocations"] = float64(r.allocations)
		figures[r.call+": decoding, times faster than encoding/json"] = 1 / r.decode.times
	}
}

// The names of the figures that are not of one call.
const (
	peakHeap   = "iterate 1,000,000 listings: peak heap in MB"
	heapGrowth = "iterate 1,000,000 listings: peak heap / peak heap of the first tenth"
	opened     = "1,000 calls over TLS from 64 goroutines: new connections"
	// openedByNetHTTP has no limit. It shows what the transport of the SDK saves.
	openedByNetHTTP = "the same with the default transport of net/http"
)

// longFigures returns the figures of a long list and of many callers. It needs a heap that is small.
func longFigures(ctx context.Context, calls []call, listings int) (map[string]float64, error) {
	byName := map[string]call{}
	for _, c := range calls {
		byName[c.name] = c
	}
	tenth, all, err := streamPeaks(ctx, byName[page], listings)
	if err != nil {
		return nil, fmt.Errorf("iterate listings: %w", err)
	}
	bySDK, err := newConnections(ctx, byName[market], callSDK)
	if err != nil {
		return nil, fmt.Errorf("count connections: %w", err)
	}
	byNetHTTP, err := newConnections(ctx, byName[market], readRaw)
	if err != nil {
		return nil, fmt.Errorf("count connections: %w", err)
	}
	return map[string]float64{
		peakHeap: float64(all) / 1e6, heapGrowth: float64(all) / float64(tenth),
		opened: float64(bySDK), openedByNetHTTP: float64(byNetHTTP),
	}, nil
}
