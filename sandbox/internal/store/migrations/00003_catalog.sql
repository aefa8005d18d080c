-- +goose Up

-- A proposal that is completed is a product of the catalog, which is made from the input and an id
-- that is reserved when the proposal is made.
CREATE TABLE proposals (
    seq          INTEGER PRIMARY KEY,
    ingestion_id TEXT    NOT NULL,
    account      INTEGER NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('In Review', 'Completed', 'Rejected')),
    due_at       INTEGER CHECK ((due_at IS NULL) = (status <> 'In Review')),
    product_id   TEXT    NOT NULL UNIQUE,
    input        TEXT    NOT NULL,
    reason       TEXT    CHECK ((reason IS NULL) = (status <> 'Rejected')),
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX proposals_by_ingestion ON proposals (ingestion_id);
CREATE INDEX proposals_due ON proposals (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX proposals_accepted ON proposals (seq) WHERE status = 'Completed';

-- The search index. Trigrams find pieces of text of three characters and more, spaces included.
CREATE VIRTUAL TABLE product_texts USING fts5 (words, product_id UNINDEXED, tokenize = 'trigram remove_diacritics 1');

-- +goose Down
DROP TABLE product_texts;
DROP TABLE proposals;
