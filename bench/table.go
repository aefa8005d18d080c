package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// table is a heading and its lines.
type table struct {
	title string
	lines [][]string // The first one names the columns.
}

// callTable returns the table of all contenders. It names the machine, because the times are its.
func callTable(calls []call, rows []row) table {
	t := table{
		title: fmt.Sprintf("Calls, on %d cores with %s (%s/%s)",
			runtime.GOMAXPROCS(0), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		lines: [][]string{{
			"call", "client", "HTTP", "/ raw read", "TLS", "/ raw read", "allocations", "bytes", "decoding", "/ encoding/json",
		}},
	}
	for _, c := range calls {
		title := fmt.Sprintf("%s (%s B)", c.title, thousands(uint64(len(c.body))))
		for _, r := range rows {
			if r.call != c.name {
				continue
			}
			line := []string{
				title, r.contender, micros(r.http.time), ratio(r.http.times), micros(r.tls.time), ratio(r.tls.times),
				thousands(r.allocations), thousands(r.bytes), "", "",
			}
			if r.decode.time > 0 {
				line[8], line[9] = micros(r.decode.time), ratio(r.decode.times)
			}
			t.lines = append(t.lines, line)
			title = ""
		}
	}
	return t
}

// figureTable returns the table of the figures that have limits, and of some that have none.
func figureTable(limits []limit, figures map[string]float64, others ...string) table {
	t := table{title: "Figures of the SDK", lines: [][]string{{"figure", "measured", "target", "aim", "limit of CI"}}}
	for _, l := range limits {
		bound := "<= "
		if l.AtLeast {
			bound = ">= "
		}
		aim := ""
		if l.Aim != 0 {
			aim = bound + number(l.Aim)
		}
		measured := number(figures[l.Figure])
		if !l.allows(figures) {
			measured += " (exceeds the limit)"
		}
		t.lines = append(t.lines, []string{l.Figure, measured, bound + number(l.Target), aim, bound + number(l.Limit)})
	}
	for _, name := range others {
		t.lines = append(t.lines, []string{name, number(figures[name]), "", "", ""})
	}
	return t
}

// printText prints a table for a terminal.
func printText(w io.Writer, t table) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n\n", t.title)
	for _, line := range t.lines {
		fmt.Fprintln(tabs, strings.Join(line, "\t"))
	}
	_ = tabs.Flush() // to a terminal
	fmt.Fprintln(w)
}

// printMarkdown prints a table for docs/performance.md.
func printMarkdown(w io.Writer, t table) {
	fmt.Fprintf(w, "### %s\n\n", t.title)
	for i, line := range t.lines {
		fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(line)))
		}
	}
	fmt.Fprintln(w)
}

func micros(d time.Duration) string {
	return thousands(uint64(d.Round(time.Microsecond)/time.Microsecond)) + " µs"
}

func ratio(r float64) string { return strconv.FormatFloat(r, 'f', 2, 64) }

// number formats a figure with two decimal places at most, and without any if it is large.
func number(f float64) string {
	if f >= 1000 {
		return thousands(uint64(f + 0.5))
	}
	text := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// thousands formats a number with separators.
func thousands(n uint64) string {
	text := []byte(strconv.FormatUint(n, 10))
	for i := len(text) - 3; i > 0; i -= 3 {
		text = slices.Insert(text, i, ',')
	}
	return string(text)
}
