package db_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/db/dbtest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		runChild(role)
	}
	goleak.VerifyTestMain(m)
}

// notes is a schema of the tests.
func notes(versions ...string) db.Migrations {
	files := fstest.MapFS{"00001_notes.sql": {Data: []byte(`-- +goose Up
CREATE TABLE notes (number BIGINT NOT NULL PRIMARY KEY, body TEXT);`)}}
	for i, sql := range versions {
		files[fmt.Sprintf("%05d_more.sql", i+2)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + sql)}
	}
	return db.Migrations{Name: "notes", Files: files}
}

func open(t *testing.T, database string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{Database: database, Migrations: []db.Migrations{notes()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// forEach runs a test on an empty database of each engine.
func forEach(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	for name, database := range dbtest.Databases(t) {
		t.Run(name, func(t *testing.T) { test(t, open(t, database)) })
	}
}

func addNote(ctx context.Context, tx db.Tx, number int) error {
	_, err := tx.Exec(ctx, `INSERT INTO notes (number) VALUES ($1)`, number)
	return err
}

// count returns the first column of the first row of a query.
func count(t *testing.T, d *db.DB, query string, args ...any) (n int64) {
	t.Helper()
	require.NoError(t, d.View(t.Context(), func(r db.Reader) error {
		_, err := db.Get(t.Context(), r, []any{&n}, query, args...)
		return err
	}))
	return n
}

func noteCount(t *testing.T, d *db.DB) int64 { return count(t, d, `SELECT count(*) FROM notes`) }

func jobCount(t *testing.T, d *db.DB) int64 { return count(t, d, `SELECT count(*) FROM river_job`) }

// accountArgs are the arguments of a job of the tests.
type accountArgs struct {
	Account string `json:"account"`
}

func (accountArgs) Kind() string { return "account" }

func TestTx_CommitsRowsAndJobsTogether(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		failed := errors.New("failed")
		write := func(number int, end func() error) error {
			return d.Tx(t.Context(), func(tx db.Tx) error {
				require.NoError(t, addNote(t.Context(), tx, number))
				require.NoError(t, tx.Insert(t.Context(), accountArgs{fmt.Sprint(number)}, nil))
				return end()
			})
		}
		require.ErrorIs(t, write(1, func() error { return failed }), failed)
		assert.Panics(t, func() { _ = write(2, func() error { panic("boom") }) })
		assert.Zero(t, noteCount(t, d))
		assert.Zero(t, jobCount(t, d))
		require.NoError(t, write(3, func() error { return nil }))
		assert.EqualValues(t, 1, noteCount(t, d))
		assert.EqualValues(t, 1, jobCount(t, d))
	})
}

func TestTx_FinishesOrRollsBackWhenItsContextEnds(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		err := d.Tx(ctx, func(tx db.Tx) error {
			require.NoError(t, addNote(ctx, tx, 1))
			cancel()
			return addNote(ctx, tx, 2)
		})
		want := int64(2)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			want = 0
		}
		assert.Equal(t, want, noteCount(t, d), "all or nothing, and the database is still there")
		require.ErrorIs(t, d.Tx(ctx, func(db.Tx) error { return nil }), context.Canceled)
	})
}

func TestTx_RepeatsStatements(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error {
			for i := range 300 {
				require.NoError(t, addNote(t.Context(), tx, i))
				_, err := tx.Exec(t.Context(), fmt.Sprintf(`UPDATE notes SET body = $1 WHERE number = %d`, i), "text")
				require.NoError(t, err, "more texts than statements that are kept prepared")
			}
			n, err := tx.Exec(t.Context(), `UPDATE notes SET body = $2 WHERE number < $1`, 10, "changed")
			assert.EqualValues(t, 10, n)
			return err
		}))
		assert.EqualValues(t, 290, count(t, d, `SELECT count(*) FROM notes WHERE body = $1`, "text"))
	})
}

