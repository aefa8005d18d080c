package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// tokenResponse is the response to a grant.
type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token,omitempty"`
}

// tokenError is the response to a grant that is refused; its codes are those of RFC 6749.
type tokenError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// grant serves the token endpoint.
func (g *Gateway) grant(w http.ResponseWriter, r *http.Request, c *call) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeToken(w, http.StatusMethodNotAllowed, tokenError{"invalid_request", "method: must be POST"})
		return
	}
	form, refused := readGrant(r)
	if refused != nil {
		writeToken(w, http.StatusBadRequest, refused)
		return
	}
	index := g.Accounts.index.Load()
	account, ok := index.all[index.refresh[digestOf(form.Get("refresh_token"))]]
	response := tokenResponse{TokenType: "Bearer", ExpiresIn: int64(g.TokenLife / time.Second)}
	var err error
	if ok && g.RotateRefreshTokens {
		response.RefreshToken, ok, err = g.Accounts.rotate(r.Context(), account)
	}
	if !ok {
		writeToken(w, http.StatusBadRequest, tokenError{"invalid_grant", "refresh_token: not valid, or no longer valid"})
		return
	}
	if err == nil {
		c.account = account.Name
		response.AccessToken, err = g.issueToken(account.Name, form.Get("audience"))
	}
	if err != nil {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		writeToken(w, http.StatusInternalServerError, tokenError{"server_error", "the sandbox failed"})
		return
	}
	writeToken(w, http.StatusOK, response)
}

// issueToken signs an access token. It is valid for no less than TokenLife, and no two are equal: a
// client that was refused with one needs another one.
func (g *Gateway) issueToken(account, audience string) (string, error) {
	now := g.Now()
	expires := now.Add(g.TokenLife + time.Second - 1) // whole seconds, rounded up
	return g.Accounts.signer.sign(claims{
		Issuer: issuer, Subject: account, Audience: audience,
		IssuedAt: now.Unix(), Expires: expires.Unix(), ID: strconv.FormatUint(g.issuedTokens.Add(1), 10),
	})
}

// readGrant reads the form of a refresh-token grant. Its errors repeat nothing of the form.
func readGrant(r *http.Request) (url.Values, *tokenError) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, &tokenError{"invalid_request", "content type: must be application/x-www-form-urlencoded"}
	}
	if err := r.ParseForm(); err != nil {
		return nil, &tokenError{"invalid_request", "form: cannot be parsed"}
	}
	for _, values := range r.PostForm { // of the body only: URLs are logged
		if len(values) > 1 {
			return nil, &tokenError{"invalid_request", "form: a parameter must not be repeated"}
		}
	}
	switch r.PostForm.Get("grant_type") {
	case "":
		return nil, &tokenError{"invalid_request", "grant_type: missing"}
	case "refresh_token":
	default:
		return nil, &tokenError{"unsupported_grant_type", "grant_type: must be refresh_token"}
	}
	if r.PostForm.Get("refresh_token") == "" {
		return nil, &tokenError{"invalid_request", "refresh_token: missing"}
	}
	return r.PostForm, nil
}

func writeToken(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // it fails only if the client is gone
}

// errNotSigned reports that this sandbox has not signed a token.
var errNotSigned = errors.New("token was not signed by this sandbox")

// expiredError reports that a token has expired.
type expiredError struct{ at time.Time }

func (e *expiredError) Error() string {
	return "access token expired at " + e.at.UTC().Format(time.RFC3339)
}

// issuer is the iss of all tokens.
const issuer = "sandbox"

// never is the end of the year 9999, in seconds since 1970.
const never = 253_402_300_799

// claims are the content of an access token. They are all that is known of it, so that tokens
// survive a restart.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"` // name of the account
	Audience string `json:"aud,omitempty"`
	IssuedAt int64  `json:"iat"`           // seconds since 1970
	Expires  int64  `json:"exp"`           // seconds since 1970
	ID       string `json:"jti,omitempty"` // distinguishes tokens of the same second
}

// jwtHeader is the header of every token. Tokens with another one are not read: a token must not
// choose how it is verified.
var jwtHeader = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))

// signer signs and verifies access tokens with HMAC-SHA-256.
type signer struct{ key []byte }

func (s signer) sign(c claims) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("sign access token: %w", err)
	}
	text := jwtHeader + "." + base64.RawURLEncoding.EncodeToString(payload)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.mac(text)), nil
}

// verify returns the claims of a token, errNotSigned or an *expiredError.
func (s signer) verify(token string, now time.Time) (c claims, err error) {
	end := strings.LastIndexByte(token, '.')
	payload, ok := strings.CutPrefix(token[:max(end, 0)], jwtHeader+".")
	if !ok {
		return c, errNotSigned
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(token[end+1:])
	if err != nil || !hmac.Equal(mac, s.mac(token[:end])) {
		return c, errNotSigned
	}
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(text, &c) != nil {
		return c, errNotSigned
	}
	if expires := time.Unix(c.Expires, 0); !now.Before(expires) {
		return c, &expiredError{expires}
	}
	return c, nil
}

func (s signer) mac(text string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
