package sandbox

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// TokenPath is where the token endpoint is, beside BasePath. It takes the
// refresh-token grant of RFC 6749, section 6, form-encoded, from any client_id:
//
//	grant_type=refresh_token&refresh_token=sandbox-refresh-token
//
// and answers with an access token that lives for Options.TokenLife.
const TokenPath = "/oauth/token" //nolint:gosec // a path, not a credential

// tokenAnswer is what a grant gives.
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token,omitempty"`
}

// tokenError is what a refused grant is told; its codes are those of RFC 6749.
type tokenError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// tokenEndpoint gives out access tokens.
type tokenEndpoint struct {
	accounts *accounts
	now      func() time.Time
	life     time.Duration
	rotates  bool
	issued   atomic.Uint64 // how many access tokens
}

// ServeHTTP implements [http.Handler].
func (e *tokenEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		answerToken(w, http.StatusMethodNotAllowed, tokenError{"invalid_request", "a grant is a POST"})
		return
	}
	form, refused := readGrant(r)
	if refused != nil {
		answerToken(w, http.StatusBadRequest, refused)
		return
	}
	known := e.accounts.known.Load()
	account, ok := known.all[known.refresh[digestOf(form.Get("refresh_token"))]]
	answer := tokenAnswer{TokenType: "Bearer", ExpiresIn: int64(e.life / time.Second)}
	var err error
	if ok && e.rotates {
		answer.RefreshToken, ok, err = e.accounts.rotate(r.Context(), account)
	}
	if !ok {
		answerToken(w, http.StatusBadRequest, tokenError{"invalid_grant", "the refresh token is not valid, or no longer"})
		return
	}
	if err == nil {
		callOf(r.Context()).account = account.Name
		answer.AccessToken, err = e.issue(account.Name, form.Get("audience"))
	}
	if err != nil {
		abortIfGone(r)
		answerToken(w, http.StatusInternalServerError, tokenError{"server_error", "the sandbox failed"})
		return
	}
	answerToken(w, http.StatusOK, answer)
}

// issue makes an access token that lives for no less than it says, and is like
// no other: a client that was refused with one needs another one.
func (e *tokenEndpoint) issue(account, audience string) (string, error) {
	now := e.now()
	expires := now.Add(e.life + time.Second - 1) // whole seconds, rounded up
	return e.accounts.signer.sign(claims{
		Issuer: "sandbox", Subject: account, Audience: audience,
		IssuedAt: now.Unix(), Expires: expires.Unix(), ID: strconv.FormatUint(e.issued.Add(1), 10),
	})
}

// readGrant reads the form of a refresh-token grant, or says what is wrong with
// it without repeating any of it.
func readGrant(r *http.Request) (url.Values, *tokenError) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, &tokenError{"invalid_request", "the content type is not application/x-www-form-urlencoded"}
	}
	if err := r.ParseForm(); err != nil {
		return nil, &tokenError{"invalid_request", "the form cannot be read"}
	}
	for _, values := range r.PostForm { // of the body: what is in the URL stands in logs
		if len(values) > 1 {
			return nil, &tokenError{"invalid_request", "a parameter is there twice"}
		}
	}
	switch r.PostForm.Get("grant_type") {
	case "":
		return nil, &tokenError{"invalid_request", "grant_type is missing"}
	case "refresh_token":
	default:
		return nil, &tokenError{"unsupported_grant_type", "the sandbox has no sign-in page: grant_type has to be refresh_token"}
	}
	if r.PostForm.Get("refresh_token") == "" {
		return nil, &tokenError{"invalid_request", "refresh_token is missing"}
	}
	return r.PostForm, nil
}

func answerToken(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The client may be gone; there is nobody else to tell.
	_ = json.NewEncoder(w).Encode(body)
}
