-- +goose Up

-- The last pending operation of a listing that sets whether it is active is found without reading
-- the others.
CREATE INDEX operations_pending_switch ON operations (listing_id, due_at)
    WHERE due_at IS NOT NULL AND active IS NOT NULL;

-- +goose Down
DROP INDEX operations_pending_switch;
