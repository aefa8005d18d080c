package resolve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// cacheLife is how long a product is used without looking it up again.
const cacheLife = 24 * time.Hour

// Cache is a directory that keeps products of one service for a day. A file that cannot be read or
// written costs a lookup and is no error. A nil Cache keeps nothing.
type Cache struct{ dir string }

// OpenCache returns the cache in a directory, which need not exist, and removes old products.
func OpenCache(dir string) *Cache {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &Cache{dir}
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > cacheLife {
			_ = os.Remove(filepath.Join(dir, entry.Name())) // it is not read either
		}
	}
	return &Cache{dir}
}

// cacheEntry is the content of a file.
type cacheEntry struct {
	At      time.Time `json:"at"`
	StyleID string    `json:"styleId"`
	product
}

// path returns the file of a style id, which may have characters that no file name has.
func (c *Cache) path(style string) string {
	sum := sha256.Sum256([]byte(style))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+".json")
}

func (c *Cache) get(style string) (product, bool) {
	if c == nil {
		return product{}, false
	}
	var e cacheEntry
	text, err := os.ReadFile(c.path(style))
	if err != nil || json.Unmarshal(text, &e) != nil {
		return product{}, false
	}
	age := time.Since(e.At)
	return e.product, e.StyleID == style && len(e.Matches) == 1 && 0 <= age && age < cacheLife
}

func (c *Cache) put(style string, p product) {
	if c == nil {
		return
	}
	text, err := json.Marshal(cacheEntry{time.Now().UTC(), style, p})
	if err == nil && os.MkdirAll(c.dir, 0o700) == nil {
		_ = os.WriteFile(c.path(style), text, 0o600) // a part of a file is no JSON and is not used
	}
}

// Drop removes a product.
func (c *Cache) Drop(style string) {
	if c != nil {
		_ = os.Remove(c.path(style))
	}
}
