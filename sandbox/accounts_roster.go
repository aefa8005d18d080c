package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// digest stands for a credential in maps: how long a look-up takes tells
// something about the digest only.
type digest [sha256.Size]byte

func digestOf(credential string) digest { return sha256.Sum256([]byte(credential)) }

// roster is all accounts by what they can be found by. It never changes; there
// is a new one when an account does.
type roster struct {
	order                 []int64 // the oldest first
	all                   map[int64]store.Account
	names                 map[string]int64
	keys, tokens, refresh map[digest]int64
}

func newRoster(rows []store.Account) *roster {
	r := &roster{
		all: map[int64]store.Account{}, names: map[string]int64{},
		keys: map[digest]int64{}, tokens: map[digest]int64{}, refresh: map[digest]int64{},
	}
	for _, a := range rows {
		r.order = append(r.order, a.Seq)
		r.all[a.Seq], r.names[a.Name] = a, a.Seq
		r.keys[digestOf(a.APIKey)], r.tokens[digestOf(a.Token)], r.refresh[digestOf(a.RefreshToken)] = a.Seq, a.Seq, a.Seq
	}
	return r
}

// check refuses accounts that could be taken for each other.
func (r *roster) check() error {
	switch n := len(r.order); {
	case len(r.keys) < n:
		return errors.New("accounts: two have the same API key")
	case len(r.tokens) < n:
		return errors.New("accounts: two have the same access token")
	case len(r.refresh) < n:
		return errors.New("accounts: two have the same refresh token")
	}
	return nil
}

// named returns the account of a name, the zero one if there is none.
func (r *roster) named(name string) store.Account { return r.all[r.names[name]] }

// ofToken returns the account of an access token, be it the one that never
// expires or one of the token endpoint.
func (r *roster) ofToken(s signer, token string, now time.Time) (store.Account, error) {
	if seq, ok := r.tokens[digestOf(token)]; ok {
		return r.all[seq], nil
	}
	c, err := s.verify(token, now)
	if err != nil {
		return store.Account{}, err
	}
	a := r.named(c.Subject)
	if a.Seq == 0 {
		return a, fmt.Errorf("%w: there is no account %q", errNotSigned, c.Subject)
	}
	return a, nil
}

// suggestSecret makes the secret of a new database. It depends on the seed, so
// that credentials are the same in every run of a test, and differ for another
// seed.
func suggestSecret(opts Options) []byte {
	return derive(binary.BigEndian.AppendUint64(nil, opts.Seed), "secret", "")
}

// mixSecret makes of the secret of a database, which is none, that of a start.
// It depends on the credentials that the first account has from now on, whatever
// they were when the database was made: who does not know these can neither
// derive a credential nor sign a token.
func mixSecret(database []byte, opts Options) []byte {
	key := derive(database, "API key", opts.APIKey)
	key = derive(key, "token", opts.Token)
	return derive(key, "refresh token", opts.RefreshToken)
}

// credential derives a credential of a purpose for whatever it belongs to.
func (a *accounts) credential(purpose, owner string) string {
	return purpose + "-" + base64.RawURLEncoding.EncodeToString(derive(a.secret, purpose, owner)[:24])
}

func derive(key []byte, purpose, owner string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + owner))
	return h.Sum(nil)
}
