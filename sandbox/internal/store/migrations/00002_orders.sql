-- +goose Up

CREATE TABLE orders (
    seq             INTEGER PRIMARY KEY,
    number          TEXT    NOT NULL UNIQUE,
    account         INTEGER NOT NULL,
    status          TEXT    NOT NULL,
    due_at          INTEGER, -- when it moves by itself; NULL if it does not
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
    shipping_id     TEXT    NOT NULL UNIQUE,
    inbound_id      TEXT, -- display id of the inbound shipment of a direct order
    shipped_at      INTEGER,
    authentication  TEXT, -- the result of the check, NULL before it
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

-- A list of orders is filtered, counted and sorted in one of these, and only the rows of the page are
-- read from the table.
CREATE INDEX orders_by_state ON orders (account, status, seq, created_at, inventory_type, ship_by);
CREATE INDEX orders_by_shipment ON orders (inbound_id, account, status, seq) WHERE inbound_id IS NOT NULL;
CREATE INDEX orders_due ON orders (due_at) WHERE due_at IS NOT NULL;

-- Bids of buyers. A bid is open until it made an order.
CREATE TABLE bids (
    seq          INTEGER PRIMARY KEY,
    variant_id   TEXT    NOT NULL,
    currency     TEXT    NOT NULL,
    amount       INTEGER NOT NULL CHECK (amount > 0),
    order_number TEXT UNIQUE REFERENCES orders (number),
    created_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX bids_standing ON bids (variant_id, currency, amount) WHERE order_number IS NULL;

-- +goose Down
DROP TABLE bids;
DROP TABLE orders;
