-- +goose Up

-- The triggers that hold each status to its table of states had other names before.
DROP TRIGGER IF EXISTS guard_batches;
DROP TRIGGER IF EXISTS guard_batch_items;
DROP TRIGGER IF EXISTS guard_listings;
DROP TRIGGER IF EXISTS guard_operations;
DROP TRIGGER IF EXISTS guard_orders;

-- +goose Down
