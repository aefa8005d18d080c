package sandbox

import (
	"cmp"
	"fmt"
	"io"
	"net/url"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/oauth"
)

// The default client of SignIn. Its secret is not secret.
const (
	DefaultClientID     = "sandbox-client"
	DefaultClientSecret = "sandbox-client-secret"
	DefaultRedirectURL  = "http://127.0.0.1:8765/callback"
)

// SignIn is the client that users sign in to. The zero value has the defaults.
type SignIn struct {
	ClientID string // DefaultClientID if empty.
	// ClientSecret is the secret of the client; DefaultClientSecret if empty.
	ClientSecret string
	// Public means that the client has no secret and proves itself by PKCE alone.
	Public bool
	// RedirectURLs are where codes may be sent, compared character by character;
	// DefaultRedirectURL if empty.
	RedirectURLs []string
	// AnyLoopbackPort accepts any port in a redirect URL of this machine, as RFC 8252 asks of
	// services; not all do.
	AnyLoopbackPort bool
	// Approve issues codes without asking a user, for tests. The account is that of the parameter
	// login_hint, or the first one.
	Approve bool
}

// Format implements [fmt.Formatter], so that no verb prints the secret.
func (s SignIn) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "sandbox.SignIn "+s.ClientID) }

func (s SignIn) complete() SignIn {
	s.ClientID = cmp.Or(s.ClientID, DefaultClientID)
	if !s.Public {
		s.ClientSecret = cmp.Or(s.ClientSecret, DefaultClientSecret)
	}
	if len(s.RedirectURLs) == 0 {
		s.RedirectURLs = []string{DefaultRedirectURL}
	}
	return s
}

func (s SignIn) check() error {
	if s.Public && s.ClientSecret != "" {
		return fmt.Errorf("%w: SignIn.ClientSecret: must be empty for a public client", ErrInvalidOptions)
	}
	for _, target := range s.RedirectURLs {
		u, err := url.Parse(target)
		if err != nil || !u.IsAbs() || u.Fragment != "" || u.User != nil {
			return fmt.Errorf("%w: SignIn.RedirectURLs: must be absolute, without a user and a fragment", ErrInvalidOptions)
		}
	}
	return nil
}

func (s SignIn) client() oauth.Client {
	return oauth.Client{
		ID: s.ClientID, Secret: s.ClientSecret, RedirectURLs: s.RedirectURLs, AnyLoopbackPort: s.AnyLoopbackPort,
	}
}
