-- +goose Up

-- What a test wants to go wrong with operations and items, the oldest first. Without an error the
-- work is stuck.
CREATE TABLE failures (
    seq       INTEGER PRIMARY KEY,
    target    TEXT    NOT NULL, -- id of a listing or a variant; empty for any
    operation TEXT    NOT NULL, -- type of the operation; empty for any
    times     INTEGER NOT NULL CHECK (times > 0),
    error     TEXT
) STRICT;

-- +goose Down
DROP TABLE failures;
