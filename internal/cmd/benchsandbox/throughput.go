package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// throughput is the effort of accepting and working items.
type throughput struct{ accept, work effort }

func (t *throughput) String() string {
	return fmt.Sprintf("%d items, %.0f a second accepted and %.0f worked (%.0f in a second of a core)",
		t.work.items, t.accept.perSecond(), t.work.perSecond(), t.work.perCPUSecond())
}

// measure accepts and works one batch of items.
func (t *throughput) measure(m *market, items int, submit func() error) error {
	if err := t.accept.measure(items, submit); err != nil {
		return err
	}
	return t.work.measure(items, func() error { return m.Work(context.Background()) })
}

// effort is the time of a number of items.
type effort struct {
	items     int
	time, cpu time.Duration
}

func (e *effort) perSecond() float64    { return float64(e.items) / e.time.Seconds() }
func (e *effort) perCPUSecond() float64 { return float64(e.items) / e.cpu.Seconds() }

func (e *effort) measure(items int, do func() error) error {
	before, err := cpuTime()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := do(); err != nil {
		return err
	}
	e.time += time.Since(start)
	after, err := cpuTime()
	e.cpu += after - before
	e.items += items
	return err
}

// sell submits batches of a hundred different listings and works them together. It also returns the
// longest time that a write of a request waited while another such load was worked.
func (m *market) sell(batches int) (t throughput, wait time.Duration, err error) {
	submit := func() error {
		for range batches {
			if _, err := m.submit("create-listing", m.inventory(100)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := t.measure(m, batches*100, submit); err != nil {
		return t, 0, err
	}
	if err := submit(); err != nil {
		return t, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- m.Work(context.Background()) }()
	for {
		select {
		case err := <-done:
			return t, wait, err
		default:
			_, took, err := m.call(http.MethodPost, "/selling/listings", fmt.Sprintf(`{"variantId":%q,"amount":"100"}`, m.variants[0]))
			if err != nil {
				return t, wait, err
			}
			wait = max(wait, took)
		}
	}
}
