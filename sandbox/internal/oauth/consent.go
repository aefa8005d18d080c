package oauth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // The page.
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/web"
)

var (
	//go:embed consent.html
	consentText string

	consentPage = template.Must(template.New("consent").Parse(consentText))
)

// consent is what the page shows: a request, or why it is refused.
type consent struct {
	Refused    *Error
	Style      template.CSS
	Client     string
	Audience   string
	Scopes     []string
	Target     string // The redirect URL.
	Action     string // Of the form: the URL of the page.
	Protection string // Proves that the form was sent by the page that this browser got.
	Accounts   []string
	Account    string // Selected.
}

// authorize serves the page with a GET, and its form with a POST to the same URL.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	asked, direct, refused := readRequest(r.URL.Query(), s.Client)
	switch {
	case direct != nil:
		s.page(w, http.StatusBadRequest, "", consent{Refused: direct})
	case refused != nil:
		s.sendBack(w, r, asked, url.Values{"error": {refused.Code}, "error_description": {refused.Description}})
	case r.Method == http.MethodPost:
		s.decide(w, r, asked)
	case s.Approve:
		s.approve(w, r, asked, s.account(asked.loginHint))
	default:
		s.ask(w, r, asked)
	}
}

func (s *Server) ask(w http.ResponseWriter, r *http.Request, asked request) {
	visit := s.visit(r)
	if visit == "" {
		visit = rand.Text()
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set over TLS; browsers drop such a cookie without it
			Name: cookieName(r), Value: visit, Path: s.Paths.Authorize, HttpOnly: true,
			Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
		})
	}
	s.page(w, http.StatusOK, asked.redirectURL, consent{
		Client: asked.clientID, Audience: asked.audience, Scopes: strings.Fields(asked.scope),
		Target: asked.redirectURL, Action: r.URL.RequestURI(), Protection: s.protection(visit, r),
		Accounts: s.Accounts(), Account: s.account(asked.loginHint),
	})
}

// decide takes what a user has decided. It refuses forms of other pages, and those for another
// request than the user has seen.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, asked request) {
	visit := s.visit(r)
	expected := s.protection(visit, r)
	if r.ParseForm() != nil || visit == "" || s.foreign.Check(r) != nil ||
		!hmac.Equal([]byte(expected), []byte(r.PostForm.Get("protection"))) {
		s.page(w, http.StatusForbidden, "", consent{Refused: &Error{
			"access_denied", "This form was not sent by the page. Return to the program and sign in again.",
		}})
		return
	}
	account := r.PostForm.Get("account")
	if r.PostForm.Get("decision") != "allow" || !slices.Contains(s.Accounts(), account) {
		s.sendBack(w, r, asked, url.Values{"error": {"access_denied"}, "error_description": {"the user denied it"}})
		return
	}
	s.approve(w, r, asked, account)
}

func (s *Server) approve(w http.ResponseWriter, r *http.Request, asked request, account string) {
	s.sendBack(w, r, asked, url.Values{"code": {s.grants.issue(asked, account)}})
}

// sendBack redirects the browser to the client with a response, by a GET whatever the method was.
func (s *Server) sendBack(w http.ResponseWriter, r *http.Request, asked request, response url.Values) {
	protect(w, "")
	http.Redirect(w, r, asked.redirect(response), http.StatusSeeOther) //nolint:gosec // a registered redirect URL
}

// cookieName has the port, because browsers share cookies between the ports of a host.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "default"
	}
	return "sellside-sign-in-" + port
}

// visit returns the secret that the browser got with the page.
func (s *Server) visit(r *http.Request) string {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// protection binds a form to a browser and to the request that its page shows.
func (s *Server) protection(visit string, r *http.Request) string {
	h := hmac.New(sha256.New, s.Secret)
	h.Write([]byte(visit + "\x00" + r.URL.RawQuery))
	return encode(h.Sum(nil))
}

// page writes the page. Its form may redirect to the target.
func (s *Server) page(w http.ResponseWriter, status int, target string, c consent) {
	c.Style = template.CSS(web.Style()) //nolint:gosec // a file of package web
	var text bytes.Buffer
	if err := consentPage.Execute(&text, c); err != nil {
		http.Error(w, "the sandbox failed", http.StatusInternalServerError)
		return
	}
	protect(w, target)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = text.WriteTo(w) // it fails only if the client is gone
}

// protect sets the headers of the page. Browsers apply form-action to the redirect after a form as
// well, so it names the origin of the target.
func protect(w http.ResponseWriter, target string) {
	forms := "'self'"
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		forms += " " + u.Scheme + "://" + u.Host
	}
	web.Protect(w, "default-src 'none'; style-src "+web.StyleSource()+"; form-action "+forms)
}
