package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
)

// ledger is the ledger of a command, and how its output looks.
type ledger struct {
	connection
	file     string
	database string
	wait     bool
	settle   time.Duration
	json     bool

	getenv   func(string) string
	out, log io.Writer
	in       io.Reader
	look     report.Look
	meter    *meter
	sdk      *client.Client // Nil unless the ledger is open to work with it.
	silent   *silence
}

const ledgerHelp = `What was wanted, sent and seen is kept in a ledger: a file for each account below
$XDG_STATE_HOME/sellside (~/.local/state/sellside), or the one that --ledger names. Keep
it: without it, no listing is known, and none is changed. A command that was killed is
run again, and continues. With --database, or SELLSIDE_DATABASE in the environment, the
ledgers of all accounts are in one PostgreSQL database, which several machines may use.`

func newLedger(getenv func(string) string) *ledger { return &ledger{getenv: getenv} }

func (l *ledger) ledgerFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.file, "ledger", "", "file of the ledger (default one for each account)")
	cmd.Flags().StringVar(&l.database, "database", "",
		"postgres:// URL of the database of the ledgers, instead of a file; SELLSIDE_DATABASE keeps its password out of the list of processes")
	cmd.Flags().BoolVar(&l.json, "json", false, "print JSON, an object a line")
}

func (l *ledger) workFlags(cmd *cobra.Command) {
	l.flags(cmd)
	l.ledgerFlags(cmd)
	cmd.Flags().BoolVar(&l.wait, "wait", false, "wait for another command that works for the account in the same --database")
	cmd.Flags().DurationVar(&l.settle, "settle", 10*time.Minute,
		"how long the service may take to show a batch whose response was lost; too short a time may make listings twice")
}

func (l *ledger) begin(cmd *cobra.Command) {
	l.out, l.log, l.in = cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.InOrStdin()
	l.look = report.LookOf(l.out, l.getenv)
	l.meter = &meter{w: l.log, terminal: report.IsTerminal(l.log)}
	l.silent = &silence{print: l.meter.print}
}

// location returns the file of the ledger, or the URL of its database and the account in it.
func (l *ledger) location() (ledger, account string, err error) {
	database := l.database
	switch {
	case l.file != "" && database != "":
		return "", "", invalidf("--ledger and --database exclude each other")
	case isDatabase(l.file):
		return "", "", invalidf("--ledger names a file: give the URL as --database")
	case l.file != "":
		return l.file, "", nil
	case database == "":
		database = l.getenv("SELLSIDE_DATABASE")
	}
	if database != "" && !isDatabase(database) {
		return "", "", invalidf("--database: not a URL that begins with postgres://: name a file with --ledger")
	}
	if l.source == nil && l.getenv("SELLSIDE_TOKEN") == "" {
		if _, err := l.useProfile(l.getenv); err != nil {
			return "", "", err
		}
	}
	baseURL, apiKey := cmp.Or(l.baseURL, l.getenv("SELLSIDE_BASE_URL")), cmp.Or(l.apiKey, l.getenv("SELLSIDE_API_KEY"))
	if baseURL == "" || apiKey == "" {
		return "", "", invalidf("the account is not known: set SELLSIDE_BASE_URL and SELLSIDE_API_KEY, or name the file with --ledger")
	}
	sum := sha256.Sum256([]byte(strings.TrimRight(baseURL, "/") + "\n" + apiKey))
	account = hex.EncodeToString(sum[:8])
	if database != "" {
		return database, account, nil
	}
	dir, err := l.directory()
	return filepath.Join(dir, account+".db"), "", err
}

func isDatabase(ledger string) bool {
	return strings.HasPrefix(ledger, "postgres://") || strings.HasPrefix(ledger, "postgresql://")
}

// directory returns the directory of the ledgers, which it creates.
func (l *ledger) directory() (string, error) {
	state := l.getenv("XDG_STATE_HOME")
	if state == "" {
		home := l.getenv("HOME")
		if home == "" {
			return "", invalidf("there is no home directory: name the file of the ledger with --ledger")
		}
		state = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(state, "sellside")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create directory of the ledger: %w", err)
	}
	return dir, nil
}

// read opens the ledger without a connection to the service.
func (l *ledger) read(ctx context.Context) (*bulk.Bulk, error) {
	location, account, err := l.location()
	if err != nil {
		return nil, err
	}
	if !isDatabase(location) {
		if _, err := os.Stat(location); err != nil {
			return nil, invalidf("there is no ledger (%s): plan or apply an inventory first, or name it with --ledger", location)
		}
	}
	return bulk.Open(ctx, bulk.Config{Ledger: location, Account: account})
}

