package report

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// Progress tells of an inventory on its way to the market.
type Progress interface {
	sell.Watcher
	LookedUp(done, of int) // So many products are found.
}

// NewProgress returns a bar where w is a terminal, and lines elsewhere. Both name every batch as soon as its
// id is known, because nothing else can find it again.
func NewProgress(w io.Writer) Progress {
	if IsTerminal(w) {
		return &bars{lines: lines{w: w}}
	}
	return &lines{w: w}
}

// lines is progress for log files.
type lines struct {
	w    io.Writer
	last time.Time // Of the last line that only tells that things go on.
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

// due lets a line through every five seconds, and holds the first one back as long.
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

// bars is progress for people, with a bar below the lines.
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

func (b *bars) Moved(batch sell.Batch, finished int) {
	b.show("selling", batch.Before+finished, batch.Total)
}

func (b *bars) Finished(batch sell.Batch, completed, failed int) {
	b.clear()
	b.lines.Finished(batch, completed, failed)
}

// show draws the bar; a full one goes away.
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

// clear makes room for a line.
func (b *bars) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
		b.bar = nil
	}
}
