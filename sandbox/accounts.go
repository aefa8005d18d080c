package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// FirstAccount is the name of the account whose credentials are Options.APIKey,
// Options.Token and Options.RefreshToken.
const FirstAccount = "first"

// ErrAccountExists is the error of AddAccount for a name that is taken.
var ErrAccountExists = errors.New("there is an account of this name")

// Account is a seller. It sees what is its own and nothing of other accounts,
// but for the market, which is one for all; and its quota is its own.
type Account struct {
	Name         string `json:"name"`         // FirstAccount, or as it was chosen
	APIKey       string `json:"apiKey"`       // what x-api-key has to say
	Token        string `json:"token"`        // an access token that never expires
	RefreshToken string `json:"refreshToken"` // what the token endpoint takes
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (a Account) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "sandbox.Account "+a.Name) }

// AddAccount makes a new account with credentials of its own, which depend on
// nothing but the sandbox, the credentials in its Options and the name. It stays
// when the sandbox is reset, and in the file of the database, with the credentials
// it was given. The name must not be empty.
func (s *Sandbox) AddAccount(ctx context.Context, name string) (Account, error) {
	a, err := s.accounts.add(ctx, name)
	if err != nil {
		return Account{}, fmt.Errorf("sandbox: add account: %w", err)
	}
	return a, nil
}

// Accounts returns all accounts, the first one first. Rotated refresh tokens
// are the present ones.
func (s *Sandbox) Accounts() []Account { return s.accounts.list() }

type accountKey struct{}

// withAccount says on whose behalf a request is answered.
func withAccount(ctx context.Context, account int64) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// accountOf returns the account a request has authenticated as. It is 0, which
// owns nothing, outside of requests.
func accountOf(ctx context.Context) int64 {
	account, _ := ctx.Value(accountKey{}).(int64)
	return account
}
