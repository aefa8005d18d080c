package report

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// Progress reports the progress of a run.
type Progress interface {
	sell.Watcher
	LookedUp(done, of int) // So many products were looked up.
}

// NewProgress returns a bar if w is a terminal, and lines otherwise. Both print the id of every
// batch as soon as it is known, because no operation lists batches.
func NewProgress(w io.Writer) Progress {
	if IsTerminal(w) {
		return &bars{lines: lines{w: w}}
	}
	return &lines{w: w}
}

// lines is progress for log files.
type lines struct {
	w    io.Writer
	last time.Time // When the last line was written that may be left out.
}

func (l *lines) LookedUp(done, of int) {
	if l.due() {
		fmt.Fprintf(l.w, "looked up %d of %s\n", done, count(of, "product"))
	}
}

func (l *lines) Submitted(b sell.Batch) {
	l.last = time.Now()
	fmt.Fprintf(l.w, "batch %d of %d: %s submitted, %s\n", b.Number, b.Of, b.ID, count(b.Listings, "listing"))
}

func (l *lines) Settling(b sell.Batch) {
	l.last = time.Now()
	fmt.Fprintf(l.w, "batch %d of %d: no response, reading the listings to find out whether it was made\n",
		b.Number, b.Of)
}

func (l *lines) Moved(b sell.Batch, finished int) {
	if finished < b.Listings && l.due() {
		fmt.Fprintf(l.w, "batch %d of %d: %d of %d finished\n", b.Number, b.Of, finished, b.Listings)
	}
}

func (l *lines) Finished(b sell.Batch, completed, failed int) {
	what := fmt.Sprintf("%d completed", completed)
	if failed > 0 {
		what += fmt.Sprintf(", %d failed", failed)
	}
	if b.ID == "" {
		what = "refused by the service, nothing was made"
	}
	fmt.Fprintf(l.w, "batch %d of %d: %s\n", b.Number, b.Of, what)
}

// due reports whether five seconds have passed since the last line, or since the first call.
func (l *lines) due() bool {
	now := time.Now()
	if l.last.IsZero() {
		l.last = now
	}
	if now.Sub(l.last) < 5*time.Second {
		return false
	}
	l.last = now
	return true
}

// bars is progress for terminals, with a bar below the lines.
type bars struct {
	lines
	bar *progressbar.ProgressBar
}

func (b *bars) LookedUp(done, of int) { b.show("looking up products", done, of) }

func (b *bars) Submitted(batch sell.Batch) {
	b.clear()
	b.lines.Submitted(batch)
	b.show("selling", batch.Before, batch.Total)
}

func (b *bars) Settling(batch sell.Batch) {
	b.clear()
	b.lines.Settling(batch)
}

func (b *bars) Moved(batch sell.Batch, finished int) {
	b.show("selling", batch.Before+finished, batch.Total)
}

func (b *bars) Finished(batch sell.Batch, completed, failed int) {
	b.clear()
	b.lines.Finished(batch, completed, failed)
}

// show draws the bar and removes it when it is full.
func (b *bars) show(what string, done, of int) {
	if b.bar == nil {
		b.bar = progressbar.NewOptions(of,
			progressbar.OptionSetWriter(b.w), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = b.bar.Set(done)
	if done >= of {
		b.clear()
	}
}

// clear removes the bar before a line.
func (b *bars) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
		b.bar = nil
	}
}