// open opens the ledger to work with it.
func (l *ledger) open(ctx context.Context, change ...func(*bulk.Config)) (*bulk.Bulk, error) {
	if l.settle <= 0 {
		return nil, invalidf("--settle (%s): use a time above 0", l.settle)
	}
	if err := l.complete(l.getenv); err != nil {
		return nil, err
	}
	location, account, err := l.location()
	if err != nil {
		return nil, err
	}
	limits, err := l.limits()
	if err != nil {
		return nil, err
	}
	c := bulk.Config{
		Ledger: location, Account: account, Queue: l.wait, Quota: limits, Settle: l.settle,
		Connect: func(limiter quota.Limiter) (*client.Client, error) {
			var err error
			l.sdk, err = client.New(append(l.options(), client.WithLimiter(limiter), client.WithMiddleware(l.silent.watch))...)
			if err != nil {
				return nil, invalidError{err}
			}
			return l.sdk, nil
		},
		OnEvent: func(text string) { l.meter.print("%s", report.Plain(text)) },
	}
	for _, f := range change {
		f(&c)
	}
	b, err := bulk.Open(ctx, c)
	if errors.Is(err, bulk.ErrWorking) {
		err = invalidError{err}
	}
	return b, err
}

// with opens the ledger, runs a function, and closes it.
func (l *ledger) with(b *bulk.Bulk, err error, run func(*bulk.Bulk) error) error {
	if err != nil {
		return err
	}
	defer l.silent.stop()
	return errors.Join(run(b), b.Close(), l.end())
}

// emit prints a value as a line of JSON.
func (l *ledger) emit(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(text, '\n'))
	return err
}

// problem returns the error of a command that works with the service.
func (l *ledger) problem(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("stopped: run the same command again to continue")
	case errors.Is(err, bulk.ErrWorking):
		return invalidf("another command works with the ledger: wait for it, or name another file with --ledger (a --database has --wait)")
	default:
		return l.explain(err)
	}
}

// inventory is a file of rows.
type inventoryFile struct {
	name    string
	content io.ReadSeeker
	options stock.Options
}

// openInventory opens an inventory and reports all its problems at once.
func (l *ledger) openInventory(name, asOf string) (f *inventoryFile, closeFile func(), err error) {
	f, closeFile, err = l.readInventory(name, asOf)
	if err != nil {
		return nil, nil, err
	}
	found, err := f.check(l.log)
	if err == nil && found.problems > 0 {
		err = invalidf("nothing was sent: %s in %s: correct the inventory", report.Count(found.problems, "problem"), f.name)
	}
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return f, closeFile, nil
}

// readInventory opens an inventory.
func (l *ledger) readInventory(name, asOf string) (f *inventoryFile, closeFile func(), err error) {
	f = &inventoryFile{name: name, options: stock.Options{Location: time.Local}}
	if asOf != "" {
		if f.options.AsOf, err = parseAsOf(asOf); err != nil {
			return nil, nil, err
		}
	}
	file, err := l.spool(name)
	if err != nil {
		return nil, nil, invalidf("read inventory: %w", err)
	}
	f.content = file
	return f, func() {
		file.Close()
		if name == "-" {
			_ = os.Remove(file.Name())
		}
	}, nil
}

// spool opens a file. Standard input is copied, because it is read twice.
func (l *ledger) spool(name string) (*os.File, error) {
	if name != "-" {
		return os.Open(name)
	}
	file, err := os.CreateTemp("", "sellside-*.inventory")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(file, l.in); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}

// reader returns a reader from the start of the file.
func (f *inventoryFile) reader() (*stock.Reader, error) {
	if _, err := f.content.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return stock.NewReader(f.content, f.options), nil
}

// mistakes are what is wrong with an inventory.
type mistakes struct {
	problems   int
	rows       int  // That have problems.
	unreadable bool // The format or the header is wrong: it has no rows.
}

// check reads the file once and prints its problems.
func (f *inventoryFile) check(log io.Writer) (found mistakes, err error) {
	const most = 1000
	r, err := f.reader()
	if err != nil {
		return found, err
	}
	valid, last := 0, 0
	for _, err := range r.Rows() {
		if err == nil {
			valid++
			continue
		}
		p, ok := errors.AsType[*stock.Problem](err)
		if !ok {
			return found, invalidf("read inventory: %w", err)
		}
		if p.Line != last {
			found.rows++
		}
		last = p.Line
		found.unreadable = found.unreadable || p.Line <= 1 && !r.Layout().NDJSON
		if found.problems++; found.problems <= most {
			fmt.Fprintln(log, report.Plain(err.Error()))
		}
	}
	if found.problems > most {
		fmt.Fprintf(log, "and %d more\n", found.problems-most)
	}
	found.unreadable = found.unreadable || valid == 0 && found.problems > 0
	return found, nil
}

func parseAsOf(text string) (time.Time, error) {
	if text == "now" {
		return time.Now(), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return at, invalidf("--as-of (%q): use RFC 3339 such as 2026-11-21T18:00:00Z, a day, or now", text)
	}
	return at, nil
}
