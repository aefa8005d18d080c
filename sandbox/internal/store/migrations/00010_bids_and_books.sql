-- +goose Up

-- A bid is open until it made an order, or until it was closed without one: it was withdrawn, or it
-- bought from the book.
ALTER TABLE bids ADD COLUMN closed_at INTEGER;
DROP INDEX bids_standing;
CREATE INDEX bids_open ON bids (variant_id, currency, amount) WHERE order_number IS NULL AND closed_at IS NULL;

-- Order books that differ from the generated ones: a test has arranged them, or they have traded.
-- Amounts are JSON arrays, the best one first.
CREATE TABLE books (
    variant_id TEXT    NOT NULL,
    currency   TEXT    NOT NULL,
    asks       TEXT    NOT NULL,
    bids       TEXT    NOT NULL,
    flex_ask   INTEGER NOT NULL,
    PRIMARY KEY (variant_id, currency)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE books;
DROP INDEX bids_open;
ALTER TABLE bids DROP COLUMN closed_at;
CREATE INDEX bids_standing ON bids (variant_id, currency, amount) WHERE order_number IS NULL;
