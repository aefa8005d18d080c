-- +goose Up

-- Both engines run this file. Times are milliseconds since 1970 in UTC, 0 for none; flags are 0 or 1.
-- Every table has the account first, so that one database can serve many.

CREATE TABLE accounts (
    account    TEXT   NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL, -- Of the newest plan.
    run        BIGINT NOT NULL, -- The run that may submit what that plan owes; 0 if there is none.
    last_run   BIGINT NOT NULL
);

-- What the seller wants, and what the last decision made of it.
CREATE TABLE desired (
    account         TEXT   NOT NULL,
    sku             TEXT   NOT NULL,
    line            BIGINT NOT NULL,
    generation      BIGINT NOT NULL, -- Of the newest plan that has the row.
    body            TEXT   NOT NULL, -- The row as JSON.
    item            TEXT   NOT NULL, -- The key of its look-up; '' if the row has a variant.
    variant         TEXT   NOT NULL, -- '' until it is looked up.
    product         TEXT   NOT NULL,
    counts          TEXT   NOT NULL, -- The counts of the SKU as JSON, see decide.Observe.
    counted_at      BIGINT NOT NULL,
    before          TEXT   NOT NULL, -- The count before as JSON; '' if there is none.
    dirty           BIGINT NOT NULL, -- Its decision has to be made again.
    due_at          BIGINT NOT NULL, -- When it has to be made again whatever happens.
    class           TEXT   NOT NULL, -- Of the decision; '' before the first.
    detail          TEXT   NOT NULL, -- Why, for people.
    lookup          BIGINT NOT NULL DEFAULT 0, -- The decision waits for its item to be looked up.
    creates         BIGINT NOT NULL, -- Listings that are owed.
    updates         BIGINT NOT NULL,
    deletes         BIGINT NOT NULL,
    failure         TEXT   NOT NULL, -- Why the service refused the last write; '' if it did not.
    refusals        TEXT   NOT NULL, -- The writes that it refused as JSON.
    failed_at       BIGINT NOT NULL,
    PRIMARY KEY (account, sku)
);
CREATE INDEX desired_dirty ON desired (account, sku) WHERE dirty = 1;
CREATE INDEX desired_due ON desired (account, due_at) WHERE due_at > 0;
CREATE INDEX desired_class ON desired (account, class, line);
CREATE INDEX desired_item ON desired (account, item) WHERE item <> '';
CREATE INDEX desired_lookup ON desired (account, line) WHERE lookup = 1;
CREATE INDEX desired_variant ON desired (account, variant) WHERE creates > 0;
CREATE INDEX desired_product ON desired (account, product) WHERE product <> '';

CREATE TABLE listings (
    account    TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    sku        TEXT   NOT NULL, -- '' if it is foreign.
    submission TEXT   NOT NULL, -- That made it; '' if it was adopted or is foreign.
    batch      TEXT   NOT NULL,
    variant    TEXT   NOT NULL,
    product    TEXT   NOT NULL,
    presence   TEXT   NOT NULL,
    active     BIGINT NOT NULL,
    amount     TEXT   NOT NULL,
    currency   TEXT   NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    sold_at    BIGINT NOT NULL,
    unpaid     BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL, -- When its order ended without a payout.
    changed    TEXT   NOT NULL, -- The times of its last price changes as JSON.
    read_at    BIGINT NOT NULL,
    reading    BIGINT NOT NULL, -- The last reading of all pages that showed it.
    wanted     BIGINT NOT NULL, -- 1 if it has to be read; 2 by its id, because a list did not show it.
    adopted    BIGINT NOT NULL, -- The plan that matched it to its row and was not applied; 0 if none.
    PRIMARY KEY (account, id)
);
CREATE INDEX listings_sku ON listings (account, sku) WHERE sku <> '';
CREATE INDEX listings_wanted ON listings (account, id) WHERE wanted > 0;
CREATE INDEX listings_created ON listings (account, created_at);
CREATE INDEX listings_variant ON listings (account, variant);
CREATE INDEX listings_adopted ON listings (account, sku) WHERE adopted > 0;

