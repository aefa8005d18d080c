package specgen

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Request is a request as text: a failure can show it, and a test can send it
// twice.
type Request struct {
	Operation   string // the id of the operation it was made for
	Method      string
	Path        string // escaped, with the base path
	Query       string // escaped, if it is at all
	ContentType string // no header if empty
	Body        []byte // no body if nil
	Omit        string // a header that is left out; none if empty
	Fit         bool   // it was made to fit the document
}

// HTTP returns the request as a handler gets it from a server, with the headers
// but for the one that is left out. It fails only on a method that no document
// has.
func (r Request) HTTP(ctx context.Context, header http.Header) (*http.Request, error) {
	h, err := http.NewRequestWithContext(ctx, r.Method, "/", bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	path, err := url.PathUnescape(r.Path)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	h.URL = &url.URL{Path: path, RawPath: r.Path, RawQuery: r.Query}
	h.RequestURI = h.URL.RequestURI()
	h.Host = "sandbox.example"
	h.Header = header.Clone()
	if r.ContentType != "" {
		h.Header.Set("Content-Type", r.ContentType)
	}
	if r.Omit != "" {
		h.Header.Del(r.Omit)
	}
	return h, nil
}

// String shows a request, cut if it is long.
func (r Request) String() string {
	body := r.Body
	if len(body) > 2000 {
		body = append(body[:2000:2000], "..."...)
	}
	return fmt.Sprintf("%s: %s %.2000s?%.2000s (Content-Type %q, without %q) %q",
		r.Operation, r.Method, r.Path, r.Query, r.ContentType, r.Omit, body)
}
