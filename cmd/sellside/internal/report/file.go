// Package report shows people what happened: the result file, the summary, and the progress on the way.
package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// FreePath returns where the results of an inventory go when nobody says: stock.csv has stock.result.csv
// beside it. The results of an earlier run are never written over, they may be all that is known of its
// listings: the next free number is taken, as in stock.2.result.csv.
func FreePath(inventory string) string {
	stem := strings.TrimSuffix(inventory, filepath.Ext(inventory))
	path := stem + ".result.csv"
	for n := 2; taken(path); n++ {
		path = fmt.Sprintf("%s.%d.result.csv", stem, n)
	}
	return path
}

func taken(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Save writes the results to a file whole or not at all: into a new file beside it, which then takes its name.
func Save(path string, results []sell.Result) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the results: %w", err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f, results), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// write writes a line per listing, in the order of the inventory.
func write(w io.Writer, results []sell.Result) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"line", "nth", "listing_id", "status", "error"}) // Error tells of all writes
	for _, r := range results {
		_ = out.Write([]string{strconv.Itoa(r.Line), strconv.Itoa(r.Nth), r.ListingID, r.Status, r.Error})
	}
	out.Flush()
	return out.Error()
}