-- Work that is owed and can be submitted.
CREATE TABLE owed (
    account  TEXT   NOT NULL,
    kind     TEXT   NOT NULL,
    rank     BIGINT NOT NULL, -- The lowest first.
    line     BIGINT NOT NULL,
    sku      TEXT   NOT NULL,
    listing  TEXT   NOT NULL, -- '' for creates.
    quantity BIGINT NOT NULL,
    body     TEXT   NOT NULL, -- What to send as JSON.
    PRIMARY KEY (account, sku, kind, listing)
);
CREATE INDEX owed_next ON owed (account, kind, rank, line);

CREATE TABLE submissions (
    account    TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    run        BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    fence      BIGINT NOT NULL,
    body       TEXT   NOT NULL, -- What is sent as JSON.
    made_at    BIGINT NOT NULL,
    not_after  BIGINT NOT NULL, -- Not sent later than this.
    batch      TEXT   NOT NULL, -- '' until it is known.
    state      TEXT   NOT NULL,
    looks      BIGINT NOT NULL, -- Polls, or looks of the recovery.
    looked_at  BIGINT NOT NULL,
    took       BIGINT NOT NULL, -- How long the service took for the batch, in ms; 0 if not known.
    next_at    BIGINT NOT NULL, -- When it is looked at next.
    note       TEXT   NOT NULL,
    PRIMARY KEY (account, id)
);
CREATE INDEX submissions_open ON submissions (account, state, next_at) WHERE state IN ('recorded', 'submitted');
CREATE INDEX submissions_generation ON submissions (account, generation, kind);
CREATE INDEX submissions_made ON submissions (account, made_at);
CREATE INDEX submissions_batch ON submissions (account, batch);

CREATE TABLE items (
    account    TEXT   NOT NULL,
    submission TEXT   NOT NULL,
    seq        BIGINT NOT NULL,
    run        BIGINT NOT NULL,
    kind       TEXT   NOT NULL,
    sku        TEXT   NOT NULL,
    listing    TEXT   NOT NULL, -- '' for creates.
    quantity   BIGINT NOT NULL,
    made       BIGINT NOT NULL,
    failed     BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    error      TEXT   NOT NULL,
    ended_at   BIGINT NOT NULL,
    PRIMARY KEY (account, submission, seq)
);
CREATE INDEX items_open ON items (account, sku) WHERE state IN ('open', 'stuck');
CREATE INDEX items_run ON items (account, run, state);

CREATE TABLE runs (
    account    TEXT   NOT NULL,
    id         BIGINT NOT NULL,
    command    TEXT   NOT NULL,
    source     TEXT   NOT NULL,
    generation BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    note       TEXT   NOT NULL,
    PRIMARY KEY (account, id)
);

CREATE TABLE sales (
    account TEXT   NOT NULL,
    number  TEXT   NOT NULL,
    listing TEXT   NOT NULL,
    sold_at BIGINT NOT NULL,
    status  TEXT   NOT NULL,
    PRIMARY KEY (account, number)
);
CREATE INDEX sales_listing ON sales (account, listing);

-- What the service said about products.
CREATE TABLE lookups (
    account TEXT   NOT NULL,
    item    TEXT   NOT NULL,
    body    TEXT   NOT NULL,
    read_at BIGINT NOT NULL,
    PRIMARY KEY (account, item)
);

-- The products whose market rows with a rule need.
CREATE TABLE market (
    account  TEXT   NOT NULL,
    product  TEXT   NOT NULL,
    currency TEXT   NOT NULL,
    read_at  BIGINT NOT NULL, -- 0 if it was not read.
    PRIMARY KEY (account, product, currency)
);
CREATE INDEX market_oldest ON market (account, read_at);

CREATE TABLE prices (
    account     TEXT   NOT NULL,
    variant     TEXT   NOT NULL,
    currency    TEXT   NOT NULL,
    lowest_ask  TEXT   NOT NULL,
    highest_bid TEXT   NOT NULL,
    read_at     BIGINT NOT NULL,
    PRIMARY KEY (account, variant, currency)
);

CREATE TABLE marks (
    account TEXT NOT NULL,
    name    TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (account, name)
);

-- +goose Down
DROP TABLE marks; DROP TABLE prices; DROP TABLE market; DROP TABLE lookups; DROP TABLE sales; DROP TABLE runs;
DROP TABLE items; DROP TABLE submissions; DROP TABLE owed; DROP TABLE listings;
DROP TABLE desired; DROP TABLE accounts;
