package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/web"
)

var (
	//go:embed page.html
	files embed.FS
	//go:embed script.js
	script string
	//go:embed icon.svg
	icon string

	pages = template.Must(template.New("").ParseFS(files, "page.html"))
)

// asset is a file that the page loads. Its URL has its digest, so that browsers can keep it.
type asset struct{ contentType, text string }

var assets = map[string]asset{
	"style.css": {"text/css; charset=utf-8", web.Style()},
	"script.js": {"text/javascript; charset=utf-8", script},
	"icon.svg":  {"image/svg+xml", icon},
}

func (a asset) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = io.WriteString(w, a.text) // it fails only if the client is gone
}

// assetURLs returns the URLs of the assets by their names without the extension.
func assetURLs() map[string]string {
	urls := map[string]string{}
	for file, a := range assets {
		sum := sha256.Sum256([]byte(a.text))
		name, _, _ := strings.Cut(file, ".")
		urls[name] = Assets + "/" + file + "?" + hex.EncodeToString(sum[:6])
	}
	return urls
}

// execute returns the HTML of a template.
func execute(name string, v view) (string, error) {
	var text bytes.Buffer
	if err := pages.ExecuteTemplate(&text, name, v); err != nil {
		return "", fmt.Errorf("show %s: %w", name, err)
	}
	return text.String(), nil
}

// render responds with a page.
func (c *Console) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	text, err := execute(name, v)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // it fails only if the client is gone
}
