-- +goose Up
CREATE TABLE fences (
    account TEXT NOT NULL PRIMARY KEY,
    fence   BIGINT NOT NULL -- how many workers have taken the account
);

-- +goose Down
DROP TABLE fences;
