-- +goose Up
-- Times are nanoseconds since 1970.
CREATE TABLE quota_accounts (
    account       TEXT   NOT NULL PRIMARY KEY,
    last_call     BIGINT NOT NULL, -- number of the newest call
    last_charge   BIGINT NOT NULL, -- number of the newest charge
    requests      BIGINT NOT NULL, -- sum of all charges ever
    items         BIGINT NOT NULL,
    released_at   BIGINT NOT NULL, -- of the newest charge
    cooldown_until BIGINT NOT NULL
);

-- Calls that wait for a place or have one.
CREATE TABLE quota_calls (
    account    TEXT   NOT NULL,
    number     BIGINT NOT NULL, -- in order of arrival
    owner      TEXT   NOT NULL, -- the limiter that made it
    requests   BIGINT NOT NULL,
    items      BIGINT NOT NULL,
    waiting    BIGINT NOT NULL, -- 1 while it waits, 0 while its place is in use
    expires_at BIGINT NOT NULL, -- from then on its owner is taken for dead
    PRIMARY KEY (account, number)
);

-- Places that were released, as long as a window counts them. The sums run over all charges before
-- and include this one, so that the sum of a span is the difference of two.
CREATE TABLE quota_charges (
    account        TEXT   NOT NULL,
    number         BIGINT NOT NULL,
    released_at    BIGINT NOT NULL,
    requests       BIGINT NOT NULL,
    items          BIGINT NOT NULL,
    requests_total BIGINT NOT NULL,
    items_total    BIGINT NOT NULL,
    PRIMARY KEY (account, number)
);
CREATE INDEX quota_charges_released ON quota_charges (account, released_at, number);
CREATE INDEX quota_charges_requests ON quota_charges (account, requests_total, number);
CREATE INDEX quota_charges_items ON quota_charges (account, items_total, number);

-- +goose Down
DROP TABLE quota_charges;
DROP TABLE quota_calls;
DROP TABLE quota_accounts;
