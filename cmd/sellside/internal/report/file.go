// Package report shows people the outcome of a run: the result file, the summary, and the progress.
package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/internal/atomicfile"
)

// Files are the files of a run.
type Files struct {
	Results   string // CSV with a line per listing.
	Unsettled string // JSON; exists only while the outcome of a batch is unknown.
	Inventory Inventory
}

// Inventory is what the result file shows of the inventory. It is saved as JSON.
type Inventory struct {
	SHA256  string           `json:"sha256,omitempty"` // Of the bytes of the file, in hexadecimal.
	Columns []string         `json:"columns,omitempty"`
	Fields  map[int][]string `json:"fields,omitempty"` // Of each row, by its line.
}

// InventoryOf returns the inventory of a file with this content.
func InventoryOf(content []byte, f *inventory.File) Inventory {
	sum := sha256.Sum256(content)
	i := Inventory{hex.EncodeToString(sum[:]), f.Columns, make(map[int][]string, len(f.Rows))}
	for _, row := range f.Rows {
		i.Fields[row.Line] = row.Fields
	}
	return i
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

// IsUnsettled reports whether an earlier run has left a batch unsettled.
func (f Files) IsUnsettled() bool { return exists(f.Unsettled) }

// CheckResults refuses a result file that exists, or is another file of the run.
func (f Files) CheckResults(inventory string) error {
	switch {
	case isSame(f.Results, inventory):
		return fmt.Errorf("write the results (%s): this is the inventory: name another file with --result", f.Results)
	case isSame(filepath.Dir(f.Results), filepath.Dir(f.Unsettled)) &&
		strings.EqualFold(filepath.Base(f.Results), filepath.Base(f.Unsettled)):
		return fmt.Errorf("write the results (%s): this file is for unsettled batches: name another file with --result", f.Results)
	case exists(f.Results):
		return fmt.Errorf("write the results (%s): the file exists, and may be all that is known of its listings: "+
			"name a new file with --result", f.Results)
	}
	return nil
}

// isSame reports whether two paths lead to one file or directory.
func isSame(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// Create makes the result file, which must not exist.
func (f Files) Create() error {
	file, err := os.OpenFile(f.Results, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return errors.Join(file.Close(), f.Save(nil, nil))
}

// unsettled is the content of the file of that name.
type unsettled struct {
	ResultFile string    `json:"resultFile"`
	Inventory  Inventory `json:"inventory"`
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
	return Files{u.ResultFile, f.Unsettled, u.Inventory}, &u.Unsettled, nil
}

// Save replaces the files by results and by the batch that is unsettled, nil if there is none. Each
// file is replaced as a whole or not at all.
func (f Files) Save(results []sell.Result, u *sell.Unsettled) error {
	if u != nil {
		if err := f.saveUnsettled(u); err != nil {
			return fmt.Errorf("write the unsettled batch: %w", err)
		}
	}
	if err := atomicfile.Replace(f.Results, func(w io.Writer) error { return f.write(w, results) }); err != nil {
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
	return atomicfile.Replace(f.Unsettled, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(unsettled{results, f.Inventory, *u})
	})
}

// hashColumn is the name of the last column of a result file.
const hashColumn = "inventory_sha256"

// resultColumns returns the names of the first columns, before those of the inventory.
func resultColumns() []string {
	return []string{"line", "nth", "listing_id", "status", "error", "batch_id"}
}

// write writes a line per listing, in the order of the inventory, with the columns of the inventory.
func (f Files) write(w io.Writer, results []sell.Result) error {
	out := csv.NewWriter(w)
	// Error reports all failed writes.
	_ = out.Write(slices.Concat(resultColumns(), f.Inventory.Columns, []string{hashColumn}))
	for _, r := range results {
		fields := make([]string, len(f.Inventory.Columns))
		copy(fields, f.Inventory.Fields[r.Line])
		_ = out.Write(slices.Concat(
			[]string{strconv.Itoa(r.Line), strconv.Itoa(r.Nth), r.ListingID, r.Status, r.Error, r.BatchID},
			fields, []string{f.Inventory.SHA256}))
	}
	out.Flush()
	return out.Error()
}

// Earlier looks for results of an earlier run of the same inventory beside the inventory and beside
// the result file. It returns the first file that has listings which were made or may have been, and
// its counts. The path is empty if there is none.
func (f Files) Earlier() (path string, c sell.Counts, err error) {
	for path := range f.beside() {
		rows, err := readRows(path)
		if err != nil {
			return "", c, fmt.Errorf("read the results of an earlier run (%s): %w: repair or remove it", path, err)
		}
		var results []sell.Result
		for _, row := range rows {
			if row[len(row)-1] == f.Inventory.SHA256 {
				results = append(results, sell.Result{ListingID: row[2], Status: row[3]})
			}
		}
		if c := sell.Count(results); c.NotMade < len(results) {
			return path, c, nil
		}
	}
	return "", c, nil
}

// Batches returns the ids of the batches of earlier runs, of any inventory, that result files beside
// the inventory and beside the result file have. Files that cannot be read have none.
func (f Files) Batches() []string {
	var ids []string
	for path := range f.beside() {
		rows, err := readRows(path)
		if err != nil {
			continue
		}
		for _, row := range rows {
			if id := row[slices.Index(resultColumns(), "batch_id")]; id != "" {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// beside returns the paths of the regular files beside the inventory and beside the result file.
// No run has saved results in a directory that cannot be read.
func (f Files) beside() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, dir := range []string{filepath.Dir(f.Unsettled), filepath.Dir(f.Results)} {
			entries, _ := os.ReadDir(dir)
			for _, entry := range entries {
				if entry.Type().IsRegular() && !yield(filepath.Join(dir, entry.Name())) {
					return
				}
			}
		}
	}
}

// readRows reads the rows of a result file without its header, and none of another file.
func readRows(path string) ([][]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil // a run could read the results that it saved
	}
	defer file.Close()
	text := bufio.NewReader(file)
	start, _ := text.Peek(4096) // a header is shorter
	header, _, _ := strings.Cut(string(start), "\n")
	if !strings.HasPrefix(header, strings.Join(resultColumns(), ",")) || !strings.HasSuffix(strings.TrimSpace(header), hashColumn) {
		return nil, nil
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		return nil, err
	}
	return rows[1:], nil
}
