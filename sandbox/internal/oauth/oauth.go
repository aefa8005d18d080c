package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Paths are where the endpoints are.
type Paths struct{ Authorize, Token, Keys, Discovery string }

// Config is what a Server works with. Every member is required.
type Config struct {
	Store    *store.Store
	Key      *Key
	Client   Client
	Paths    Paths
	Accounts func() []string // The names of the accounts that can sign in, the first one first.
	// Approve issues codes without a page, for tests.
	Approve bool
	// Secret protects the form of the page.
	Secret []byte
	Now    func() time.Time
}

// Server lets users sign in. It is safe for concurrent use.
type Server struct {
	Config
	grants  *grants
	foreign *http.CrossOriginProtection
}

// New returns a server with the grants of the database.
func New(ctx context.Context, c Config) (*Server, error) {
	g, err := openGrants(ctx, c.Store, c.Now)
	return &Server{Config: c, grants: g, foreign: http.NewCrossOriginProtection()}, err
}

// Handler returns the handler of the endpoints that browsers and verifiers of tokens use, nil for
// other paths.
func (s *Server) Handler(path string) http.Handler {
	switch path {
	case s.Paths.Authorize:
		return http.HandlerFunc(s.authorize)
	case s.Paths.Keys:
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.document(w, r, s.Key.Set()) })
	case s.Paths.Discovery:
		return http.HandlerFunc(s.discovery)
	}
	return nil
}

// Issuer returns the issuer of tokens by the address at which a client reached the sandbox.
func Issuer(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host + "/"
}

func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	issuer := Issuer(r)
	origin := issuer[:len(issuer)-1]
	text, err := json.Marshal(map[string]any{
		"issuer":                                issuer,
		"authorization_endpoint":                origin + s.Paths.Authorize,
		"token_endpoint":                        origin + s.Paths.Token,
		"jwks_uri":                              origin + s.Paths.Keys,
		"response_types_supported":              []string{"code"},
		"grant_types_supported":                 []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":      []string{"S256"},
		"scopes_supported":                      []string{"openid", "offline_access"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post", "none"},
	})
	if err != nil {
		http.Error(w, "the sandbox failed", http.StatusInternalServerError)
		return
	}
	s.document(w, r, append(text, '\n'))
}

func (s *Server) document(w http.ResponseWriter, r *http.Request, text []byte) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // it fails only if the client is gone
}

// Exchange exchanges a code for a grant. It returns false for a code that is not valid for the
// client, redirect URL and verifier of the form, and for the second use of a code, which revokes
// the grant of the first.
func (s *Server) Exchange(ctx context.Context, form url.Values) (store.Grant, bool, error) {
	return s.grants.redeem(ctx, form.Get("code"), func(r request) bool {
		return r.clientID == s.Client.ID && r.redirectURL == form.Get("redirect_uri") && r.proves(form.Get("code_verifier"))
	})
}

// CheckClient reports whether a request to the token endpoint is one of the client: by its id, and
// by its secret if it has one, in the Authorization header or in the form.
func (s *Server) CheckClient(r *http.Request, form url.Values) bool {
	id, secret, inHeader := r.BasicAuth()
	if inHeader { // RFC 6749, section 2.3.1: both are form-encoded first
		id, secret = unescape(id), unescape(secret)
	} else {
		id, secret = form.Get("client_id"), form.Get("client_secret")
	}
	want, got := sha256.Sum256([]byte(s.Client.Secret)), sha256.Sum256([]byte(secret))
	return id == s.Client.ID && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// Refresh returns the grant of a refresh token, false if it has none or was revoked. If rotate is
// set, the grant gets another refresh token.
func (s *Server) Refresh(ctx context.Context, refreshToken string, rotate bool) (store.Grant, bool, error) {
	return s.grants.ofRefreshToken(ctx, refreshToken, rotate)
}

// Revoked reports whether tokens of a grant are no longer valid.
func (s *Server) Revoked(grantID string) bool { return s.grants.revoked(grantID) }

// account returns the account that a client expects, or the first one.
func (s *Server) account(hint string) string {
	names := s.Accounts()
	if slices.Contains(names, hint) {
		return hint
	}
	return names[0]
}
