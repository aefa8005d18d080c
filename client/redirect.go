package client

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
)

// maxRedirects is how many redirects a read follows.
const maxRedirects = 5

// redirects is the target of the attempts of a read. A write follows no redirect: a 302 turns a
// POST into a GET, and a 307 posts again. A read stays on its scheme, host and port, because it
// carries credentials.
type redirects struct {
	first, current *url.URL
	followed       int
}

// follow makes the Location of a response the current target and reports whether that is allowed.
func (r *redirects) follow(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return false
	}
	location := resp.Header.Get("Location")
	to, err := r.current.Parse(location)
	if location == "" || err != nil || !sameOrigin(to, r.first) || r.followed == maxRedirects {
		return false
	}
	r.followed++
	to.Fragment = ""
	r.current = to
	return true
}

// sameOrigin reports whether two URLs have the same scheme, host and port, and the first no
// userinfo.
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if u.Port() == "" && u.Scheme == "https" {
			return "443"
		}
		return cmp.Or(u.Port(), "80")
	}
	return a.User == nil && a.Scheme == b.Scheme && port(a) == port(b) &&
		strings.EqualFold(a.Hostname(), b.Hostname())
}
