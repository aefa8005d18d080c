-- +goose Up

-- What users have allowed clients, one row a sign-in. Codes are not stored: they last a minute.
CREATE TABLE grants (
    id            TEXT    PRIMARY KEY,
    account       TEXT    NOT NULL, -- its name
    client        TEXT    NOT NULL,
    audience      TEXT    NOT NULL,
    scope         TEXT    NOT NULL,
    refresh_token TEXT    UNIQUE,   -- the valid one; NULL if the client did not ask for one
    revoked       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE grants;
