package sandbox

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// authenticate lets only requests pass that carry both credentials. It says
// which one is missing or wrong, and nothing about its value.
func authenticate(apiKey, token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		key := r.Header.Get("x-api-key")
		switch {
		case r.Header.Get("Authorization") == "":
			writeError(w, http.StatusUnauthorized, "the Authorization header is missing; it should be Bearer and an access token")
		case !strings.EqualFold(scheme, "Bearer") || !same(strings.TrimSpace(credentials), token):
			writeError(w, http.StatusUnauthorized, "the access token of the Authorization header is not valid")
		case key == "":
			writeError(w, http.StatusUnauthorized, "the x-api-key header is missing")
		case !same(key, apiKey):
			writeError(w, http.StatusUnauthorized, "the API key of the x-api-key header is not valid")
		default:
			next.ServeHTTP(w, r.WithContext(withAccount(r.Context(), firstAccount)))
		}
	})
}

// same compares secrets in a time that says nothing about where they differ.
func same(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
