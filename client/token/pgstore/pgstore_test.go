//go:build postgres

package pgstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/client/token/pgstore"
)

// The variables of a child process.
const (
	childDatabase = "PGSTORE_TEST_DATABASE"
	childKeys     = "PGSTORE_TEST_KEYS"
	childURL      = "PGSTORE_TEST_URL" // Of the token endpoint; empty for a child that takes the lock and waits.
)

func TestMain(m *testing.M) {
	if database := os.Getenv(childDatabase); database != "" {
		if err := child(database, os.Getenv(childKeys), os.Getenv(childURL)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child gets one access token, or takes the lock, says so, and waits to be killed.
func child(database, secrets, tokenURL string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	keys, err := pgstore.ParseKeys(secrets)
	if err != nil {
		return err
	}
	store, err := pgstore.New(pool, "a", keys)
	if err != nil {
		return err
	}
	if tokenURL == "" {
		if _, err := store.Lock(ctx); err != nil {
			return err
		}
		fmt.Println("locked")
		select {}
	}
	source, err := token.NewRefreshSource(token.RefreshConfig{TokenURL: tokenURL, ClientID: "app", Store: store})
	if err != nil {
		return err
	}
	access, err := source.TokenContext(ctx)
	if err = errors.Join(err, source.Close()); err == nil && !access.Valid() {
		err = errors.New("the token is not valid")
	}
	return err
}

// newDatabase returns the URL of an empty schema that has the table, and a pool of it.
func newDatabase(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()
	const variable = "SELLSIDE_TEST_DATABASE_URL"
	u, err := url.Parse(os.Getenv(variable))
	require.NoError(t, err)
	require.NotEmpty(t, u.Scheme, "%s names no server: use make test-postgres", variable)
	schema := "test_" + strings.ToLower(rand.Text())
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	pool, err := pgxpool.New(t.Context(), u.String())
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := pool.Exec(context.Background(), `DROP SCHEMA `+schema+` CASCADE`)
		assert.NoError(t, err)
		pool.Close()
	})
	_, err = pool.Exec(t.Context(), `CREATE SCHEMA `+schema)
	require.NoError(t, err)
	var created sync.WaitGroup
	for range 4 {
		created.Go(func() { assert.NoError(t, pgstore.CreateTable(t.Context(), pool)) })
	}
	created.Wait()
	return u.String(), pool
}

func newStore(t *testing.T, pool *pgxpool.Pool, account, secrets string) *pgstore.Store {
	t.Helper()
	s, err := pgstore.New(pool, account, parse(t, secrets))
	require.NoError(t, err)
	return s
}

func parse(t *testing.T, secrets string) pgstore.Keys {
	t.Helper()
	keys, err := pgstore.ParseKeys(secrets)
	require.NoError(t, err)
	return keys
}

var tokens = token.Tokens{
	RefreshToken: "the_refresh_token", AccessToken: "the_access_token", Expiry: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
}

// rawTokens returns what the database has of an account.
func rawTokens(t *testing.T, pool *pgxpool.Pool, account string) (sealed []byte) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT sealed FROM sellside_tokens WHERE account = $1`, account).Scan(&sealed))
	return sealed
}

func TestStore_LoadsWhatWasSaved(t *testing.T) {
	_, pool := newDatabase(t)
	key := newKey()
	s, other := newStore(t, pool, "a", key), newStore(t, pool, "b", key)
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, token.Tokens{}, got, "there are none yet")
	require.NoError(t, s.Save(t.Context(), tokens))
	first := rawTokens(t, pool, "a")
	assert.NotContains(t, string(first), "the_")
	require.NoError(t, s.Save(t.Context(), tokens))
	assert.NotEqual(t, first, rawTokens(t, pool, "a"), "each text has its own nonce")
	got, err = newStore(t, pool, "a", key).Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, tokens, got)
	got, err = other.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, token.Tokens{}, got, "accounts have their own")
	require.NoError(t, s.Remove(t.Context()))
	require.NoError(t, s.Remove(t.Context()), "twice is no error")
	got, err = s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, token.Tokens{}, got)
	for _, printed := range []string{fmt.Sprintf("%v %+v %#v", s, s, s)} {
		assert.NotContains(t, printed, key)
	}
}

func TestStore_RefusesWhatItsKeysDoNotDecrypt(t *testing.T) {
	_, pool := newDatabase(t)
	key := newKey()
	require.NoError(t, newStore(t, pool, "a", key).Save(t.Context(), tokens))
	sealed := rawTokens(t, pool, "a")
	write := func(body []byte) {
		_, err := pool.Exec(t.Context(), `INSERT INTO sellside_tokens VALUES ('b', $1)
			ON CONFLICT (account) DO UPDATE SET sealed = excluded.sealed`, body)
		require.NoError(t, err)
	}
	changed := append([]byte(nil), sealed...)
	changed[len(changed)-1] ^= 1
	for _, tc := range []struct {
		body []byte
		key  string
		why  string
	}{
		{sealed, newKey(), "another key"},
		{sealed, key, "the tokens of another account"},
		{changed, key, "changed text"},
		{sealed[:8], key, "the id of a key and no more"},
		{nil, key, "nothing"},
	} {
		write(append([]byte{}, tc.body...))
		_, err := newStore(t, pool, "b", tc.key).Load(t.Context())
		require.ErrorIs(t, err, pgstore.ErrKey, tc.why)
		for _, secret := range []string{"the_", key, tc.key, string(sealed)} {
			assert.NotContains(t, err.Error(), secret, tc.why)
		}
	}
}

func TestReencrypt_ReplacesTheKey(t *testing.T) {
	_, pool := newDatabase(t)
	before, after, lost := newKey(), newKey(), newKey()
	for _, account := range []string{"a", "b"} {
		require.NoError(t, newStore(t, pool, account, before).Save(t.Context(), tokens))
	}
	both := after + "," + before
	require.NoError(t, newStore(t, pool, "b", both).Save(t.Context(), tokens), "the first key encrypts")
	got, err := newStore(t, pool, "a", both).Load(t.Context())
	require.NoError(t, err, "the others decrypt")
	assert.Equal(t, tokens, got)

	n, err := pgstore.Reencrypt(t.Context(), pool, parse(t, both))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	for _, account := range []string{"a", "b"} {
		got, err := newStore(t, pool, account, after).Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, tokens, got)
		_, err = newStore(t, pool, account, before).Load(t.Context())
		require.ErrorIs(t, err, pgstore.ErrKey)
	}
	require.NoError(t, newStore(t, pool, "a2", lost).Save(t.Context(), tokens))
	n, err = pgstore.Reencrypt(t.Context(), pool, parse(t, newKey()+","+after))
	require.ErrorIs(t, err, pgstore.ErrKey)
	assert.Equal(t, 2, n, "one account does not keep the others")
}

func TestStore_LockIsExclusiveAndEndsWithCtx(t *testing.T) {
	_, pool := newDatabase(t)
	key := newKey()
	s, same, other := newStore(t, pool, "a", key), newStore(t, pool, "a", key), newStore(t, pool, "b", key)
	unlock, err := s.Lock(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = same.Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	unlockOther, err := other.Lock(t.Context())
	require.NoError(t, err, "accounts have their own locks")
	require.NoError(t, unlockOther())
	require.NoError(t, unlock())
	require.NoError(t, unlock(), "twice is once")
	unlock, err = same.Lock(t.Context())
	require.NoError(t, err)
	require.NoError(t, unlock())
}

// TestStore_NeedsOneConnection lets as many accounts as a pool has connections hold their locks.
func TestStore_NeedsOneConnection(t *testing.T) {
	database, _ := newDatabase(t)
	config, err := pgxpool.ParseConfig(database)
	require.NoError(t, err)
	config.MaxConns = 2
	small, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer small.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, account := range []string{"a", "b"} {
		s := newStore(t, small, account, newKey())
		unlock, err := s.Lock(ctx)
		require.NoError(t, err)
		defer func() { assert.NoError(t, unlock()) }()
		if account == "b" {
			require.NoError(t, s.Save(ctx, tokens))
			_, err = s.Load(ctx)
			require.NoError(t, err)
		}
	}
}

func TestStore_SavesWithoutItsLock(t *testing.T) {
	_, pool := newDatabase(t)
	s := newStore(t, pool, "a", newKey())
	unlock, err := s.Lock(t.Context())
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `SELECT pg_terminate_backend(l.pid) FROM pg_locks l
		JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND a.query LIKE '%sellside_tokens%' AND l.pid <> pg_backend_pid()`)
	require.NoError(t, err)
	require.NoError(t, s.Save(t.Context(), tokens), "the connection with the lock is lost, the token must not be")
	require.Error(t, unlock())
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, tokens, got)
}

func command(t *testing.T, database, secrets, tokenURL string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDatabase+"="+database, childKeys+"="+secrets, childURL+"="+tokenURL)
	return cmd
}

func TestStore_LockEndsWithItsProcess(t *testing.T) {
	database, pool := newDatabase(t)
	key := newKey()
	cmd := command(t, database, key, "")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 6)) // "locked"
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	unlock, err := newStore(t, pool, "a", key).Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, unlock())
}

// rotating is a token endpoint that revokes the sign-in if a refresh token comes twice.
type rotating struct {
	mu       sync.Mutex
	valid    string
	requests int
	life     int // Of access tokens, in seconds.
}

func (e *rotating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests++
	if r.FormValue("refresh_token") != e.valid {
		e.valid = ""
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	e.valid = fmt.Sprintf("refresh-%d", e.requests)
	_, _ = fmt.Fprintf(w, `{"access_token":"access-%d","refresh_token":%q,"expires_in":%d}`, e.requests, e.valid, e.life)
}

func TestStore_IsSharedByProcesses(t *testing.T) {
	for _, tc := range []struct {
		life, requests int
		why            string
	}{
		{3600, 1, "one process renews the token, and the others use it"},
		{20, 6, "each renews the token, with the refresh token of the one before"},
	} {
		database, pool := newDatabase(t)
		key := newKey()
		s := newStore(t, pool, "a", key)
		require.NoError(t, s.Save(t.Context(), token.Tokens{RefreshToken: "first"}))
		endpoint := &rotating{valid: "first", life: tc.life}
		srv := httptest.NewServer(endpoint)
		var children sync.WaitGroup
		for range 6 {
			children.Go(func() {
				out, err := command(t, database, key, srv.URL).CombinedOutput()
				assert.NoError(t, err, "%s: %s", tc.why, out)
			})
		}
		children.Wait()
		srv.Close()
		assert.Equal(t, tc.requests, endpoint.requests, tc.why)
		last, err := s.Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, endpoint.valid, last.RefreshToken, tc.why)
	}
}
