// Package recent keeps the ids that commands have printed lately, for completions, which must not
// send requests.
package recent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/internal/atomicfile"
)

// Kind is what an id is of.
type Kind string

// The kinds.
const (
	Listing   Kind = "listing"
	Order     Kind = "order"
	Batch     Kind = "batch"
	Product   Kind = "product"
	Variant   Kind = "variant"
	Style     Kind = "style"
	Ingestion Kind = "ingestion"
)

// limit is how many ids of a kind are kept.
const limit = 50

// IDs are the ids of one service. The nil IDs keep nothing. They are for one goroutine.
type IDs struct {
	path    string
	byKind  map[Kind][]string // The latest first.
	changed bool
}

// Open reads the ids of the service at a base URL from a directory for caches. A file that cannot be
// read has none. It returns nil if the directory is "".
func Open(cacheDir, baseURL string) *IDs {
	if cacheDir == "" || baseURL == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(strings.TrimRight(baseURL, "/")))
	ids := &IDs{path: filepath.Join(cacheDir, "sellside", "recent", hex.EncodeToString(sum[:])+".json")}
	text, err := os.ReadFile(ids.path)
	if err != nil || json.Unmarshal(text, &ids.byKind) != nil || ids.byKind == nil {
		ids.byKind = map[Kind][]string{}
	}
	return ids
}

// Add adds an id, unless it is "".
func (i *IDs) Add(kind Kind, id string) {
	if i == nil || id == "" {
		return
	}
	known := slices.DeleteFunc(slices.Clone(i.byKind[kind]), func(other string) bool { return other == id })
	known = slices.Insert(known, 0, id)
	i.byKind[kind] = known[:min(len(known), limit)]
	i.changed = true
}

// List returns the ids of a kind, the latest first.
func (i *IDs) List(kind Kind) []string {
	if i == nil {
		return nil
	}
	return slices.Clone(i.byKind[kind])
}

// Save writes the ids. Completions are not worth an error: if it fails, the file is as it was.
func (i *IDs) Save() {
	if i == nil || !i.changed {
		return
	}
	text, err := json.Marshal(i.byKind)
	if err != nil || os.MkdirAll(filepath.Dir(i.path), 0o700) != nil {
		return
	}
	_ = atomicfile.ReplaceWith(i.path, text)
}
