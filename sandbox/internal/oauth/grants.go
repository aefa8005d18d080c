package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

const (
	// codeLife is how long a code can be exchanged.
	codeLife = time.Minute
	// codeMemory is how long a code is remembered, so that its second use is noticed.
	codeMemory = 24 * time.Hour
	// maxCodes bounds the codes that are remembered; the oldest is forgotten first.
	maxCodes = 10_000
)

// digest replaces a secret as the key of a map, so that the time of a look-up depends on the digest
// only.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// code is what a user has consented to, until the client exchanges it.
type code struct {
	request  request
	account  string
	issuedAt time.Time
	grant    string // The id of the grant that it was exchanged for.
}

// grants are the codes of one start and the grants of the database. It is safe for concurrent use.
type grants struct {
	store *store.Store
	now   func() time.Time

	mu      sync.Mutex // held while the database is written
	codes   map[digest]*code
	order   []digest // of the codes, oldest first
	all     map[string]store.Grant
	refresh map[digest]string // ids of grants by their refresh tokens
}

func openGrants(ctx context.Context, db *store.Store, now func() time.Time) (*grants, error) {
	g := &grants{
		store: db, now: now,
		codes: map[digest]*code{}, all: map[string]store.Grant{}, refresh: map[digest]string{},
	}
	var rows []store.Grant
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.Grants()
		return err
	})
	for _, row := range rows {
		g.index(row)
	}
	return g, err
}

func (g *grants) index(row store.Grant) {
	if before := g.all[row.ID]; before.RefreshToken != row.RefreshToken {
		delete(g.refresh, digestOf(before.RefreshToken))
	}
	g.all[row.ID] = row
	if row.RefreshToken != "" && !row.Revoked {
		g.refresh[digestOf(row.RefreshToken)] = row.ID
	}
}

// issue returns a code for what a user has consented to.
func (g *grants) issue(r request, account string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
	secret := rand.Text()
	key := digestOf(secret)
	g.codes[key] = &code{request: r, account: account, issuedAt: g.now()}
	g.order = append(g.order, key)
	return secret
}

// forget removes codes that are too old or too many.
func (g *grants) forget() {
	for len(g.order) > 0 {
		oldest := g.codes[g.order[0]]
		if len(g.order) < maxCodes && g.now().Sub(oldest.issuedAt) < codeMemory {
			return
		}
		delete(g.codes, g.order[0])
		g.order = g.order[1:]
	}
}

// redeem exchanges a code for a grant if check accepts the request that it was issued for. A code
// that comes a second time revokes the grant of the first.
func (g *grants) redeem(ctx context.Context, secret string, check func(request) bool) (store.Grant, bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.codes[digestOf(secret)]
	switch {
	case c == nil:
		return store.Grant{}, false, nil
	case c.grant != "":
		grant := g.all[c.grant]
		grant.Revoked = true
		return store.Grant{}, false, g.save(ctx, grant)
	case !check(c.request) || g.now().Sub(c.issuedAt) >= codeLife:
		return store.Grant{}, false, nil
	}
	grant := store.Grant{
		ID: rand.Text(), Account: c.account, Client: c.request.clientID,
		Audience: c.request.audience, Scope: c.request.scope,
	}
	if c.request.offline() {
		grant.RefreshToken = rand.Text()
	}
	c.grant = grant.ID // even if saving it fails: a code is used once
	return grant, true, g.save(ctx, grant)
}

// ofRefreshToken returns the grant of a refresh token. If rotate is set, the grant gets another
// one. Of two calls with one token, one gets it.
func (g *grants) ofRefreshToken(ctx context.Context, token string, rotate bool) (store.Grant, bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	grant, ok := g.all[g.refresh[digestOf(token)]]
	if !ok || !rotate {
		return grant, ok, nil
	}
	grant.RefreshToken = rand.Text()
	return grant, true, g.save(ctx, grant)
}

// revoked reports whether tokens of a grant are no longer valid. A grant that is not known has been
// removed with its database.
func (g *grants) revoked(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	grant, ok := g.all[id]
	return !ok || grant.Revoked
}

// save writes a grant and indexes it. The caller holds mu.
func (g *grants) save(ctx context.Context, grant store.Grant) error {
	err := g.store.Update(ctx, func(tx *store.Tx) error { return tx.SaveGrant(grant) })
	if err != nil {
		return err
	}
	delete(g.refresh, digestOf(grant.RefreshToken))
	g.index(grant)
	return nil
}
