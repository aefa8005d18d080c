package store

// Grant is one row of grants: what a user has allowed a client, in one sign-in.
type Grant struct {
	ID           string
	Account      string // Name of the account.
	Client       string
	Audience     string
	Scope        string
	RefreshToken string // Empty if the client did not ask for one.
	Revoked      bool
}

func (g *Grant) columns() []any {
	return []any{&g.ID, &g.Account, &g.Client, &g.Audience, &g.Scope, textColumn{&g.RefreshToken}, &g.Revoked}
}

// Grants reads all grants.
func (t *Tx) Grants() ([]Grant, error) {
	return list(t, (*Grant).columns,
		`SELECT id, account, client, audience, scope, refresh_token, revoked FROM grants ORDER BY id`)
}

// SaveGrant inserts a grant, or updates the one with its id.
func (t *Tx) SaveGrant(g Grant) error {
	return t.exec(`INSERT INTO grants (id, account, client, audience, scope, refresh_token, revoked)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET refresh_token = excluded.refresh_token, revoked = excluded.revoked`,
		g.ID, g.Account, g.Client, g.Audience, g.Scope, opt(g.RefreshToken), g.Revoked)
}
