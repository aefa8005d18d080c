package store

// Account is one row of accounts.
type Account struct {
	Seq               int64 // the account column of other tables
	Name              string
	APIKey            string
	Token             string // the access token that never expires
	RefreshToken      string
	FirstRefreshToken string // the first one, before any rotation
}

func (a *Account) columns() []any {
	return []any{&a.Seq, &a.Name, &a.APIKey, &a.Token, &a.RefreshToken, &a.FirstRefreshToken}
}

// Accounts reads all accounts, oldest first.
func (t *Tx) Accounts() ([]Account, error) {
	return list(t, (*Account).columns,
		`SELECT seq, name, api_key, token, refresh_token, first_refresh_token
		FROM accounts ORDER BY seq`)
}

// SaveAccount inserts an account, or updates the one with its name. Seq is ignored; the first
// account of a database has 1.
func (t *Tx) SaveAccount(a Account) error {
	return t.exec(`INSERT INTO accounts (name, api_key, token, refresh_token, first_refresh_token)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET api_key = excluded.api_key, token = excluded.token,
		refresh_token = excluded.refresh_token, first_refresh_token = excluded.first_refresh_token`,
		a.Name, a.APIKey, a.Token, a.RefreshToken, a.FirstRefreshToken)
}

// Secret returns the secret of a name. The first call for a name in the life of the database stores
// what it suggests.
func (t *Tx) Secret(name string, suggested []byte) (secret []byte, err error) {
	err = t.exec(`INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`,
		name, suggested)
	if err != nil {
		return nil, err
	}
	err = t.get(`SELECT value FROM secrets WHERE name = ?`, []any{name}, []any{&secret})
	return secret, err
}
