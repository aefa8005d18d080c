// Package logbuffer keeps a log that is not read from stopping the program that writes it.
package logbuffer

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// limit is the most bytes that wait to be written.
const limit = 256 << 10

// Writer passes records on to another writer from a goroutine. Write never waits and never fails:
// records that find no room, or that the other writer refuses, are dropped and counted, and the
// number is written as a record when there is room again. It is safe for concurrent use and must be
// closed.
type Writer struct {
	to    io.Writer
	wake  chan struct{} // has a token if there is something to write
	ended chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	waiting []byte
	records int // in waiting
	dropped int // since the last record that says so
	closed  bool
}

// New returns a Writer to another one, which is used by one goroutine at a time.
func New(to io.Writer) *Writer {
	w := &Writer{to: to, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go w.run()
	return w
}

// Write implements [io.Writer]. It takes one record, as the handlers of log/slog pass it.
func (w *Writer) Write(record []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.waiting)+len(record) > limit {
		w.dropped++
		return len(record), nil
	}
	w.waiting = append(w.waiting, record...)
	w.records++
	w.signal()
	return len(record), nil
}

// signal wakes the goroutine. The caller holds mu.
func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // there is a token already
	}
}

// Close ends the Writer after all records were written, or after a time if the other writer blocks.
// Records that are written after Close are dropped.
func (w *Writer) Close(within time.Duration) {
	w.mu.Lock()
	w.closed = true
	w.signal()
	w.mu.Unlock()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-w.ended:
	case <-timer.C:
	}
}

func (w *Writer) run() {
	defer close(w.ended)
	for range w.wake {
		text, records, dropped, closed := w.take()
		if len(text) > 0 {
			if _, err := w.to.Write(text); err != nil {
				dropped += records
			}
		}
		if dropped > 0 {
			if _, err := fmt.Fprintf(w.to, "level=WARN msg=\"log records dropped\" count=%d\n", dropped); err != nil {
				w.drop(dropped)
			}
		}
		if closed {
			return
		}
	}
}

// take returns what waits, how many records that are, how many were dropped, and whether these are
// the last ones.
func (w *Writer) take() (text []byte, records, dropped int, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, records, dropped = w.waiting, w.records, w.dropped
	w.waiting, w.records, w.dropped = nil, 0, 0
	return text, records, dropped, w.closed
}

// drop counts records as dropped.
func (w *Writer) drop(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped += n
}
