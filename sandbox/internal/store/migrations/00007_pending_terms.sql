-- +goose Up

-- The last pending operation of a listing that sets an amount, and the last that sets an expiry,
-- are found without reading the others.
CREATE INDEX operations_pending_amount ON operations (listing_id, due_at)
    WHERE due_at IS NOT NULL AND amount IS NOT NULL;
CREATE INDEX operations_pending_expiry ON operations (listing_id, due_at)
    WHERE due_at IS NOT NULL AND expires_at IS NOT NULL;

-- +goose Down
DROP INDEX operations_pending_expiry;
DROP INDEX operations_pending_amount;
