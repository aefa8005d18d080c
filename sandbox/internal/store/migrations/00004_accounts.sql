-- +goose Up

-- Credentials are in plain text: those of a sandbox are made up, and with access to the file one has
-- access to all the rest.
CREATE TABLE accounts (
    seq                 INTEGER PRIMARY KEY, -- the account column of other tables
    name                TEXT    NOT NULL UNIQUE,
    api_key             TEXT    NOT NULL,
    token               TEXT    NOT NULL,
    refresh_token       TEXT    NOT NULL, -- the valid one
    first_refresh_token TEXT    NOT NULL  -- the one before any rotation; a start that chooses another replaces both
) STRICT;

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE secrets;
DROP TABLE accounts;
