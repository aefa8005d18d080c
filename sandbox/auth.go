package sandbox

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"
)

// authenticate lets only requests pass that carry both credentials of one
// account. It says which one is missing or wrong, and nothing about its value.
func (a *accounts) authenticate(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		key := r.Header.Get("x-api-key")
		known := a.known.Load()
		account, err := known.ofToken(a.signer, strings.TrimSpace(token), now())
		owner, ok := known.keys[digestOf(key)]
		expired, old := errors.AsType[*expiredError](err)
		switch {
		case r.Header.Get("Authorization") == "":
			unauthorized(w, "the Authorization header is missing; it should be Bearer and an access token")
		case strings.EqualFold(scheme, "Bearer") && old:
			unauthorized(w, "the access token of the Authorization header is no longer valid: "+expired.Error())
		case !strings.EqualFold(scheme, "Bearer") || err != nil:
			unauthorized(w, "the access token of the Authorization header is not valid")
		case key == "":
			unauthorized(w, "the x-api-key header is missing")
		case !ok:
			unauthorized(w, "the API key of the x-api-key header is not valid")
		case owner != account.Seq:
			unauthorized(w, "the API key of the x-api-key header is not that of the access token's account")
		default:
			callOf(r.Context()).account = account.Name
			next.ServeHTTP(w, r.WithContext(withAccount(r.Context(), account.Seq)))
		}
	})
}

func unauthorized(w http.ResponseWriter, message string) {
	writeError(w, http.StatusUnauthorized, message)
}

// same compares secrets in a time that says nothing about where they differ.
func same(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
