package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
)

// pool is a fixed number of connections. Callers get them in the order in which they ask.
type pool struct {
	db     *sql.DB
	idle   chan *connection
	closed chan struct{}
}

// openPool opens n connections to a database, by its name for SQLite, after prepare has run on it.
func openPool(
	ctx context.Context, name string, n int, settings url.Values,
	prepare func(context.Context, *sql.DB) error,
) (*pool, error) {
	settings.Set("_busy_timeout", "5000")
	db, err := sql.Open("sqlite", name+"?"+settings.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	p := &pool{db: db, idle: make(chan *connection, n), closed: make(chan struct{})}
	if err := prepare(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for range n {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.idle <- &connection{conn: conn, prepared: map[string]*sql.Stmt{}}
	}
	return p, nil
}

// acquire waits for a connection. The caller must release it.
func (p *pool) acquire(ctx context.Context) (*connection, error) {
	select {
	case c := <-p.idle:
		return c, nil
	case <-p.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pool) release(c *connection) { p.idle <- c }

// close waits for all connections to be released, and closes them. It must be called once.
func (p *pool) close() error {
	close(p.closed)
	var failed []error
	for range p.db.Stats().InUse {
		failed = append(failed, (<-p.idle).close())
	}
	return errors.Join(append(failed, p.db.Close())...)
}

// maxPrepared is the most statements that a connection keeps prepared. There are fewer than a
// hundred texts, except for the lists of listings, whose texts depend on the filter.
const maxPrepared = 200

// connection is one connection to the database. It keeps prepared statements across transactions,
// since preparing one takes longer than running it. It begins and ends transactions itself, because
// those of database/sql prepare every statement again.
type connection struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt // by text
}

func (c *connection) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := c.prepared[query]; ok {
		return stmt, nil
	}
	if len(c.prepared) >= maxPrepared {
		if err := c.closeStatements(); err != nil {
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

func (c *connection) closeStatements() error {
	var failed []error
	for _, stmt := range c.prepared {
		failed = append(failed, stmt.Close())
	}
	clear(c.prepared)
	return errors.Join(failed...)
}

// control runs a statement that begins or ends a transaction or a savepoint.
func (c *connection) control(statement string) error {
	if _, err := c.conn.ExecContext(context.Background(), statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func (c *connection) close() error {
	return errors.Join(c.closeStatements(), c.conn.Close())
}
