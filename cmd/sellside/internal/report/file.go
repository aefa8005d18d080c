// Package report shows people the outcome of a run: the result file, the summary, and the progress.
package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// Files are the files of a run.
type Files struct {
	Results   string // CSV with a line per listing.
	Unsettled string // JSON; exists only while the outcome of a batch is unknown.
}

// FilesOf returns the files of a run that sells an inventory: stock.csv has stock.result.csv and
// stock.unsettled.json beside it. Results of earlier runs are never overwritten, because they may
// be all that is known of their listings: the next free number is taken, as in stock.2.result.csv.
func FilesOf(inventory string) Files {
	stem := strings.TrimSuffix(inventory, filepath.Ext(inventory))
	path := stem + ".result.csv"
	for n := 2; exists(path); n++ {
		path = fmt.Sprintf("%s.%d.result.csv", stem, n)
	}
	return Files{Results: path, Unsettled: stem + ".unsettled.json"}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// unsettled is the content of the file of that name.
type unsettled struct {
	ResultFile string `json:"resultFile"`
	sell.Unsettled
}

// Load reads the batch that an earlier run has left unsettled, and returns it with the files of
// that run. It returns nil if there is none.
func (f Files) Load() (Files, *sell.Unsettled, error) {
	text, err := os.ReadFile(f.Unsettled)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil, nil
	}
	var u unsettled
	if err == nil {
		err = json.Unmarshal(text, &u)
	}
	if err == nil && u.ResultFile == "" {
		err = errors.New("resultFile is missing")
	}
	if err != nil {
		return f, nil, fmt.Errorf("read the unsettled batch (%s): %w: repair or remove it",
			f.Unsettled, err)
	}
	return Files{u.ResultFile, f.Unsettled}, &u.Unsettled, nil
}

// Save replaces the files by results and by the batch that is unsettled, nil if there is none. Each
// file is replaced as a whole or not at all.
func (f Files) Save(results []sell.Result, u *sell.Unsettled) error {
	if u != nil {
		if err := f.saveUnsettled(u); err != nil {
			return fmt.Errorf("write the unsettled batch: %w", err)
		}
	}
	if err := replace(f.Results, func(w io.Writer) error { return write(w, results) }); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	if u != nil {
		return nil
	}
	if err := os.Remove(f.Unsettled); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the settled batch: %w", err)
	}
	return nil
}

func (f Files) saveUnsettled(u *sell.Unsettled) error {
	results, err := filepath.Abs(f.Results) // it may be read from another directory
	if err != nil {
		return err
	}
	return replace(f.Unsettled, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(unsettled{results, *u})
	})
}

// replace writes a new file beside path and renames it.
func replace(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
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
	_ = out.Write([]string{"line", "nth", "listing_id", "status", "error"}) // Error reports all failed writes
	for _, r := range results {
		_ = out.Write([]string{strconv.Itoa(r.Line), strconv.Itoa(r.Nth), r.ListingID, r.Status, r.Error})
	}
	out.Flush()
	return out.Error()
}
