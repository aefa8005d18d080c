package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// FirstAccount is the name of the account whose credentials are Options.APIKey,
// Options.Token and Options.RefreshToken.
const FirstAccount = "first"

// ErrAccountExists is the error of AddAccount for a name that is taken.
var ErrAccountExists = errors.New("there is an account of this name")

// Account is a seller. It sees what is its own and nothing of other accounts,
// but for the market, which is one for all; and its quota is its own.
type Account struct {
	Name         string // FirstAccount, or as it was chosen
	APIKey       string // what x-api-key has to say
	Token        string // an access token that never expires
	RefreshToken string // what the token endpoint takes
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (a Account) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "sandbox.Account "+a.Name) }

// AddAccount makes a new account with credentials of its own, which depend on
// nothing but the sandbox, the credentials in its Options and the name. It stays
// when the sandbox is reset, and in the file of the database, with the credentials
// it was given. The name must not be empty.
func (s *Sandbox) AddAccount(ctx context.Context, name string) (Account, error) {
	a, added, err := s.gateway.Accounts.Add(ctx, name)
	if err == nil && !added {
		err = fmt.Errorf("%w: %.80q", ErrAccountExists, name)
	}
	if err != nil {
		return Account{}, fmt.Errorf("sandbox: add account: %w", err)
	}
	return accountOf(a), nil
}

// Accounts returns all accounts, the first one first. Rotated refresh tokens
// are the present ones.
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

// RefreshToken returns the refresh token of the first account that is valid now.
func (s *Sandbox) RefreshToken() string {
	return s.gateway.Accounts.Named(FirstAccount).RefreshToken
}
