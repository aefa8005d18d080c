package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// codeLife is how long a code can be redeemed, by the clock of the machine: the clock of the
	// sandbox can be moved on the page.
	codeLife = 5 * time.Minute
	// maxCodes and maxSessions bound what is remembered; the oldest is forgotten first.
	maxCodes    = 16
	maxSessions = 64
)

// digest replaces a secret, so that the time of a comparison depends on the digest only.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// session is a browser that has redeemed a code.
type session struct {
	id     digest
	notice notice // for the next page
	shown  string // query of the last page
}

// notice is the result of an action.
type notice struct {
	Text string
	Bad  bool
}

type code struct {
	id       digest
	issuedAt time.Time
}

// access has the codes that can be redeemed, and the sessions. The zero value has none. It is safe
// for concurrent use.
type access struct {
	mu       sync.Mutex
	codes    []code     // oldest first
	sessions []*session // oldest first
}

func (a *access) issue() string {
	secret := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.codes = appendBounded(a.codes, code{digestOf(secret), time.Now()}, maxCodes)
	return secret
}

// redeem exchanges a code for the id of a new session. It returns false if the code is not known,
// too old or was redeemed before.
func (a *access) redeem(secret string) (id string, ok bool) {
	wanted := digestOf(secret)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, c := range a.codes {
		if c.id != wanted {
			continue
		}
		a.codes = append(a.codes[:i], a.codes[i+1:]...)
		if time.Since(c.issuedAt) >= codeLife {
			return "", false
		}
		id = rand.Text()
		a.sessions = appendBounded(a.sessions, &session{id: digestOf(id)}, maxSessions)
		return id, true
	}
	return "", false
}

func appendBounded[T any](all []T, one T, limit int) []T {
	if len(all) >= limit {
		all = append(all[:0], all[1+len(all)-limit:]...)
	}
	return append(all, one)
}

// session returns the session of a request, nil if it has none. Other ports of the host can set
// cookies of the same name, so that all of them are tried.
func (a *access) session(r *http.Request) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, cookie := range r.CookiesNamed(cookieName(r)) {
		wanted := digestOf(cookie.Value)
		for _, s := range a.sessions {
			if s.id == wanted {
				return s
			}
		}
	}
	return nil
}

// acted records the result of an action for the next page, and returns the query of the last one.
func (a *access) acted(s *session, n notice) (shown string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.notice = n
	return s.shown
}

// opened records the query of a page, and returns the result of the action before it, once.
func (a *access) opened(s *session, query string) (n notice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, s.notice, s.shown = s.notice, n, query
	return n
}

// cookieName has the port, because browsers share cookies between the ports of a host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "default"
	}
	return "sellside-console-" + port
}

func sessionCookie(r *http.Request, id string) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is set over TLS; browsers drop such a cookie without it
		Name: cookieName(r), Value: id, Path: "/", HttpOnly: true,
		Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
}

// isOwnHost reports whether a request was sent to a name of its listener: the address of the
// connection, localhost or an address of loopback, with the port of the connection. Any other name
// may be one of an attacker that resolves to this machine now (DNS rebinding).
func isOwnHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	address, port, err := net.SplitHostPort(local.String())
	if err != nil {
		return false
	}
	name, sent, err := net.SplitHostPort(r.Host)
	if err != nil {
		name, sent = strings.Trim(r.Host, "[]"), "80"
		if r.TLS != nil {
			sent = "443"
		}
	}
	if sent != port {
		return false
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip.IsLoopback() || ip != nil && ip.Equal(net.ParseIP(address))
}

// isSameOrigin reports whether a request was sent by a page of this origin. It is for reads that
// [http.CrossOriginProtection] lets pass. Clients that are no browsers send neither header.
func isSameOrigin(r *http.Request) bool {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	return (site == "" || site == "same-origin") && (origin == "" || strings.EqualFold(origin, scheme+r.Host))
}
