package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// maxPrepared is how many statements a connection keeps. There are fewer than a
// hundred texts but for the lists of listings, whose texts depend on the filter.
const maxPrepared = 200

// connection is one connection to the database. It keeps the statements it has
// prepared across transactions, for preparing one takes longer than running it.
// That is why it begins and ends transactions by itself: those of database/sql
// prepare everything anew.
type connection struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt // by text
}

func (c *connection) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := c.prepared[query]; ok {
		return stmt, nil
	}
	if len(c.prepared) >= maxPrepared {
		if err := c.forget(); err != nil {
			return nil, err
		}
	}
	stmt, err := c.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %.60q: %w", query, err)
	}
	c.prepared[query] = stmt
	return stmt, nil
}

// forget closes all statements that were prepared.
func (c *connection) forget() error {
	var failed []error
	for _, stmt := range c.prepared {
		failed = append(failed, stmt.Close())
	}
	clear(c.prepared)
	return errors.Join(failed...)
}

// control runs a statement that begins or ends a transaction.
func (c *connection) control(statement string) error {
	if _, err := c.conn.ExecContext(context.Background(), statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// close closes the connection and what it prepared.
func (c *connection) close() error {
	return errors.Join(c.forget(), c.conn.Close())
}
