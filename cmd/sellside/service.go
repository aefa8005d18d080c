package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/change"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

// service is one call of a command that uses the service.
type service struct {
	connection
	getenv        func(string) string
	asJSON, asCSV bool
	dryRun        bool          // Of commands that write, as are the next two.
	noWait        bool          // Do not wait for what the service does later.
	settle        time.Duration // How long to look for a write whose response was lost.

	sdk    *client.Client
	out    table.Output
	stdin  io.Reader
	stderr io.Writer
	log    *meter
	recent *recent.IDs
}

func newService(getenv func(string) string) *service { return &service{getenv: getenv} }

// operationsKey is the annotation of a command that names the operations which it uses.
const operationsKey = "operations"

// command makes cmd a command that runs a function with a client of the service, and records which
// operations it may use.
func (s *service) command(
	cmd *cobra.Command, run func(ctx context.Context, args []string) error, operations ...gen.OperationID,
) *cobra.Command {
	uses(cmd, operations...)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		silent, err := s.open(cmd)
		if err != nil {
			return err
		}
		defer s.log.end()
		defer silent.stop()
		defer s.recent.Save()
		defer func() { err = errors.Join(err, s.end()) }()
		return s.outcome(cmd.Context(), run(cmd.Context(), args))
	}
	cmd.Long = cmp.Or(cmd.Long, cmd.Short+".") + "\n\n" + connectionHelp
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "print a JSON object per line")
	cmd.Flags().BoolVar(&s.asCSV, "csv", false, "print CSV with a header")
	return cmd
}

// uses records which operations a command may use.
func uses(cmd *cobra.Command, operations ...gen.OperationID) {
	cmd.Annotations = map[string]string{operationsKey: strings.Join(values.Texts(operations), " ")}
}

// writes adds the flags of a command that writes.
func (s *service) writes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "show the requests that would write, and send none of them")
	return cmd
}

// changes adds the flags of a command that changes listings.
func (s *service) changes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&s.noWait, "no-wait", false, "do not wait until the service has made the change")
	cmd.Flags().DurationVar(&s.settle, "settle", 10*time.Minute, "how long to look for a change whose response was lost")
	return s.writes(cmd)
}

// open connects the command to the service.
func (s *service) open(cmd *cobra.Command) (*silence, error) {
	if err := s.complete(s.getenv); err != nil {
		return nil, err
	}
	if cmd.Flags().Lookup("settle") != nil && s.settle <= 0 {
		return nil, invalidf("--settle (%s): use a time above 0", s.settle)
	}
	if err := s.prepare(cmd); err != nil {
		return nil, err
	}
	s.recent = recent.Open(cacheHome(s.getenv), s.baseURL)
	silent := &silence{print: s.log.print}
	sdk, err := s.client(client.WithMiddleware(s.showWrites, silent.watch))
	if err != nil {
		return nil, err
	}
	s.sdk = sdk
	return silent, nil
}

// prepare sets the streams and the format of the command.
func (s *service) prepare(cmd *cobra.Command) error {
	if s.asJSON && s.asCSV {
		return invalidf("--json and --csv: use one of them")
	}
	s.stdin, s.stderr = cmd.InOrStdin(), cmd.ErrOrStderr()
	s.log = &meter{w: s.stderr, terminal: report.IsTerminal(s.stderr)}
	s.out = outputOf(cmd.OutOrStdout(), s.getenv)
	switch {
	case s.asJSON:
		s.out.Format = table.JSON
	case s.asCSV:
		s.out.Format = table.CSV
	}
	return nil
}

// outputOf returns the output of a command.
func outputOf(w io.Writer, getenv func(string) string) table.Output {
	return table.Output{W: w, Width: widthOf(w, getenv), Look: report.LookOf(w, getenv)}
}

