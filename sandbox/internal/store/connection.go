package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
)

// pool lends connections of one kind. Who waits for one is served in turn.
type pool struct {
	db     *sql.DB
	idle   chan *connection
	closed chan struct{}
}

// openPool opens n connections to a database that prepare has made ready.
func openPool(ctx context.Context, path string, n int, settings url.Values, prepare func(context.Context, *sql.DB) error) (*pool, error) {
	settings.Set("_busy_timeout", "5000")
	name := ":memory:"
	if path != "" {
		name = "file:" + (&url.URL{Path: path}).EscapedPath()
	}
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

// lend waits for a connection. It has to be given back.
func (p *pool) lend(ctx context.Context) (*connection, error) {
	select {
	case c := <-p.idle:
		return c, nil
	case <-p.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// giveBack takes back a connection that was lent.
func (p *pool) giveBack(c *connection) { p.idle <- c }

// close closes all connections as soon as they are given back, and returns when
// that is done. It must be called once.
func (p *pool) close() error {
	close(p.closed)
	var failed []error
	for range p.db.Stats().InUse {
		failed = append(failed, (<-p.idle).close())
	}
	return errors.Join(append(failed, p.db.Close())...)
}

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
