// Package web is what the pages of the sandbox share: the stylesheet and the headers.
package web

import (
	"crypto/sha256"
	_ "embed" // The stylesheet.
	"encoding/base64"
	"net/http"
)

//go:embed style.css
var style string

// Style returns the stylesheet of all pages.
func Style() string { return style }

// StyleSource returns the source of the stylesheet in a Content-Security-Policy, for pages that have
// it inline.
func StyleSource() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Protect sets the headers that keep a response out of caches, frames and referrers. The policy is a
// Content-Security-Policy, to which frames and base URLs are added.
func Protect(w http.ResponseWriter, policy string) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}
