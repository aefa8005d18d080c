// Package pgstore keeps the tokens of sign-ins in PostgreSQL, encrypted, for processes on any number
// of machines.
//
//	keys, err := pgstore.ParseKeys(os.Getenv("SELLSIDE_TOKEN_KEYS"))
//	err = pgstore.CreateTable(ctx, pool)
//	store, err := pgstore.New(pool, "first account", keys)
//
// The keys are in the environment of the processes and never in the database. To replace one, put the
// new one in front of it, restart all processes, call [Reencrypt], and remove the old one.
package pgstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// tableLock is the key of the advisory lock for the creation of the table.
const tableLock = 0x5e115704

// closeTimeout is how long a connection may take to release its lock or to close.
const closeTimeout = 5 * time.Second

// CreateTable creates the table sellside_tokens if it does not exist. Processes that call it at the
// same time do so one after the other.
func CreateTable(ctx context.Context, pool *pgxpool.Pool) error {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, tableLock); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS sellside_tokens (
			account TEXT NOT NULL PRIMARY KEY,
			sealed BYTEA NOT NULL -- The id of the key, the nonce, and the tokens as JSON in AES-GCM.
		)`)
		return err
	})
	if err != nil {
		return fmt.Errorf("create token table: %w", err)
	}
	return nil
}

// Store is a [token.Store] of one account. It is safe for concurrent use.
//
// The lock is an advisory lock of a connection: it ends when the process or its machine does, as soon
// as the server notices. It needs a connection that keeps its session, so that a pooler between must
// not share sessions by transaction. A process that is stopped keeps it.
type Store struct {
	pool    *pgxpool.Pool
	account string
	keys    Keys

	mu   sync.Mutex
	held *pgxpool.Conn // Has the lock; nil while this store does not.
}

// New returns the store of an account. It does no I/O. While it has the lock it uses one connection
// of the pool, and another one while it waits for the lock.
func New(pool *pgxpool.Pool, account string, keys Keys) (*Store, error) {
	if len(keys.all) == 0 {
		return nil, errors.New("token store: Keys is empty: use ParseKeys")
	}
	return &Store{pool: pool, account: account, keys: keys}, nil
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (s *Store) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "pgstore.Store of %q", s.account)
}

var _ token.Store = (*Store)(nil)

// lockName is the text whose hash is the key of the lock. Tables in several schemas of a database
// have their own locks.
const lockName = `hashtextextended('sellside_tokens'::regclass::oid || ' ' || $1, 0)`

// Lock implements [token.Store].
func (s *Store) Lock(ctx context.Context) (unlock func() error, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, s.failed("lock", err)
	}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(`+lockName+`)`, s.account); err != nil {
		s.drop(conn)
		return nil, s.failed("lock", err)
	}
	s.hold(conn)
	return sync.OnceValue(func() error {
		s.hold(nil)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock(`+lockName+`)`, s.account); err != nil {
			s.drop(conn)
			return s.failed("unlock", err)
		}
		conn.Release()
		return nil
	}), nil
}

// drop closes a connection, with which its lock ends, instead of returning it to the pool.
func (s *Store) drop(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Hijack().Close(ctx)
}

func (s *Store) hold(conn *pgxpool.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = conn
}

// do runs a statement on the connection that has the lock, so that a small pool suffices for many
// accounts. If there is none, or it is lost, any connection does: a token that is not saved is worse
// than a lock that is lost.
func (s *Store) do(f func(db querier) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		err := f(s.held)
		if err == nil || !s.held.Conn().IsClosed() {
			return err
		}
	}
	return f(s.pool)
}

// querier is a connection or a pool.
type querier interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// Load implements [token.Store]. Tokens of another key are [ErrKey].
func (s *Store) Load(ctx context.Context) (t token.Tokens, err error) {
	var sealed []byte
	err = s.do(func(db querier) error {
		return db.QueryRow(ctx, `SELECT sealed FROM sellside_tokens WHERE account = $1`, s.account).Scan(&sealed)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return token.Tokens{}, nil
	}
	if err != nil {
		return token.Tokens{}, s.failed("load", err)
	}
	text, _, err := s.keys.open(s.account, sealed)
	if err != nil {
		return token.Tokens{}, s.failed("load", err)
	}
	if json.Unmarshal(text, &t) != nil { // its error could quote a token
		return token.Tokens{}, s.failed("load", errors.New("not tokens: sign in again"))
	}
	return t, nil
}

// Save implements [token.Store].
func (s *Store) Save(ctx context.Context, t token.Tokens) error {
	text, err := json.Marshal(t)
	if err != nil {
		return s.failed("save", err)
	}
	sealed := s.keys.seal(s.account, text)
	err = s.do(func(db querier) error {
		_, err := db.Exec(ctx, `INSERT INTO sellside_tokens (account, sealed) VALUES ($1, $2)
			ON CONFLICT (account) DO UPDATE SET sealed = excluded.sealed`, s.account, sealed)
		return err
	})
	if err != nil {
		return s.failed("save", err)
	}
	return nil
}

// Remove deletes the tokens, as at the end of a sign-in. An account without tokens is no error.
func (s *Store) Remove(ctx context.Context) error {
	err := s.do(func(db querier) error {
		_, err := db.Exec(ctx, `DELETE FROM sellside_tokens WHERE account = $1`, s.account)
		return err
	})
	if err != nil {
		return s.failed("remove", err)
	}
	return nil
}

func (s *Store) failed(operation string, err error) error {
	return fmt.Errorf("token store: %s (account %q): %w", operation, s.account, err)
}

// Reencrypt encrypts all tokens with the first key that are encrypted with another one, and returns
// their number. Accounts may be in use. Tokens that no key decrypts stay as they are; then the error
// Is [ErrKey].
func Reencrypt(ctx context.Context, pool *pgxpool.Pool, keys Keys) (n int, err error) {
	if len(keys.all) == 0 {
		return 0, errors.New("reencrypt tokens: Keys is empty: use ParseKeys")
	}
	rows, err := pool.Query(ctx, `SELECT account FROM sellside_tokens ORDER BY account`)
	if err != nil {
		return 0, fmt.Errorf("reencrypt tokens: %w", err)
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("reencrypt tokens: %w", err)
	}
	var failed []error
	for _, account := range accounts {
		changed, err := reencrypt(ctx, pool, keys, account)
		if err != nil {
			failed = append(failed, fmt.Errorf("reencrypt tokens (account %q): %w", account, err))
		}
		if changed {
			n++
		}
	}
	return n, errors.Join(failed...)
}

// reencrypt locks the row and not the account: a refresh that runs saves its tokens after it.
func reencrypt(ctx context.Context, pool *pgxpool.Pool, keys Keys, account string) (changed bool, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var sealed []byte
		err := tx.QueryRow(ctx, `SELECT sealed FROM sellside_tokens WHERE account = $1 FOR UPDATE`, account).Scan(&sealed)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		text, isFirst, err := keys.open(account, sealed)
		if err != nil || isFirst {
			return err
		}
		changed = true
		_, err = tx.Exec(ctx, `UPDATE sellside_tokens SET sealed = $2 WHERE account = $1`, account, keys.seal(account, text))
		return err
	})
	return changed && err == nil, err
}