// widthOf returns $COLUMNS, or the width of a terminal, or 0 for what is no terminal.
func widthOf(w io.Writer, getenv func(string) string) int {
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := w.(*os.File)
	if !ok || !report.IsTerminal(w) {
		return 0
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// cacheHome returns the directory for the caches of the user, "" if the environment has none.
func cacheHome(getenv func(string) string) string {
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return dir
	}
	if cmp.Or(getenv("HOME"), getenv("LocalAppData")) == "" {
		return ""
	}
	dir, _ := os.UserCacheDir()
	return dir
}

// outcome returns the error of a command as the user gets it.
func (s *service) outcome(ctx context.Context, err error) error {
	_, isInvalid := errors.AsType[*client.ArgumentError](err)
	switch {
	case err == nil, errors.Is(err, change.ErrDryRun):
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return errors.New("stopped")
	case isInvalid:
		return invalidError{err}
	default:
		return s.explain(err)
	}
}

// showWrites is a [client.Middleware] that shows the writes of a dry run instead of sending them.
func (s *service) showWrites(next client.Doer) client.Doer {
	return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
		if !s.dryRun || req.Method == http.MethodGet {
			return next.Do(req)
		}
		var body []byte
		if req.Body != nil {
			var err error
			if body, err = io.ReadAll(req.Body); err != nil {
				return nil, err
			}
		}
		if err := s.show(req.Method, req.URL.String(), bytes.TrimSpace(body)); err != nil {
			return nil, err
		}
		return nil, change.ErrDryRun
	})
}

// request is a request that a dry run shows.
type request struct {
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// show prints a request.
func (s *service) show(method, url string, body []byte) error {
	if s.out.Format != table.Text {
		return s.print(request{method, url, body})
	}
	fmt.Fprintf(s.out.W, "%s %s\n", method, url)
	if len(body) == 0 {
		return nil
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		return err
	}
	fmt.Fprintln(s.out.W, indented.String())
	return nil
}

func (s *service) print(r request) error {
	rows := table.NewRecords(s.out, []table.Column[request]{
		{Name: "method", Value: func(r request) string { return r.Method }},
		{Name: "url", Value: func(r request) string { return r.URL }},
		{Name: "body", Value: func(r request) string { return string(r.Body) }},
	})
	return errors.Join(rows.Write(r), rows.Flush())
}

// settings returns the settings of changes to listings.
func (s *service) settings() change.Settings {
	return change.Settings{Client: s.sdk, Settle: s.settle, NoWait: s.noWait, Log: s.log.print}
}

// confirm asks whether to do something that cannot be undone.
func (s *service) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(s.stderr, "%s [y/N] ", question)
	line := make(chan string, 1)
	go func() { // which stays if ctx ends first, until the process does
		text, _ := bufio.NewReader(s.stdin).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		if slices.Contains([]string{"y", "yes"}, strings.ToLower(text)) {
			return nil
		}
		return invalidf("nothing was sent: not confirmed: type y, or use --yes")
	case <-ctx.Done():
		fmt.Fprintln(s.stderr)
		return ctx.Err()
	}
}

// known returns the values of a flag, and prints a note about those that this version does not know.
func known[T ~string](s *service, flag string, all []T, texts ...string) []T {
	found := make([]T, 0, len(texts))
	for _, text := range texts {
		value, ok := values.Find(all, text)
		if !ok {
			s.log.print("note: --%s: this version does not know %s: it knows %s",
				flag, report.Plain(string(value)), strings.Join(values.Texts(all), ", "))
		}
		found = append(found, value)
	}
	return found
}

// optional is known for a flag with one value, or none.
func optional[T ~string](s *service, flag string, all []T, text string) T {
	if text == "" {
		return ""
	}
	return known(s, flag, all, text)[0]
}

// day returns the value of a flag that is a day, or the zero time.
func day(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, invalidf("--%s (%q): use a day such as 2026-12-31", flag, text)
	}
	return at, nil
}

// expiry returns the value of --expires-at, a day or a time, or the zero time.
func expiry(text string) (gen.Time, error) {
	if text == "" {
		return gen.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return gen.TimeOf(at), nil
		}
	}
	return gen.Time{}, invalidf("--expires-at (%q): use 2026-12-31 or 2026-12-31T18:00:00Z", text)
}