func TestQuery_NumbersPlaceholders(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO notes (body, number) VALUES ($2, $1)`, 7, "seven")
			return err
		}))
		assert.EqualValues(t, 7, count(t, d,
			`SELECT number FROM notes WHERE body = $2 AND number = $1 AND number <= $1`, 7, "seven"))
	})
}

func TestGet_ReportsMissingRow(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, d.View(t.Context(), func(r db.Reader) error {
			var body *string
			found, err := db.Get(t.Context(), r, []any{&body}, `SELECT body FROM notes`)
			assert.False(t, found)
			return err
		}))
	})
}

func TestView_ReadsOneStateBesideAWriter(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			d := open(t, database)
			write := func(number int) {
				require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error { return addNote(t.Context(), tx, number) }))
			}
			write(1)
			require.NoError(t, d.View(t.Context(), func(r db.Reader) error {
				for i := range 3 {
					var n int
					_, err := db.Get(t.Context(), r, []any{&n}, `SELECT count(*) FROM notes`)
					require.NoError(t, err)
					assert.Equal(t, 1, n)
					write(10 + i)
				}
				return nil
			}))
			assert.EqualValues(t, 4, noteCount(t, d))
		})
	}
}

func TestView_CannotWrite(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			d := open(t, database)
			require.Error(t, d.View(t.Context(), func(r db.Reader) error {
				var n int
				_, err := db.Get(t.Context(), r, []any{&n}, `INSERT INTO notes (number) VALUES (1) RETURNING number`)
				return err
			}))
			assert.Zero(t, noteCount(t, d))
		})
	}
}

func TestOpen_MigratesOnce(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			schema := notes(`INSERT INTO notes (number) VALUES (1);`, `ALTER TABLE notes ADD COLUMN extra TEXT;`)
			var opened sync.WaitGroup
			for range 8 {
				opened.Go(func() {
					d, err := db.Open(t.Context(), db.Config{Database: database, Migrations: []db.Migrations{schema}})
					if assert.NoError(t, err) {
						assert.NoError(t, d.Close())
					}
				})
			}
			opened.Wait()
			_, err := db.Open(t.Context(), db.Config{Database: database, Migrations: []db.Migrations{notes()}})
			require.ErrorIs(t, err, db.ErrNewerSchema)
		})
	}
}

func TestOpen_CreatesPrivateFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "what? 50%", "ledger.db")
	_, err := db.Open(t.Context(), db.Config{Database: file})
	require.ErrorIs(t, err, fs.ErrNotExist, "no directory")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	d := open(t, file)
	require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error { return addNote(t.Context(), tx, 1) }))
	for _, name := range []string{file, file + "-wal"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestOpen_HidesPasswords(t *testing.T) {
	for _, database := range []string{
		"postgres://seller:s3cret@[bad", "postgres://seller:s3cret@127.0.0.1:1/ledger", "postgres://seller:s3cret@host:port/x",
	} {
		_, err := db.Open(t.Context(), db.Config{Database: database})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "s3cret")
	}
}

func TestFence_OnlyTheNewestIsValid(t *testing.T) {
	forEach(t, func(t *testing.T, d *db.DB) {
		next := func(account string) (fence int64) {
			require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) (err error) {
				fence, err = db.NextFence(t.Context(), tx, account)
				return err
			}))
			return fence
		}
		record := func(account string, fence int64) error {
			return d.Tx(t.Context(), func(tx db.Tx) error {
				return db.LockFence(t.Context(), tx, account, fence)
			})
		}
		require.ErrorIs(t, record("a", 0), db.ErrFenced, "no worker has taken the account")
		first, other := next("a"), next("b")
		require.NoError(t, record("a", first))
		require.NoError(t, d.CheckFence(t.Context(), "a", first))
		second := next("a")
		assert.Greater(t, second, first)
		require.ErrorIs(t, record("a", first), db.ErrFenced)
		require.ErrorIs(t, d.CheckFence(t.Context(), "a", first), db.ErrFenced)
		require.NoError(t, record("a", second))
		require.NoError(t, d.CheckFence(t.Context(), "a", second))
		require.NoError(t, record("b", other), "accounts have their own numbers")
	})
}
