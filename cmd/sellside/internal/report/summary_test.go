package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

func TestSummary_GroupsTheListingsOfARow(t *testing.T) {
	var out bytes.Buffer
	Summary(&out, Look{}, []sell.Result{
		{Line: 2, Nth: 1, Status: "COMPLETED", ListingID: "a"},
		{Line: 3, Nth: 1, Status: "FAILED", Error: "too dear"},
		{Line: 3, Nth: 2, Status: "FAILED", Error: "too dear"},
		{Line: 12, Nth: 1, Status: "NOT_SENT", Error: "not\nsent"},
		{Line: 13, Nth: 1, Status: "UNKNOWN", ListingID: "b", Error: "look for it"},
		{Line: 14, Nth: 1, Status: "COMPLETED", Error: "no id"},
		{Line: 15, Nth: 1, Status: "QUEUED", Error: "later"},
		{Line: 17, Nth: 1, Status: "QUEUED", Error: "later"},
		{Line: 17, Nth: 2, Status: "QUEUED", Error: "later"},
		{Line: 18, Nth: 1, Status: "COMPLETED", ListingID: "c"},
		{Line: 19, Nth: 1, Status: "QUEUED", Error: "later"},
	})
	assert.Equal(t, `2 of 11 listings made, 3 not, 4 under way, 2 unknown

  line   listings  status     error
  3      2         FAILED     too dear
  12     1         NOT_SENT   not sent
  13     1         UNKNOWN    look for it
  14     1         COMPLETED  no id
  15-17  3         QUEUED     later
  19     1         QUEUED     later
`, out.String())
}

func TestSummary_IsShortHoweverMuchFails(t *testing.T) {
	var results []sell.Result
	for line := range 1000 {
		results = append(results, sell.Result{
			Line: line + 2, Nth: 1, Status: "FAILED", Error: fmt.Sprint(line) + strings.Repeat(" no", 50),
		})
	}
	var out bytes.Buffer
	Summary(&out, Look{}, results)
	assert.LessOrEqual(t, strings.Count(out.String(), "\n"), 18, "with the last lines it fits on a terminal")
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSpace(line)), 80)
	}
	assert.Contains(t, out.String(), "and 988 more")
}

func TestSummary_ShowsResultsWithoutAStatus(t *testing.T) {
	var out bytes.Buffer
	Summary(&out, Look{}, make([]sell.Result, 2)) // as from a damaged file
	assert.Contains(t, out.String(), "0 of 2 listings made, 2 unknown\n")
}

func TestSummary_OfASuccessIsOneLine(t *testing.T) {
	var out bytes.Buffer
	Summary(&out, Look{}, []sell.Result{{Line: 2, Nth: 1, Status: "COMPLETED", ListingID: "a"}})
	assert.Equal(t, "1 of 1 listing made\n", out.String())
}

func TestProgress_NamesEveryBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := NewProgress(&out)
		b := sell.Batch{ID: "5ee0ab0e", Number: 1, Of: 2, Listings: 100, Total: 101}
		for done := range 10 {
			p.LookedUp(done+1, 10)
			<-time.After(time.Second)
		}
		p.Settling(b)
		p.Submitted(b)
		for finished := range 100 {
			p.Moved(b, finished+1)
			<-time.After(100 * time.Millisecond)
		}
		p.Finished(b, sell.Counts{Listed: 97, NotMade: 1, Unknown: 2})
		p.Finished(sell.Batch{Number: 2, Of: 2, Listings: 1}, sell.Counts{NotMade: 1})
		assert.Equal(t, `looked up 6 of 10 products
batch 1 of 2: no response, reading the listings to find out whether it was made
batch 1 of 2: 5ee0ab0e submitted, 100 listings
batch 1 of 2: 51 of 100 finished
batch 1 of 2: 97 made, 1 not, 2 unknown
batch 2 of 2: refused by the service, nothing was made
`, out.String())
	})
}

func TestProgress_MovesABarBelowTheLines(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{w: &out, terminal: true}
	b := sell.Batch{ID: "5ee0ab0e", Number: 1, Of: 2, Listings: 100, Total: 200}
	p.LookedUp(1, 2)
	p.LookedUp(2, 2)
	p.Submitted(b)
	p.Moved(b, 50)
	p.Finished(b, sell.Counts{Listed: 100})
	text := out.String()
	assert.Contains(t, text, "looking up products")
	assert.Contains(t, text, "selling")
	assert.Contains(t, text, "batch 1 of 2: 5ee0ab0e submitted, 100 listings\n")
	assert.True(t, strings.HasSuffix(text, "batch 1 of 2: 100 made\n"), "%q", text)
}

func TestProgress_PrintsFailuresEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := NewProgress(&out)
		for range 21 {
			p.Retrying(errors.New("429"))
			<-time.After(time.Second)
		}
		assert.Equal(t, strings.Repeat("trying again: 429\n", 3), out.String())
	})
}

func TestProgress_EndRemovesTheBar(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{w: &out, terminal: true}
	p.Moved(sell.Batch{Listings: 2, Total: 2}, 1)
	p.End()
	shown := strings.ReplaceAll(out.String(), "\r", "\n")
	last := shown[strings.LastIndex(strings.TrimRight(shown, "\n"), "\n")+1:]
	assert.Empty(t, strings.Trim(last, " \n\x1b[2K"), "%q", out.String())
}

func TestPlain_RemovesControlCharacters(t *testing.T) {
	for _, row := range []struct{ text, want, why string }{
		{"size 10½ – “rare”", "size 10½ – “rare”", "any language"},
		{"a\nb\tc", "a b c", "one line"},
		{"\x1b[2Jgone\x07", " [2Jgone ", "no control sequences"},
		{strings.Repeat("é", 301), strings.Repeat("é", 299) + "…", "a bounded length"},
	} {
		assert.Equal(t, row.want, Plain(row.text), row.why)
	}
}

func TestLook_ColoursTerminalsOnly(t *testing.T) {
	none := func(string) string { return "" }
	assert.Equal(t, Look{}, LookOf(&bytes.Buffer{}, none))
	f, err := os.Create(t.TempDir() + "/log")
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, Look{}, LookOf(f, none), "a file is no terminal")
	assert.Equal(t, "x", Look{}.Good("x"))
	assert.Equal(t, "\x1b[32mx\x1b[0m", Look{colours: true}.Good("x"))
	for _, set := range []func(string) string{Look{colours: true}.Strong, Look{colours: true}.Faint, Look{colours: true}.Bad} {
		assert.Regexp(t, `^\x1b\[\d+mx\x1b\[0m$`, set("x"))
	}
}
