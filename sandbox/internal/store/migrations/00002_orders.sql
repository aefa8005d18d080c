-- +goose Up

CREATE TABLE orders (
    seq             INTEGER PRIMARY KEY,
    number          TEXT    NOT NULL UNIQUE,
    account         INTEGER NOT NULL,
    status          TEXT    NOT NULL,
    listing_id      TEXT    NOT NULL UNIQUE REFERENCES listings (id),
    ask_id          TEXT    NOT NULL,
    product_id      TEXT    NOT NULL,
    variant_id      TEXT    NOT NULL,
    amount          INTEGER NOT NULL,
    currency        TEXT    NOT NULL,
    inventory_type  TEXT    NOT NULL,
    ship_by         INTEGER NOT NULL,
    carrier         TEXT    NOT NULL,
    tracking_number TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX orders_by_status ON orders (account, status, created_at);

-- +goose Down
DROP TABLE orders;
