package gateway

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/oauth"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// FirstAccount is the name of the first account.
const FirstAccount = "first"

// Accounts are the sellers that may make requests. They are in the database, too. It is safe for
// concurrent use.
type Accounts struct {
	store  *store.Store
	secret []byte // of this start, see mixSecret
	// Key signs the tokens of the token endpoint.
	Key *oauth.Key

	changing sync.Mutex // held to replace index
	index    atomic.Pointer[accountIndex]
}

// OpenAccounts reads the accounts of a database and gives them the credentials that were chosen for
// this start. The first one chosen is the first account, whose credentials protect those of the
// rest. What is left empty stays as it is in the database, or is derived from the seed of the first
// start. It refuses names and credentials that are not unique.
func OpenAccounts(ctx context.Context, db *store.Store, seed uint64, chosen []store.Account) (*Accounts, error) {
	a := &Accounts{store: db}
	err := db.Update(ctx, func(tx *store.Tx) error {
		// Derived from the seed, so that credentials are the same in every run of a test.
		suggested := derive(binary.BigEndian.AppendUint64(nil, seed), "secret", "")
		secret, err := tx.Secret("accounts", suggested)
		if err != nil {
			return err
		}
		a.secret = mixSecret(secret, chosen[0])
		before, err := tx.Accounts()
		if err != nil {
			return err
		}
		if err := a.saveChosen(tx, chosen, newAccountIndex(before)); err != nil {
			return err
		}
		all, err := tx.Accounts()
		if err != nil {
			return err
		}
		index := newAccountIndex(all)
		a.index.Store(index)
		return index.check()
	})
	if err != nil {
		return nil, err
	}
	a.Key, err = oauth.NewKey(derive(a.secret, "sign", ""))
	return a, err
}

func (a *Accounts) saveChosen(tx *store.Tx, chosen []store.Account, before *accountIndex) error {
	names := map[string]bool{}
	for _, one := range chosen {
		if one.Name == "" || names[one.Name] {
			return fmt.Errorf("accounts: name (%.80q): must be unique and not empty", one.Name)
		}
		names[one.Name] = true
		account, err := a.complete(one, before.named(one.Name))
		if err != nil {
			return err
		}
		if err := tx.SaveAccount(account); err != nil {
			return err
		}
	}
	return nil
}

// complete returns an account with what was chosen for it, what it has already, or what is derived
// for it. A refresh token that was rotated stays rotated until another one is chosen.
func (a *Accounts) complete(chosen, has store.Account) (store.Account, error) {
	token := cmp.Or(chosen.Token, has.Token)
	if token == "" {
		var err error
		if token, err = a.accountToken(chosen.Name); err != nil {
			return store.Account{}, err
		}
	}
	refresh := cmp.Or(chosen.RefreshToken, has.FirstRefreshToken, a.credential("refresh", chosen.Name))
	c := store.Account{
		Name:              chosen.Name,
		APIKey:            cmp.Or(chosen.APIKey, has.APIKey, a.credential("key", chosen.Name)),
		Token:             token,
		RefreshToken:      refresh,
		FirstRefreshToken: refresh,
	}
	if has.FirstRefreshToken == refresh {
		c.RefreshToken = has.RefreshToken
	}
	return c, nil
}

// accountToken derives the access token of an account that never expires: its exp is after every
// clock of a sandbox. It is signed with another key than tokens of the token endpoint, so that it is
// valid only while it is the token of its account.
func (a *Accounts) accountToken(name string) (string, error) {
	key, err := oauth.NewKey(derive(a.secret, "sign account token", ""))
	if err != nil {
		return "", err
	}
	return key.Sign(oauth.Claims{Issuer: "sandbox", Subject: name, Expires: never})
}

// FormSecret returns the secret that protects the form of the sign-in page.
func (a *Accounts) FormSecret() []byte { return derive(a.secret, "sign-in form", "") }

// Names returns the names of all accounts, the first one first.
func (a *Accounts) Names() []string {
	var names []string
	for _, account := range a.List() {
		names = append(names, account.Name)
	}
	return names
}

// never is the end of the year 9999, in seconds since 1970.
const never = 253_402_300_799

