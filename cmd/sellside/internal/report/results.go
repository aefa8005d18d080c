package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sellside-sdk/sellside-go/internal/atomicfile"
)

// Result is the outcome of one listing. A row of quantity n has n of them.
type Result struct {
	Line      int // Of the inventory.
	Nth       int // Of the listings of its row, from 1.
	ListingID string
	Status    string // A Status constant.
	BatchID   string
	Error     string   // Why it was not made, or what to do.
	Fields    []string // Of the row.
}

// The statuses of listings.
const (
	StatusCompleted = "COMPLETED" // It was made.
	StatusFailed    = "FAILED"    // The service refused it.
	StatusNotSent   = "NOT_SENT"  // It was never submitted, or proved not to have arrived.
	StatusUnderWay  = "UNDER_WAY" // It was about to be submitted or was, and its outcome was not read.
	StatusUnknown   = "UNKNOWN"   // It may have been made or not.
)

// Counts are the numbers of listings by outcome.
type Counts struct{ Made, NotMade, UnderWay, Unknown int }

// CountOf counts results.
func CountOf(results []Result) (c Counts) {
	for _, r := range results {
		switch r.Status {
		case StatusCompleted:
			c.Made++
		case StatusFailed, StatusNotSent:
			c.NotMade++
		case StatusUnderWay:
			c.UnderWay++
		default:
			c.Unknown++
		}
	}
	return c
}

// ResultFile returns the path of a new file beside an inventory: stock.csv has stock.result.csv, then
// stock.2.result.csv.
func ResultFile(inventory string) string {
	stem := strings.TrimSuffix(inventory, filepath.Ext(inventory))
	path := stem + ".result.csv"
	for n := 2; exists(path); n++ {
		path = fmt.Sprintf("%s.%d.result.csv", stem, n)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// CreateResults creates an empty file for results. No file is overwritten.
func CreateResults(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("write the results (%s): the file exists: name a new file with --result", path)
	}
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return file.Close()
}

// SaveResults replaces a file with a line for each listing. Columns are those of the inventory.
func SaveResults(path string, columns []string, results []Result) error {
	err := atomicfile.Replace(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		// Error reports all failed writes.
		_ = out.Write(slices.Concat([]string{"line", "nth", "listing_id", "status", "error", "batch_id"}, columns))
		for _, r := range results {
			fields := make([]string, len(columns))
			copy(fields, r.Fields)
			_ = out.Write(slices.Concat(
				[]string{strconv.Itoa(r.Line), strconv.Itoa(r.Nth), r.ListingID, r.Status, r.Error, r.BatchID}, fields))
		}
		out.Flush()
		return out.Error()
	})
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}
