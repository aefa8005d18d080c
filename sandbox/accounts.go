package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// FirstAccount is the name of the account whose credentials are Options.APIKey, Options.Token and
// Options.RefreshToken.
const FirstAccount = gateway.FirstAccount

// ErrAccountExists reports that AddAccount was called with the name of an account.
var ErrAccountExists = errors.New("account exists")

// Account is a seller with its own listings, batches, orders and quota. All accounts share the
// market and the catalog.
type Account struct {
	Name         string // unique; FirstAccount for the first one
	APIKey       string // for the header x-api-key
	Token        string // an access token that never expires
	RefreshToken string // for the token endpoint
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (a Account) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "sandbox.Account "+a.Name) }

// AddAccount adds an account with a name that must not be empty, or returns an error that is
// ErrAccountExists. Its credentials are derived from the database, the credentials in Options and
// the name. Account and credentials survive Reset, and a restart on the same file.
func (s *Sandbox) AddAccount(ctx context.Context, name string) (Account, error) {
	a, added, err := s.gateway.Accounts.Add(ctx, name)
	if err == nil && !added {
		err = fmt.Errorf("%w: %.80q", ErrAccountExists, name)
	}
	if err != nil {
		return Account{}, wrap("add account", err)
	}
	return accountOf(a), nil
}

// Accounts returns all accounts, the first one first, with their current refresh tokens.
func (s *Sandbox) Accounts() []Account {
	rows := s.gateway.Accounts.List()
	all := make([]Account, 0, len(rows))
	for _, a := range rows {
		all = append(all, accountOf(a))
	}
	return all
}

func accountOf(a store.Account) Account {
	return Account{Name: a.Name, APIKey: a.APIKey, Token: a.Token, RefreshToken: a.RefreshToken}
}

// APIKey returns the API key of the first account.
func (s *Sandbox) APIKey() string { return s.options.APIKey }

// Token returns the access token of the first account that never expires.
func (s *Sandbox) Token() string { return s.options.Token }

// RefreshToken returns the current refresh token of the first account.
func (s *Sandbox) RefreshToken() string {
	return s.gateway.Accounts.Named(FirstAccount).RefreshToken
}
