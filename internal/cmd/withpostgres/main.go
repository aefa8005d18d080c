// Command withpostgres runs a command with a PostgreSQL server for its tests, whose URL is in the
// environment variable SELLSIDE_TEST_DATABASE_URL:
//
//	withpostgres go test ./bulk/...
//
// A server that the variable names already is used. Otherwise withpostgres starts one, from the
// programs initdb and postgres in PATH or in the folder of Debian's packages, with its data in a
// temporary folder, and stops it after the command. The server listens on a socket in that folder
// alone, and does not sync its data. Its exit status is that of the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// variable is the environment variable of the URL.
const variable = "SELLSIDE_TEST_DATABASE_URL"

const (
	startTimeout = time.Minute
	stopTimeout  = 30 * time.Second // from a signal until the process is killed
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpostgres COMMAND...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err == nil {
		return
	}
	failed, ok := errors.AsType[*exec.ExitError](err)
	if ok && failed.ExitCode() > 0 {
		os.Exit(failed.ExitCode())
	}
	fmt.Fprintln(os.Stderr, "withpostgres:", err)
	os.Exit(1)
}

func run(ctx context.Context, command []string) (err error) {
	database := os.Getenv(variable)
	if database == "" {
		s, err := start(ctx)
		if err != nil {
			return fmt.Errorf("start PostgreSQL: %w", err)
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		database = s.url()
	}
	if err := waitFor(ctx, database, nil); err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the command that the user gives
	cmd.Env = append(os.Environ(), variable+"="+database)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	interruptible(cmd)
	return cmd.Run()
}

// interruptible makes the end of a command's context a signal that lets the command clean up.
func interruptible(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout
}

// server is a server that withpostgres started.
type server struct {
	dir    string
	cancel context.CancelFunc
	ended  chan struct{} // Closed when the process has ended.
	err    error         // Of the process, after ended.
}

func start(ctx context.Context) (_ *server, err error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	unprivileged, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	program := func(ctx context.Context, name string, args ...string) *exec.Cmd {
		words := slices.Concat(unprivileged, []string{filepath.Join(bin, name)}, args)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // initdb and postgres
		cmd.Dir = dir
		return cmd
	}
	data := filepath.Join(dir, "data")
	initdb := program(ctx, "initdb", "-D", data, "-U", "postgres",
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	postgres := program(running, "postgres", "-D", data, "-k", dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "max_connections=200")
	postgres.Stdout, postgres.Stderr = log, log
	interruptible(postgres) // an interrupt is its fast shutdown
	if err := postgres.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		s.err = postgres.Wait()
		close(s.ended)
	}()
	if err := waitFor(ctx, s.url(), s.ended); err != nil {
		s.cancel()
		<-s.ended
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return s, nil
}

func (s *server) url() string {
	return "postgres://postgres@/postgres?host=" + url.QueryEscape(s.dir)
}

func (s *server) stop() error {
	select {
	case <-s.ended:
		return errors.Join(fmt.Errorf("PostgreSQL ended before the command: %w", s.err), os.RemoveAll(s.dir))
	default:
	}
	s.cancel()
	<-s.ended
	return os.RemoveAll(s.dir)
}

// binaries returns the folder of initdb and postgres: that of PATH, or the newest version of
// Debian's packages, which are not in PATH.
func binaries() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
			return "", err
		}
		return filepath.Dir(initdb), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errors.New("there is no initdb: install PostgreSQL, or set " + variable)
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// unprivileged returns the words in front of a command that run it as a user other than root, which
// PostgreSQL refuses, and gives that user the folder.
func unprivileged(dir string) ([]string, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(nobody.Gid)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return []string{"setpriv", "--reuid=" + nobody.Uid, "--regid=" + nobody.Gid, "--clear-groups"}, nil
}

// waitFor waits until a server accepts a connection, or has ended.
func waitFor(ctx context.Context, database string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, database)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return err
		case <-ended:
			return errors.New("the server ended")
		case <-time.After(100 * time.Millisecond):
		}
	}
}
