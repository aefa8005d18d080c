package store

// kept are the tables that a reset leaves alone: who may come in, and what the
// schema is.
const kept = `'accounts', 'secrets', 'goose_db_version'`

// Reset empties all tables but those of accounts. Ids begin anew.
func (t *Tx) Reset() error {
	// The newest tables first: they refer to older ones, and a row that nobody
	// refers to is deleted faster.
	tables, err := list(t, func(name *string) []any { return []any{name} },
		`SELECT m.name FROM sqlite_master m JOIN pragma_table_list l ON l.name = m.name AND l.schema = 'main'
		WHERE l.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT IN (`+kept+`) ORDER BY m.rowid DESC`)
	if err != nil {
		return err
	}
	if err := t.exec(`PRAGMA defer_foreign_keys = ON`); err != nil {
		return err
	}
	for _, table := range tables {
		if err := t.exec(`DELETE FROM "` + table + `"`); err != nil {
			return err
		}
	}
	return nil
}
