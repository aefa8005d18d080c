package report

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSummary_GroupsTheListingsOfARow(t *testing.T) {
	var out bytes.Buffer
	Summary(&out, Look{}, []Result{
		{Line: 2, Nth: 1, Status: "COMPLETED", ListingID: "a"},
		{Line: 3, Nth: 1, Status: "FAILED", Error: "too dear"},
		{Line: 3, Nth: 2, Status: "FAILED", Error: "too dear"},
		{Line: 12, Nth: 1, Status: "NOT_SENT", Error: "not\nsent"},
		{Line: 13, Nth: 1, Status: "UNKNOWN", ListingID: "b", Error: "look for it"},
		{Line: 15, Nth: 1, Status: "UNDER_WAY", Error: "later"},
		{Line: 17, Nth: 1, Status: "UNDER_WAY", Error: "later"},
		{Line: 17, Nth: 2, Status: "UNDER_WAY", Error: "later"},
		{Line: 18, Nth: 1, Status: "COMPLETED", ListingID: "c"},
		{Line: 19, Nth: 1, Status: "UNDER_WAY", Error: "later"},
	})
	assert.Equal(t, `2 of 10 listings made, 3 not, 4 under way, 1 unknown

  line   listings  status     error
  3      2         FAILED     too dear
  12     1         NOT_SENT   not sent
  13     1         UNKNOWN    look for it
  15-17  3         UNDER_WAY  later
  19     1         UNDER_WAY  later
`, out.String())
}

func TestSummary_IsShortHoweverMuchFails(t *testing.T) {
	var results []Result
	for line := range 1000 {
		results = append(results, Result{
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
	Summary(&out, Look{}, make([]Result, 2)) // as from a damaged file
	assert.Contains(t, out.String(), "0 of 2 listings made, 2 unknown\n")
}

func TestSummary_OfASuccessIsOneLine(t *testing.T) {
	var out bytes.Buffer
	Summary(&out, Look{}, []Result{{Line: 2, Nth: 1, Status: "COMPLETED", ListingID: "a"}})
	assert.Equal(t, "1 of 1 listing made\n", out.String())
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
