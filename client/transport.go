package client

import (
	"net/http"
	"time"
)

// maxRedirects bounds how far a read is sent on.
const maxRedirects = 5

// newHTTPClient copies the caller's client, or makes one, and gives the copy the redirect rule.
func newHTTPClient(given *http.Client) *http.Client {
	hc := &http.Client{}
	if given != nil {
		*hc = *given
	}
	if hc.Transport == nil {
		hc.Transport = newTransport()
	}
	hc.CheckRedirect = checkRedirect
	return hc
}

// newTransport keeps enough idle connections for many goroutines: net/http keeps two a host, so that 64
// goroutines would open a new connection, and over TLS shake hands anew, for almost every request.
func newTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // the program has put one of its own there
	}
	t = t.Clone()
	t.MaxIdleConns = 256
	t.MaxIdleConnsPerHost = 128
	t.IdleConnTimeout = 90 * time.Second
	return t
}

// checkRedirect hands back the redirect itself unless it is safe to follow. A write follows none: a 302 turns
// a POST into a GET, and a 307 posts again. A read stays on its scheme, host and port, because net/http
// would carry the x-api-key header anywhere.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || len(via) > maxRedirects ||
		req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}
