// Package console is the page on which people look at a sandbox: its market, listings, batches,
// orders, requests and faults, as they change. It also bids, moves the clock and orders, injects
// faults and resets.
package console

import (
	"context"
	_ "embed" // The files of the page.
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/control"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/handlers"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/web"
)

const (
	// Path is the path of the page.
	Path = "/"
	// Assets is the prefix of what the page loads and of its forms.
	Assets = "/_console"
)

// Run is one run of a bulk program.
type Run struct {
	Name                string
	State               string
	Total, Done, Failed int
	StartedAt           time.Time
}

// Config is what a Console works with. Every member but Runs is required.
type Config struct {
	Control  *control.Control
	Catalog  *catalog.Catalog
	Handlers *handlers.Handlers
	Logger   *slog.Logger
	// Runs returns the runs to show. Nil shows no section of runs.
	Runs func(context.Context) ([]Run, error)
}

// Console serves the page. It is safe for concurrent use.
type Console struct {
	Config
	access  access
	foreign *http.CrossOriginProtection
	streams chan struct{} // has a token for each open stream of events
	mux     *http.ServeMux
}

// New returns a console.
func New(c Config) *Console {
	p := &Console{
		Config: c, foreign: http.NewCrossOriginProtection(), streams: make(chan struct{}, maxStreams), mux: http.NewServeMux(),
	}
	p.mux.HandleFunc("GET "+Path+"{$}", p.open)
	p.mux.HandleFunc("GET "+Assets+"/events", p.member(p.events))
	for name, a := range assets {
		p.mux.HandleFunc("GET "+Assets+"/"+name, a.serve)
	}
	for name, do := range p.actions() {
		p.mux.HandleFunc("POST "+Assets+"/"+name, p.member(p.act(do)))
	}
	return p
}

// Code returns a code that opens the page once, within five minutes. It is the value of the query
// parameter code of Path.
func (c *Console) Code() string { return c.access.issue() }

// ServeHTTP implements [http.Handler]. It serves only requests to a name of the listener, and no
// writes of the pages of others.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.Protect(w, "default-src 'self'; form-action 'self'")
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	if !isOwnHost(r) {
		http.Error(w, "host: not a name of this sandbox", http.StatusMisdirectedRequest)
		return
	}
	if c.foreign.Check(r) != nil {
		http.Error(w, "request: sent by another page", http.StatusForbidden)
		return
	}
	c.mux.ServeHTTP(w, r)
}

// open serves the page to a session, and exchanges a code for a session.
func (c *Console) open(w http.ResponseWriter, r *http.Request) {
	if code := r.URL.Query().Get("code"); code != "" && r.Method == http.MethodGet {
		if id, ok := c.access.redeem(code); ok {
			http.SetCookie(w, sessionCookie(r, id))
		} else if c.access.session(r) == nil {
			c.refuse(w, r, "The code of this link is not valid: a code works once, for five minutes.")
			return
		}
		http.Redirect(w, r, Path, http.StatusSeeOther)
		return
	}
	s := c.access.session(r)
	if s == nil {
		c.refuse(w, r, "This browser has no session.")
		return
	}
	shown := selectionOf(r.URL.Query())
	v, err := c.read(r.Context(), shown)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	v.Notice = c.access.opened(s, shown.query())
	c.render(w, r, http.StatusOK, "page", v)
}

func (c *Console) refuse(w http.ResponseWriter, r *http.Request, reason string) {
	c.render(w, r, http.StatusUnauthorized, "refused", view{Assets: assetURLs(), Refused: reason})
}

// member returns a handler for sessions only.
func (c *Console) member(next func(http.ResponseWriter, *http.Request, *session)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := c.access.session(r)
		if s == nil {
			http.Error(w, "The session has ended: open the console with a new link.", http.StatusUnauthorized)
			return
		}
		next(w, r, s)
	}
}

// fail logs an error of the sandbox, which the response does not repeat.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	c.Logger.ErrorContext(r.Context(), "console failed", "path", r.URL.Path, "error", err)
	http.Error(w, "The sandbox failed; its log says why.", http.StatusInternalServerError)
}

// selection is what the page shows of the market.
type selection struct{ product, variant, currency string }

func selectionOf(q url.Values) selection {
	return selection{q.Get("product"), q.Get("variant"), q.Get("currency")}
}

func (s selection) query() string {
	return url.Values{"product": {s.product}, "variant": {s.variant}, "currency": {s.currency}}.Encode()
}
