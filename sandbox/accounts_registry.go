package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// accounts knows who may come in. What it knows is in the database, too.
type accounts struct {
	store  *store.Store
	secret []byte // of this start, see mixSecret
	signer signer

	changing sync.Mutex // of known
	known    atomic.Pointer[roster]
}

// newAccounts reads the accounts of a database and gives them the credentials
// of the options, where there are any.
func newAccounts(ctx context.Context, db *store.Store, opts Options) (*accounts, error) {
	a := &accounts{store: db}
	first := Account{Name: FirstAccount, APIKey: opts.APIKey, Token: opts.Token, RefreshToken: opts.RefreshToken}
	given := append([]Account{first}, opts.Accounts...)
	err := db.Update(ctx, func(tx *store.Tx) (err error) {
		secret, err := tx.Secret("accounts", suggestSecret(opts))
		if err != nil {
			return err
		}
		a.secret = mixSecret(secret, opts)
		before, err := tx.Accounts()
		if err != nil {
			return err
		}
		if err := a.give(tx, given, newRoster(before)); err != nil {
			return err
		}
		all, err := tx.Accounts()
		if err != nil {
			return err
		}
		known := newRoster(all)
		a.known.Store(known)
		return known.check()
	})
	a.signer = signer{derive(a.secret, "sign", "")}
	return a, err
}

// give writes accounts down with what was chosen for them.
func (a *accounts) give(tx *store.Tx, given []Account, before *roster) error {
	names := map[string]bool{}
	for _, one := range given {
		if one.Name == "" || names[one.Name] {
			return fmt.Errorf("accounts: every one needs a name of its own, and %q is not", one.Name)
		}
		names[one.Name] = true
		if err := tx.SaveAccount(a.merge(one, before.named(one.Name))); err != nil {
			return err
		}
	}
	return nil
}

// merge gives an account what was chosen for it, what it has, or what is
// derived for it. A refresh token that was rotated stays so until another one is
// chosen.
func (a *accounts) merge(given Account, has store.Account) store.Account {
	refresh := cmp.Or(given.RefreshToken, has.FirstRefreshToken, a.credential("refresh", given.Name))
	m := store.Account{
		Name:              given.Name,
		APIKey:            cmp.Or(given.APIKey, has.APIKey, a.credential("key", given.Name)),
		Token:             cmp.Or(given.Token, has.Token, a.credential("token", given.Name)),
		RefreshToken:      refresh,
		FirstRefreshToken: refresh,
	}
	if has.FirstRefreshToken == refresh {
		m.RefreshToken = has.RefreshToken
	}
	return m
}

func (a *accounts) add(ctx context.Context, name string) (Account, error) {
	if name == "" {
		return Account{}, badRequest("it needs a name")
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	if a.known.Load().named(name).Seq != 0 {
		return Account{}, fmt.Errorf("%w: %.80q", ErrAccountExists, name)
	}
	if err := a.save(ctx, a.merge(Account{Name: name}, store.Account{})); err != nil {
		return Account{}, err
	}
	return show(a.known.Load().named(name)), nil
}

// rotate replaces a refresh token that is valid, and reports whether it still
// was.
func (a *accounts) rotate(ctx context.Context, account store.Account) (next string, ok bool, err error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	if a.known.Load().all[account.Seq].RefreshToken != account.RefreshToken {
		return "", false, nil
	}
	account.RefreshToken = a.credential("refresh", account.RefreshToken)
	return account.RefreshToken, true, a.save(ctx, account)
}

func (a *accounts) save(ctx context.Context, account store.Account) error {
	var all []store.Account
	err := a.store.Update(ctx, func(tx *store.Tx) (err error) {
		if err := tx.SaveAccount(account); err != nil {
			return err
		}
		all, err = tx.Accounts()
		return err
	})
	if err == nil {
		a.known.Store(newRoster(all))
	}
	return err
}

func (a *accounts) list() []Account {
	known := a.known.Load()
	all := make([]Account, 0, len(known.all))
	for _, seq := range known.order {
		all = append(all, show(known.all[seq]))
	}
	return all
}

func show(a store.Account) Account {
	return Account{Name: a.Name, APIKey: a.APIKey, Token: a.Token, RefreshToken: a.RefreshToken}
}
