package report

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// Progress prints the progress of a run: lines, and a bar below them if the writer is a terminal. It
// prints the id of every batch as soon as it is known, because no operation lists batches. It is
// safe for concurrent use.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	bar      *progressbar.ProgressBar // Nil unless it is shown.
	last     time.Time                // When the last line was printed that may be left out.
	retried  time.Time                // When the last failure was printed that is repeated.
}

// NewProgress returns the progress of a run that is printed on w.
func NewProgress(w io.Writer) *Progress { return &Progress{w: w, terminal: IsTerminal(w)} }

// Print prints a line.
func (p *Progress) Print(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(format, args...)
}

// End removes the bar, for what is printed after the run.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// LookedUp is called when so many products are looked up.
func (p *Progress) LookedUp(done, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.move("looking up products", done, of, func() {
		p.line("looked up %d of %s", done, Count(of, "product"))
	})
}

// Retrying is called when a request has failed and will be repeated. It prints the failure at most
// every ten seconds.
func (p *Progress) Retrying(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.retried) >= 10*time.Second {
		p.retried = now
		p.line("trying again: %s", Plain(err.Error()))
	}
}

// Submitted implements [sell.Watcher].
func (p *Progress) Submitted(b sell.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	p.line("batch %d of %d: %s submitted, %s", b.Number, b.Of, b.ID, Count(b.Listings, "listing"))
	p.move("selling", b.Before, b.Total, func() {})
}

// Settling implements [sell.Watcher].
func (p *Progress) Settling(b sell.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	p.line("batch %d of %d: no response, reading the listings to find out whether it was made", b.Number, b.Of)
}

// Moved implements [sell.Watcher].
func (p *Progress) Moved(b sell.Batch, finished int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.move("selling", b.Before+finished, b.Total, func() {
		if finished < b.Listings {
			p.line("batch %d of %d: %d of %d finished", b.Number, b.Of, finished, b.Listings)
		}
	})
}

// Finished implements [sell.Watcher].
func (p *Progress) Finished(b sell.Batch, c sell.Counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.ID == "" {
		p.line("batch %d of %d: refused by the service, nothing was made", b.Number, b.Of)
		return
	}
	p.line("batch %d of %d: %d made%s", b.Number, b.Of, c.Listed, others(c, Look{}))
}

// line prints a line in place of the bar.
func (p *Progress) line(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// move moves the bar on a terminal. Elsewhere it prints a line every five seconds, the first one
// five seconds after the first call.
func (p *Progress) move(what string, done, of int, line func()) {
	if p.terminal {
		p.show(what, done, of)
		return
	}
	now := time.Now()
	if p.last.IsZero() {
		p.last = now
	}
	if now.Sub(p.last) >= 5*time.Second {
		p.last = now
		line()
	}
}

// show draws the bar and removes it when it is full.
func (p *Progress) show(what string, done, of int) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(of,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set(done)
	if done >= of {
		p.clear()
	}
}

// clear removes the bar.
func (p *Progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
