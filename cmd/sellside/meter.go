package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
)

// meter prints how far a run is: on a terminal one line that is overwritten, elsewhere a line every
// few seconds. It is safe for concurrent use.
type meter struct {
	w        io.Writer
	terminal bool

	mu      sync.Mutex
	total   int // Listings to be created, updated or deleted.
	done    int
	failed  int
	began   time.Time
	printed time.Time
	retried time.Time // When the last failure was printed that is repeated.
	shown   bool      // A line is on the terminal that has no end.
}

// lineEvery is the time between two lines, and moveEvery that between two changes on a terminal.
const (
	lineEvery = 5 * time.Second
	moveEvery = 200 * time.Millisecond
)

// start begins a run.
func (m *meter) start(total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total, m.done, m.failed, m.began, m.printed = total, 0, 0, time.Now(), time.Now()
}

// add counts outcomes.
func (m *meter) add(done, failed int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done, m.failed = m.done+done, m.failed+failed
	every := lineEvery
	if m.terminal {
		every = moveEvery
	}
	if m.w == nil || time.Since(m.printed) < every {
		return
	}
	m.printed = time.Now()
	if m.terminal {
		m.shown = true
		fmt.Fprintf(m.w, "\r\x1b[K%s", m.text())
		return
	}
	fmt.Fprintln(m.w, m.text())
}

func (m *meter) text() string {
	text := fmt.Sprintf("%d of %d", m.done+m.failed, m.total)
	if m.failed > 0 {
		text += fmt.Sprintf(", %d failed", m.failed)
	}
	elapsed := time.Since(m.began)
	if n := m.done + m.failed; n > 0 && elapsed > 0 {
		perMinute := int(time.Duration(n) * time.Minute / elapsed)
		left := elapsed / time.Duration(n) * time.Duration(max(0, m.total-n))
		text += fmt.Sprintf(", %d a minute, %s left", perMinute, left.Round(time.Second))
	}
	return text
}

// print prints a line.
func (m *meter) print(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.line(format, args...)
}

// retrying is called when a request has failed and will be repeated. It prints the failure at most
// every ten seconds.
func (m *meter) retrying(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); now.Sub(m.retried) >= 10*time.Second {
		m.retried = now
		m.line("trying again: %s", report.Plain(err.Error()))
	}
}

func (m *meter) line(format string, args ...any) {
	m.clear()
	fmt.Fprintf(m.w, format+"\n", args...)
}

// end removes the line that is on the terminal.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
}

func (m *meter) clear() {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.shown = false
	}
}
