-- +goose Up
ALTER TABLE fences ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0; -- microseconds; 0 for a lease that was released

-- +goose Down
ALTER TABLE fences DROP COLUMN expires_at;
