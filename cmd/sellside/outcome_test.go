package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// screenRows returns how many rows of a terminal of 80 columns a text takes.
func screenRows(text string) int {
	rows := 0
	for line := range strings.Lines(text) {
		rows += max(1, (len([]rune(strings.TrimRight(line, "\n")))+79)/80)
	}
	return rows
}

// countsIn counts the listings of a result file.
func countsIn(rows [][]string) report.Counts {
	var results []report.Result
	for _, row := range rows {
		results = append(results, report.Result{Status: row[3]})
	}
	return report.CountOf(results)
}

// sayTheSame asserts that the summary, the last line, the exit code and the result file agree.
func sayTheSame(t *testing.T, got ending, c report.Counts) {
	t.Helper()
	total := c.Made + c.NotMade + c.UnderWay + c.Unknown
	summary := fmt.Sprintf("%d of %d listing", c.Made, total)
	lines := strings.Split(strings.TrimSpace(got.errors), "\n")
	last := lines[len(lines)-1]
	assert.Contains(t, got.out, summary)
	for _, part := range []struct {
		n                 int
		summary, lastLine string
	}{
		{c.NotMade, fmt.Sprintf(", %d not", c.NotMade), fmt.Sprintf(", %d not made", c.NotMade)},
		{c.UnderWay, fmt.Sprintf(", %d under way", c.UnderWay), fmt.Sprintf(", %d under way", c.UnderWay)},
		{c.Unknown, fmt.Sprintf(", %d unknown", c.Unknown), fmt.Sprintf(", %d unknown", c.Unknown)},
	} {
		if part.n > 0 {
			assert.Contains(t, got.out, part.summary)
			assert.Contains(t, last, part.lastLine)
		}
	}
	assert.Equal(t, c.Made == total, got.code == 0)
	assert.NotRegexp(t, `\bcall (Recover|Wait|again)`, got.errors, "sellers type commands and call nothing")
	if got.code != 0 {
		assert.Contains(t, last, fmt.Sprintf("(%d made", c.Made))
	}
	assert.LessOrEqual(t, screenRows(got.out)+screenRows(last), 24, "it fits on a terminal")
}

func TestSell_SaysTheSameEverywhere(t *testing.T) {
	const lost = "ListListings"
	// The plan of sell reads the new listings before anything is sent.
	readFirst := sandbox.Fault{Operation: lost, Kind: sandbox.FaultDelay, Delay: time.Millisecond}
	for _, row := range []struct {
		why    string
		faults []sandbox.Fault
		price  string
		want   report.Counts
	}{
		{"all are made", nil, "389", report.Counts{Made: 101}},
		{"all fail", nil, "100001", report.Counts{NotMade: 101}},
		{
			"a batch is refused",
			[]sandbox.Fault{{Operation: "CreateListingsBatch", Kind: sandbox.FaultStatus, Status: 400}},
			"389",
			report.Counts{NotMade: 101},
		},
		{
			"the account is locked",
			[]sandbox.Fault{{Operation: "CreateListingsBatch", Kind: sandbox.FaultStatus, Status: 403}},
			"389",
			report.Counts{NotMade: 101},
		},
		{
			"a response is lost and the listings cannot be read", []sandbox.Fault{
				{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost, Applied: true},
				readFirst,
				{Operation: lost, Kind: sandbox.FaultStatus, Status: 403, Times: 100},
			}, "389", report.Counts{NotMade: 1, UnderWay: 100},
		},
		{
			"a response is lost and the listings are refused", []sandbox.Fault{
				{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost, Applied: true},
				readFirst,
				{Operation: lost, Kind: sandbox.FaultStatus, Status: 400, Times: 100},
			}, "389", report.Counts{NotMade: 1, UnderWay: 100},
		},
		{
			"a request is lost and the listings cannot be read", []sandbox.Fault{
				{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost},
				readFirst,
				{Operation: lost, Kind: sandbox.FaultStatus, Status: 403, Times: 100},
			}, "389", report.Counts{NotMade: 1, UnderWay: 100},
		},
		{
			"a batch cannot be read", []sandbox.Fault{
				{Operation: "GetCreateListingsBatch", Kind: sandbox.FaultStatus, Status: 403},
				{Operation: "ListCreateListingsBatchItems", Kind: sandbox.FaultStatus, Status: 403},
			}, "389", report.Counts{UnderWay: 101},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			env, c, m := market(t)
			path := stockFile(t, "DZ5485-612,10.5,"+row.price+",USD,101")
			got := sellside(t.Context(), env, "plan", path) // all listings are read before they cannot be
			require.Equal(t, 0, got.code, got.errors)
			for _, fault := range row.faults {
				require.NoError(t, m.Fail(fault))
			}

			got = sellside(t.Context(), env, "sell", path, "--settle", "200ms")

			assert.Equal(t, row.want, countsIn(results(t, besides(path))))
			sayTheSame(t, got, row.want)
			require.NoError(t, m.Work(t.Context()))
			m.ClearFaults()
			exist := len(listings(t, c))
			assert.LessOrEqual(t, row.want.Made, exist, "every listing that is called made exists")
			assert.LessOrEqual(t, exist, row.want.Made+row.want.UnderWay+row.want.Unknown, "none that is called not made exists")
		})
	}
}