// Add makes an account with derived credentials. It returns false if there is one of that name.
func (a *Accounts) Add(ctx context.Context, name string) (account store.Account, added bool, err error) {
	if name == "" {
		return account, false, wire.Invalidf("name: must not be empty")
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	if a.Named(name).Seq != 0 {
		return account, false, nil
	}
	if account, err = a.complete(store.Account{Name: name}, store.Account{}); err != nil {
		return store.Account{}, false, err
	}
	if err := a.save(ctx, account); err != nil {
		return store.Account{}, false, err
	}
	return a.Named(name), true, nil
}

// List returns all accounts, the first one first.
func (a *Accounts) List() []store.Account {
	index := a.index.Load()
	all := make([]store.Account, 0, len(index.order))
	for _, seq := range index.order {
		all = append(all, index.all[seq])
	}
	return all
}

// Named returns the account of a name, the zero one if there is none.
func (a *Accounts) Named(name string) store.Account { return a.index.Load().named(name) }

// authenticate returns the account that a request carries both credentials of. Its refusals say
// which credential is missing or wrong, and nothing about the value.
func (a *Accounts) authenticate(
	r *http.Request, now time.Time, revoked func(grantID string) bool,
) (store.Account, *wire.Error) {
	header, key := r.Header.Get("Authorization"), r.Header.Get("x-api-key")
	scheme, token, _ := strings.Cut(header, " ")
	bearer := strings.EqualFold(scheme, "Bearer")
	index := a.index.Load()
	account, err := index.ofToken(a.Key, strings.TrimSpace(token), now, revoked)
	owner, known := index.keys[digestOf(key)]
	expired, isExpired := errors.AsType[*oauth.ExpiredError](err)
	refuse := func(message string) (store.Account, *wire.Error) {
		return store.Account{}, &wire.Error{Status: http.StatusUnauthorized, Message: message}
	}
	switch {
	case header == "":
		return refuse("Authorization header: missing: send Bearer and an access token")
	case bearer && isExpired:
		return refuse("Authorization header: " + expired.Error())
	case !bearer || err != nil:
		return refuse("Authorization header: access token not valid")
	case key == "":
		return refuse("x-api-key header: missing: send an API key")
	case !known:
		return refuse("x-api-key header: API key not valid")
	case owner != account.Seq:
		return refuse("x-api-key header: API key of another account than the access token")
	}
	return account, nil
}

// rotate replaces the refresh token of an account. It returns false if another grant did so first.
func (a *Accounts) rotate(ctx context.Context, account store.Account) (next string, ok bool, err error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	if a.index.Load().all[account.Seq].RefreshToken != account.RefreshToken {
		return "", false, nil
	}
	account.RefreshToken = a.credential("refresh", account.RefreshToken)
	return account.RefreshToken, true, a.save(ctx, account)
}

// save writes an account and indexes it. The caller holds changing.
func (a *Accounts) save(ctx context.Context, account store.Account) error {
	var all []store.Account
	err := a.store.Update(ctx, func(tx *store.Tx) (err error) {
		if err := tx.SaveAccount(account); err != nil {
			return err
		}
		all, err = tx.Accounts()
		return err
	})
	if err == nil {
		a.index.Store(newAccountIndex(all))
	}
	return err
}

// credential derives a credential of a purpose for its owner.
func (a *Accounts) credential(purpose, owner string) string {
	return purpose + "-" + base64.RawURLEncoding.EncodeToString(derive(a.secret, purpose, owner)[:24])
}

// mixSecret turns the secret of a database, which may be known, into that of a start. It depends on
// the credentials that the first account has from now on: without them no other credential can be
// derived and no token be signed.
func mixSecret(database []byte, first store.Account) []byte {
	key := derive(database, "API key", first.APIKey)
	key = derive(key, "token", first.Token)
	return derive(key, "refresh token", first.RefreshToken)
}

func derive(key []byte, purpose, owner string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + owner))
	return h.Sum(nil)
}

// digest replaces a credential as the key of a map, so that the time of a look-up depends on the
// digest only.
type digest [sha256.Size]byte

func digestOf(credential string) digest { return sha256.Sum256([]byte(credential)) }

// accountIndex finds accounts. It is replaced when an account changes, and never changes itself.
type accountIndex struct {
	order                 []int64 // oldest first
	all                   map[int64]store.Account
	names                 map[string]int64
	keys, tokens, refresh map[digest]int64
}

func newAccountIndex(rows []store.Account) *accountIndex {
	i := &accountIndex{
		all: map[int64]store.Account{}, names: map[string]int64{},
		keys: map[digest]int64{}, tokens: map[digest]int64{}, refresh: map[digest]int64{},
	}
	for _, a := range rows {
		i.order = append(i.order, a.Seq)
		i.all[a.Seq], i.names[a.Name] = a, a.Seq
		i.keys[digestOf(a.APIKey)] = a.Seq
		i.tokens[digestOf(a.Token)] = a.Seq
		i.refresh[digestOf(a.RefreshToken)] = a.Seq
	}
	return i
}

// check refuses accounts that share a credential.
func (i *accountIndex) check() error {
	switch n := len(i.order); {
	case len(i.keys) < n:
		return errors.New("accounts: API key: must be unique")
	case len(i.tokens) < n:
		return errors.New("accounts: access token: must be unique")
	case len(i.refresh) < n:
		return errors.New("accounts: refresh token: must be unique")
	}
	return nil
}

// errRevoked reports that the sign-in of a token was revoked.
var errRevoked = errors.New("access token was revoked")

func (i *accountIndex) named(name string) store.Account { return i.all[i.names[name]] }

// ofToken returns the account of an access token: the one that never expires, or one that the token
// endpoint has signed.
func (i *accountIndex) ofToken(
	key *oauth.Key, token string, now time.Time, revoked func(grantID string) bool,
) (store.Account, error) {
	if seq, ok := i.tokens[digestOf(token)]; ok {
		return i.all[seq], nil
	}
	c, err := key.Verify(token, now)
	if err != nil {
		return store.Account{}, err
	}
	if c.Grant != "" && revoked(c.Grant) {
		return store.Account{}, errRevoked
	}
	a := i.named(c.Subject)
	if a.Seq == 0 {
		return a, fmt.Errorf("%w: account (%q): not found", oauth.ErrNotSigned, c.Subject)
	}
	return a, nil
}
