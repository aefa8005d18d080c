-- +goose Up

-- Times are milliseconds since 1970 in UTC; amounts count the smallest unit of their currency. Rows
-- that the worker still has to process have a due_at: the tables are the queue. Rows of a seller
-- have an account; the first account of a sandbox is 1.

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
    -- Its items have consecutive numbers from first_item on: they are inserted in one transaction.
    first_item   INTEGER NOT NULL,
    total_items  INTEGER NOT NULL,
    -- How many of its items are in each status.
    queued       INTEGER NOT NULL CHECK (queued >= 0),
    in_progress  INTEGER NOT NULL CHECK (in_progress >= 0),
    completed    INTEGER NOT NULL CHECK (completed >= 0),
    failed       INTEGER NOT NULL CHECK (failed >= 0),
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    completed_at INTEGER,
    CHECK (queued + in_progress + completed + failed = total_items),
    CHECK ((completed_at IS NULL) = (queued + in_progress > 0))
) STRICT;

-- No query looks an item or an operation up by its id alone, so there is no index of their ids. They
-- are unique because they are made of numbers that never repeat.
CREATE TABLE batch_items (
    seq               INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL,
    batch             INTEGER NOT NULL REFERENCES batches (seq),
    status            TEXT    NOT NULL CHECK (status IN ('QUEUED', 'IN_PROGRESS', 'COMPLETED', 'FAILED')),
    due_at            INTEGER CHECK ((due_at IS NULL) = (status IN ('COMPLETED', 'FAILED'))),
    -- The input as it was sent; unknown ids in it become the error of the item.
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

CREATE INDEX batch_items_due ON batch_items (status, due_at) WHERE due_at IS NOT NULL;

-- Listings are never removed and created_at never falls from one to the next, so that a range of time
-- is a range of seq.
CREATE TABLE listings (
    seq            INTEGER PRIMARY KEY,
    id             TEXT    NOT NULL UNIQUE,
    account        INTEGER NOT NULL,
    status         TEXT    NOT NULL CHECK (status IN ('INACTIVE', 'ACTIVE', 'DELETED', 'CANCELED', 'MATCHED', 'COMPLETED')),
    -- Its expires_at has passed while it was neither sold nor active.
    expired        INTEGER NOT NULL CHECK (expired = 0 OR expired = 1 AND status IN ('INACTIVE', 'DELETED', 'CANCELED')),
    product_id     TEXT    NOT NULL,
    variant_id     TEXT    NOT NULL,
    amount         INTEGER NOT NULL CHECK (amount > 0),
    currency       TEXT    NOT NULL,
    inventory_type TEXT    NOT NULL CHECK (inventory_type IN ('STANDARD', 'DIRECT', 'FLEX', 'DFS')),
    expires_at     INTEGER NOT NULL,
    batch_id       TEXT,
    item_id        TEXT UNIQUE, -- an item makes one listing at most
    ask_id         TEXT,
    ask_created_at INTEGER,
    ask_updated_at INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    CHECK (status <> 'ACTIVE' OR ask_id IS NOT NULL)
) STRICT;

-- A list of listings is filtered and counted in one of these, and only the rows of the page are read
-- from the table.
CREATE INDEX listings_by_state ON listings (account, status, expired, inventory_type, seq);
CREATE INDEX listings_by_product ON listings (account, product_id, seq, status, expired, inventory_type);
CREATE INDEX listings_by_variant ON listings (account, variant_id, seq, status, expired, inventory_type);
CREATE INDEX listings_by_batch ON listings (account, batch_id, seq, status, expired, inventory_type) WHERE batch_id IS NOT NULL;
CREATE INDEX listings_asks ON listings (variant_id, currency, amount) WHERE status = 'ACTIVE';
CREATE INDEX listings_expiry ON listings (expires_at) WHERE expired = 0 AND status NOT IN ('MATCHED', 'COMPLETED');

-- The number of listings of a kind in a block, which has those with the same seq / block_size. Pages
-- are found by counting blocks instead of listings.
CREATE TABLE listing_blocks (
    account        INTEGER NOT NULL,
    block_size     INTEGER NOT NULL,
    block          INTEGER NOT NULL,
    status         TEXT    NOT NULL,
    expired        INTEGER NOT NULL,
    inventory_type TEXT    NOT NULL,
    n              INTEGER NOT NULL CHECK (n >= 0),
    PRIMARY KEY (account, block_size, block, status, expired, inventory_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL,
    listing_id    TEXT    NOT NULL REFERENCES listings (id),
    type          TEXT    NOT NULL,
    status        TEXT    NOT NULL CHECK (status IN ('PENDING', 'SUCCEEDED', 'FAILED')),
    initiated_by  TEXT    NOT NULL,
    initiated_via TEXT    NOT NULL,
    due_at        INTEGER CHECK ((due_at IS NULL) = (status <> 'PENDING')),
    -- What the operation sets; NULL sets nothing. An amount has a currency.
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
DROP TABLE listing_blocks;
DROP TABLE listings;
DROP TABLE batch_items;
DROP TABLE batches;
DROP TABLE counters;
