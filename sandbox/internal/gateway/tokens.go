package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/oauth"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// tokenResponse is the response to a grant.
type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token,omitempty"`
	Scope        string `json:"scope,omitempty"`
	IDToken      string `json:"id_token,omitempty"`
}

// grant serves the token endpoint.
func (g *Gateway) grant(w http.ResponseWriter, r *http.Request, c *call) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeToken(w, http.StatusMethodNotAllowed, oauth.Error{Code: "invalid_request", Description: "method: must be POST"})
		return
	}
	form, refused := readGrant(r)
	if refused != nil {
		writeToken(w, http.StatusBadRequest, refused)
		return
	}
	var response *tokenResponse
	var err error
	if form.Get("grant_type") == "authorization_code" {
		if !g.OAuth.CheckClient(r, form) {
			w.Header().Set("WWW-Authenticate", `Basic realm="sandbox"`)
			writeToken(w, http.StatusUnauthorized, oauth.Error{Code: "invalid_client", Description: "client_id or client_secret: not valid"})
			return
		}
		response, err = g.exchange(r, c, form)
	} else {
		response, err = g.refresh(r, c, form)
	}
	if refused, ok := errors.AsType[*oauth.Error](err); ok {
		writeToken(w, http.StatusBadRequest, refused)
		return
	}
	if err != nil {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		writeToken(w, http.StatusInternalServerError, oauth.Error{Code: "server_error", Description: "the sandbox failed"})
		return
	}
	writeToken(w, http.StatusOK, response)
}

// exchange exchanges a code for the tokens of a sign-in.
func (g *Gateway) exchange(r *http.Request, c *call, form url.Values) (*tokenResponse, error) {
	grant, ok, err := g.OAuth.Exchange(r.Context(), form)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &oauth.Error{Code: "invalid_grant", Description: "code: not valid for this client, redirect_uri and code_verifier, or no longer valid"}
	}
	response, err := g.issue(r, c, grant, form)
	if err == nil && slices.Contains(strings.Fields(grant.Scope), "openid") {
		response.IDToken, err = g.Accounts.Key.Sign(g.claims(r, oauth.Claims{Subject: grant.Account, Audience: grant.Client}))
	}
	return response, err
}

// refresh exchanges a refresh token, of an account or of a sign-in, for an access token.
func (g *Gateway) refresh(r *http.Request, c *call, form url.Values) (*tokenResponse, error) {
	refreshToken := form.Get("refresh_token")
	index := g.Accounts.index.Load()
	account, ok := index.all[index.refresh[digestOf(refreshToken)]]
	grant := store.Grant{Account: account.Name}
	var err error
	switch {
	case !ok:
		grant, ok, err = g.OAuth.Refresh(r.Context(), refreshToken, g.RotateRefreshTokens)
		if !g.RotateRefreshTokens {
			grant.RefreshToken = "" // the old one stays valid
		}
	case g.RotateRefreshTokens:
		grant.RefreshToken, ok, err = g.Accounts.rotate(r.Context(), account)
	}
	if err == nil && !ok {
		err = &oauth.Error{Code: "invalid_grant", Description: "refresh_token: not valid, or no longer valid"}
	}
	if err != nil {
		return nil, err
	}
	return g.issue(r, c, grant, form)
}

// issue returns the response with an access token of a grant. The audience of a sign-in is that of
// its request for consent; a refresh token of an account takes any.
func (g *Gateway) issue(r *http.Request, c *call, grant store.Grant, form url.Values) (*tokenResponse, error) {
	c.account = grant.Account
	accessToken, err := g.Accounts.Key.Sign(g.claims(r, oauth.Claims{
		Subject: grant.Account, Audience: cmp.Or(grant.Audience, form.Get("audience")),
		Client: grant.Client, Scope: grant.Scope, Grant: grant.ID,
	}))
	return &tokenResponse{
		AccessToken: accessToken, TokenType: "Bearer", ExpiresIn: int64(g.TokenLife / time.Second),
		RefreshToken: grant.RefreshToken, Scope: grant.Scope,
	}, err
}

// claims completes the claims of a token. It is valid for no less than TokenLife, and no two are
// equal: a client that was refused with one needs another one.
func (g *Gateway) claims(r *http.Request, c oauth.Claims) oauth.Claims {
	now := g.Now()
	expires := now.Add(g.TokenLife + time.Second - 1) // whole seconds, rounded up
	c.Issuer, c.IssuedAt, c.Expires = oauth.Issuer(r), now.Unix(), expires.Unix()
	c.ID = strconv.FormatUint(g.issuedTokens.Add(1), 10)
	return c
}

// readGrant reads the form of a grant. Its errors repeat nothing of the form.
func readGrant(r *http.Request) (url.Values, *oauth.Error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, &oauth.Error{Code: "invalid_request", Description: "content type: must be application/x-www-form-urlencoded"}
	}
	if err := r.ParseForm(); err != nil {
		return nil, &oauth.Error{Code: "invalid_request", Description: "form: cannot be parsed"}
	}
	for _, values := range r.PostForm { // of the body only: URLs are logged
		if len(values) > 1 {
			return nil, &oauth.Error{Code: "invalid_request", Description: "form: a parameter must not be repeated"}
		}
	}
	required := map[string][]string{
		"refresh_token":      {"refresh_token"},
		"authorization_code": {"code", "redirect_uri", "code_verifier"},
	}
	grantType := r.PostForm.Get("grant_type")
	if grantType == "" {
		return nil, &oauth.Error{Code: "invalid_request", Description: "grant_type: missing"}
	}
	names, ok := required[grantType]
	if !ok {
		return nil, &oauth.Error{Code: "unsupported_grant_type", Description: "grant_type: must be refresh_token or authorization_code"}
	}
	for _, name := range names {
		if r.PostForm.Get(name) == "" {
			return nil, &oauth.Error{Code: "invalid_request", Description: name + ": missing"}
		}
	}
	return r.PostForm, nil
}

func writeToken(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // it fails only if the client is gone
}
