package db_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
)

// childRole is the environment variable that makes the test binary a process of a test: its value is
// a role and a database, with a space between.
const childRole = "SELLSIDE_TEST_CHILD"

const (
	jobsOfChildren = 120
	jobsUntilKill  = 20 // of each of 5 children
)

// runChild does what a role asks, until the process is killed or its standard input ends.
func runChild(value string) {
	role, database, _ := strings.Cut(value, " ")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	d, err := db.Open(context.Background(), db.Config{Database: database, Migrations: []db.Migrations{notes()}})
	if err == nil {
		switch role {
		case "transaction":
			err = d.Tx(context.Background(), waitInTransaction)
		case "work":
			err = workInChild(d, jobsUntilKill)
		case "lease":
			err = holdLease(d)
		case "finish":
			err = workInChild(d, jobsOfChildren)
		}
	}
	fmt.Println("failed:", err)
	os.Exit(1)
}

func waitInTransaction(tx db.Tx) error {
	for i := range 1000 {
		if err := addNote(context.Background(), tx, i); err != nil {
			return err
		}
	}
	if err := tx.Insert(context.Background(), accountArgs{"a"}, nil); err != nil {
		return err
	}
	fmt.Println("written")
	select {}
}

// leaseTerm is the term of leases in the tests.
const leaseTerm = 6 * time.Second

func holdLease(d *db.DB) error {
	l, err := d.AcquireLease(context.Background(), db.LeaseConfig{Account: "a", Term: leaseTerm})
	if err != nil {
		return err
	}
	fmt.Println("fence", l.Fence())
	select {}
}

// workInChild works n jobs that write one note each, prints their numbers, and stays in the next one.
func workInChild(d *db.DB, n int) error {
	start := time.Now()
	first := true
	done := 0
	config := newWork(10*time.Millisecond, func(ctx context.Context, job *river.Job[accountArgs]) error {
		if first {
			first = false
			fmt.Println("resumed", time.Since(start).Microseconds(), job.Attempt)
		}
		err := d.Tx(ctx, func(tx db.Tx) error {
			n, err := tx.Exec(ctx, `INSERT INTO notes (number) VALUES ($1) ON CONFLICT DO NOTHING`, job.Args.Account)
			if err == nil && n == 1 {
				_, err = tx.Exec(ctx, `UPDATE notes SET body = 'once' WHERE number = $1 AND body IS NULL`, job.Args.Account)
			}
			return err
		})
		if err != nil {
			return err
		}
		if done++; done > n {
			select {} // the process is killed here, however long that takes
		}
		fmt.Println("note", job.Args.Account)
		return nil
	})
	config.Queues[river.QueueDefault] = 1
	if _, err := d.Work(context.Background(), config); err != nil {
		return err
	}
	select {}
}

// child is a process of a test.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, role, database string) *child {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role+" "+database)
	cmd.Stderr = os.Stderr
	_, err := cmd.StdinPipe() // ends with this process
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{cmd, bufio.NewScanner(out)}
	t.Cleanup(c.kill)
	return c
}

// kill kills the process as kill -9 does.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

func (c *child) expect(t *testing.T, prefix string) string {
	t.Helper()
	for c.lines.Scan() {
		if rest, ok := strings.CutPrefix(c.lines.Text(), prefix); ok {
			return rest
		}
		require.NotContains(t, c.lines.Text(), "failed")
	}
	require.Fail(t, "the process ended", prefix)
	return ""
}

func TestTx_IsUndoneByKill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	d := open(t, file)
	require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error { return addNote(t.Context(), tx, -1) }))
	c := startChild(t, "transaction", file)
	c.expect(t, "written")
	assert.EqualValues(t, 1, noteCount(t, d), "before the kill")
	c.kill()
	require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error { return addNote(t.Context(), tx, -2) }),
		"the lock of a killed process is released")
	assert.EqualValues(t, 2, noteCount(t, d))
	assert.Zero(t, jobCount(t, d))
}

func TestWork_ResumesAfterKills(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	d := open(t, file)
	require.NoError(t, d.Tx(t.Context(), func(tx db.Tx) error {
		for i := range jobsOfChildren {
			if err := tx.Insert(t.Context(), accountArgs{fmt.Sprint(i)}, nil); err != nil {
				return err
			}
		}
		return nil
	}))
	for kills := range 5 {
		c := startChild(t, "work", file)
		var micros, attempt int
		_, err := fmt.Sscan(c.expect(t, "resumed "), &micros, &attempt)
		require.NoError(t, err)
		t.Logf("resumed after %d µs, %d kills before", micros, kills)
		assert.Less(t, micros, int(10*time.Second/time.Microsecond),
			"before the leadership of the killed worker has run out")
		assert.Equal(t, 1, attempt, "a kill takes no attempt from a job")
		for range jobsUntilKill {
			c.expect(t, "note ")
		}
		_, err = d.Work(t.Context(), newWork(0, func(context.Context, *river.Job[accountArgs]) error { return nil }))
		require.ErrorIs(t, err, db.ErrWorking)
		c.kill()
	}
	c := startChild(t, "finish", file)
	for count(t, d, `SELECT count(*) FROM notes`) < jobsOfChildren {
		c.expect(t, "note ")
	}
	c.kill()
	assert.EqualValues(t, jobsOfChildren, count(t, d, `SELECT count(*) FROM notes WHERE body = 'once'`))
}
