-- +goose Up

-- All times are milliseconds since 1970 in UTC; all amounts count the smallest
-- unit of their currency. Rows that are still to be worked have a due_at: the
-- tables are the queue. What belongs to a seller has an account; the first
-- account of a sandbox is 1.

CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE batches (
    seq          INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    account      INTEGER NOT NULL,
    kind         TEXT    NOT NULL CHECK (kind IN ('CREATE', 'UPDATE', 'DELETE')),
    status       TEXT    NOT NULL CHECK (status IN ('QUEUED', 'IN_PROGRESS', 'COMPLETED')),
    total_items  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    completed_at INTEGER
) STRICT;

CREATE TABLE batch_items (
    seq               INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    batch             INTEGER NOT NULL REFERENCES batches (seq),
    status            TEXT    NOT NULL CHECK (status IN ('QUEUED', 'IN_PROGRESS', 'COMPLETED', 'FAILED')),
    due_at            INTEGER CHECK ((due_at IS NULL) = (status IN ('COMPLETED', 'FAILED'))),
    -- The input as it was sent; what is unknown here becomes the item's error.
    variant_id        TEXT,
    listing_id        TEXT,
    amount            TEXT,
    currency          TEXT,
    inventory_type    TEXT,
    expires_at        INTEGER,
    active            INTEGER,
    result_listing_id TEXT,
    result_ask_id     TEXT,
    error             TEXT
) STRICT;

CREATE INDEX batch_items_by_batch ON batch_items (batch, status);
CREATE INDEX batch_items_due ON batch_items (status, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE listings (
    seq            INTEGER PRIMARY KEY,
    id             TEXT    NOT NULL UNIQUE,
    account        INTEGER NOT NULL,
    status         TEXT    NOT NULL CHECK (status IN ('INACTIVE', 'ACTIVE', 'DELETED', 'CANCELED', 'MATCHED', 'COMPLETED')),
    product_id     TEXT    NOT NULL,
    variant_id     TEXT    NOT NULL,
    amount         INTEGER NOT NULL CHECK (amount > 0),
    currency       TEXT    NOT NULL,
    inventory_type TEXT    NOT NULL,
    expires_at     INTEGER NOT NULL,
    batch_id       TEXT,
    item_id        TEXT UNIQUE, -- an item makes one listing, whatever happens
    ask_id         TEXT,
    ask_created_at INTEGER,
    ask_updated_at INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    CHECK (status <> 'ACTIVE' OR ask_id IS NOT NULL)
) STRICT;

CREATE INDEX listings_by_batch ON listings (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX listings_asks ON listings (variant_id, currency, amount) WHERE status = 'ACTIVE';
CREATE INDEX listings_expiry ON listings (expires_at) WHERE status = 'ACTIVE';

CREATE TABLE operations (
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    listing_id    TEXT    NOT NULL REFERENCES listings (id),
    type          TEXT    NOT NULL,
    status        TEXT    NOT NULL CHECK (status IN ('PENDING', 'SUCCEEDED', 'FAILED')),
    initiated_by  TEXT    NOT NULL,
    initiated_via TEXT    NOT NULL,
    due_at        INTEGER CHECK ((due_at IS NULL) = (status <> 'PENDING')),
    -- What the operation sets; NULL stays as it is. An amount has its currency.
    active        INTEGER,
    amount        INTEGER,
    currency      TEXT,
    expires_at    INTEGER,
    error         TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX operations_by_listing ON operations (listing_id, seq);
CREATE INDEX operations_due ON operations (due_at) WHERE due_at IS NOT NULL;

-- +goose Down
DROP TABLE operations;
DROP TABLE listings;
DROP TABLE batch_items;
DROP TABLE batches;
DROP TABLE counters;
