package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Client is the program that users sign in to.
type Client struct {
	ID     string
	Secret string // Empty for a client that cannot keep one, which proves itself by PKCE alone.
	// RedirectURLs are where codes may be sent, compared character by character.
	RedirectURLs []string
	// AnyLoopbackPort accepts another port in redirect URLs of this machine (RFC 8252, section 7.3).
	AnyLoopbackPort bool
}

// redirectsTo reports whether codes may be sent to a URL.
func (c Client) redirectsTo(target string) bool {
	if slices.Contains(c.RedirectURLs, target) {
		return true
	}
	return c.AnyLoopbackPort && slices.ContainsFunc(c.RedirectURLs, func(registered string) bool {
		port, ok := loopbackPort(target)
		own, isLoopback := loopbackPort(registered)
		return ok && isLoopback && strings.Replace(target, ":"+port, ":"+own, 1) == registered
	})
}

// loopbackPort returns the port of a URL whose host is an address of this machine.
func loopbackPort(text string) (port string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Port() == "" {
		return "", false
	}
	return u.Port(), net.ParseIP(u.Hostname()).IsLoopback()
}

// request is what a client asks a user for.
type request struct {
	clientID    string
	redirectURL string
	state       string
	scope       string
	audience    string
	challenge   string // The SHA-256 of the verifier of PKCE, in base64url.
	nonce       string
	loginHint   string // The name of the account that the client expects.
}

// offline reports whether the client asks for a refresh token.
func (r request) offline() bool { return slices.Contains(strings.Fields(r.scope), "offline_access") }

// proves reports whether a verifier is that of the request, in constant time.
func (r request) proves(verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(encode(sum[:])), []byte(r.challenge)) == 1
}

// Error is an error of RFC 6749, with its code.
type Error struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Description }

// readRequest reads the parameters of a request for consent. direct is an error that must not be
// sent to the redirect URL, because that is not trusted; other errors are.
func readRequest(query url.Values, client Client) (r request, direct, refused *Error) {
	for name, values := range query {
		if len(values) > 1 {
			return r, &Error{"invalid_request", name + ": must not be repeated"}, nil
		}
	}
	r = request{
		clientID: query.Get("client_id"), redirectURL: query.Get("redirect_uri"), state: query.Get("state"),
		scope: query.Get("scope"), audience: query.Get("audience"), challenge: query.Get("code_challenge"),
		nonce: query.Get("nonce"), loginHint: query.Get("login_hint"),
	}
	switch {
	case r.clientID != client.ID:
		return r, &Error{"invalid_request", "client_id: not registered"}, nil
	case !client.redirectsTo(r.redirectURL):
		return r, &Error{"invalid_request", "redirect_uri: not registered for this client"}, nil
	case query.Get("response_type") != "code":
		return r, nil, &Error{"unsupported_response_type", "response_type: must be code"}
	case query.Get("code_challenge_method") != "S256":
		return r, nil, &Error{"invalid_request", "code_challenge_method: must be S256"}
	case len(r.challenge) != len(encode(make([]byte, sha256.Size))):
		return r, nil, &Error{"invalid_request", "code_challenge: must be a SHA-256 in base64url"}
	}
	return r, nil, nil
}

// redirect returns the redirect URL with a response in its query.
func (r request) redirect(response url.Values) string {
	u, err := url.Parse(r.redirectURL)
	if err != nil {
		return r.redirectURL // registered, so a parsed URL
	}
	query := u.Query()
	maps.Copy(query, response)
	if r.state != "" {
		query.Set("state", r.state)
	}
	u.RawQuery = query.Encode()
	return u.String()
}
