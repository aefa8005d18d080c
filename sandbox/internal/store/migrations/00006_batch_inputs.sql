-- +goose Up

-- The input of an element of a batch, as it was sent; unknown ids in it become the errors of its
-- items. An element makes up to 10,000 items, so the input has a row of its own.
CREATE TABLE batch_inputs (
    seq            INTEGER PRIMARY KEY,
    variant_id     TEXT,
    listing_id     TEXT,
    amount         TEXT,
    currency       TEXT,
    inventory_type TEXT,
    expires_at     INTEGER,
    active         INTEGER
) STRICT;

-- Each item had its input before. What an element was is not known, so each item keeps one.
INSERT INTO batch_inputs (seq, variant_id, listing_id, amount, currency, inventory_type, expires_at, active)
SELECT seq, variant_id, listing_id, amount, currency, inventory_type, expires_at, active FROM batch_items;

CREATE TABLE batch_items_new (
    seq               INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL,
    batch             INTEGER NOT NULL REFERENCES batches (seq),
    status            TEXT    NOT NULL CHECK (status IN ('QUEUED', 'IN_PROGRESS', 'COMPLETED', 'FAILED')),
    due_at            INTEGER CHECK ((due_at IS NULL) = (status IN ('COMPLETED', 'FAILED'))),
    input             INTEGER NOT NULL REFERENCES batch_inputs (seq),
    result_listing_id TEXT,
    result_ask_id     TEXT,
    error             TEXT
) STRICT;

INSERT INTO batch_items_new (seq, id, batch, status, due_at, input, result_listing_id, result_ask_id, error)
SELECT seq, id, batch, status, due_at, seq, result_listing_id, result_ask_id, error FROM batch_items;

DROP TABLE batch_items;
ALTER TABLE batch_items_new RENAME TO batch_items;
CREATE INDEX batch_items_due ON batch_items (status, due_at) WHERE due_at IS NOT NULL;

-- +goose Down
