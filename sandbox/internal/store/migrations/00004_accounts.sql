-- +goose Up

-- The credentials stand here as they are sent: those of a sandbox are made up,
-- and whoever can read the file can read all the rest.
CREATE TABLE accounts (
    seq                 INTEGER PRIMARY KEY, -- the account of other tables
    name                TEXT    NOT NULL UNIQUE,
    api_key             TEXT    NOT NULL,
    token               TEXT    NOT NULL,
    refresh_token       TEXT    NOT NULL, -- the one that is valid now
    first_refresh_token TEXT    NOT NULL  -- the one it began with; a start that names another begins anew
) STRICT;

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE secrets;
DROP TABLE accounts;
