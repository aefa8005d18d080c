// Command bulkmillion plans inventories against accounts with as many listings, and prints what that
// takes: time, rows a second, and the peak memory of the process, for 10,000, 100,000 and 1,000,000
// rows. It builds the command line and runs it against a service that makes up its pages, so that
// neither the service nor a network is measured. It exits 0 only if no process needed more memory
// than allowed.
//
// Each size has five plans: the first one, which reads all listings, and owes creates of all rows; one
// that matches the listings to the rows; one that has nothing to read but sales; one of an inventory
// of which a tenth has other prices and a hundredth is new; and one that reads all listings again.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// maxMemory is the most memory that a process may need, in MB.
const maxMemory = 400

func main() {
	rows := flag.Int("rows", 1_000_000, "the most rows; a hundredth and a tenth of them are planned before")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *rows, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bulkmillion:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rows int, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "bulkmillion")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "sellside")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/sellside") //nolint:gosec // a directory of this program
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build cmd/sellside (run this in the root of the module): %w", err)
	}
	fmt.Fprintf(out, "%9s  %-17s  %10s  %13s  %11s  %s\n", "rows", "plan", "time", "rows a second", "peak memory", "ledger")
	peak := 0
	for _, n := range []int{rows / 100, rows / 10, rows} {
		if n == 0 {
			continue
		}
		p := planner{binary: binary, dir: filepath.Join(dir, fmt.Sprint(n)), rows: n}
		err := p.measure(ctx, func(m measurement) {
			fmt.Fprintf(out, "%9d  %-17s  %10s  %13.0f  %8d MB  %d MB\n", n, m.name, m.took.Round(time.Millisecond),
				float64(n)/m.took.Seconds(), m.memory, m.ledger)
			peak = max(peak, m.memory)
		})
		if err != nil {
			return err
		}
	}
	if peak > maxMemory {
		return fmt.Errorf("memory of a plan (%d MB): more than %d MB", peak, maxMemory)
	}
	return nil
}

// planner plans inventories of so many rows.
type planner struct {
	binary, dir, url string
	rows             int
}

// measurement is what a plan took.
type measurement struct {
	name           string
	took           time.Duration
	memory, ledger int // In MB.
}

// measure makes all plans and reports each. The ledger is deleted at the end.
func (p *planner) measure(ctx context.Context, report func(measurement)) (err error) {
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.dir)) }()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: service{rows: p.rows, madeAt: time.Now().AddDate(0, -1, 0)}, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // returns ErrServerClosed
	defer func() { err = errors.Join(err, server.Close()) }()
	p.url = "http://" + listener.Addr().String() + "/v2"

	same, edited := filepath.Join(p.dir, "same.csv"), filepath.Join(p.dir, "edited.csv")
	if err := errors.Join(p.write(same, false), p.write(edited, true)); err != nil {
		return err
	}
	created, updated := p.rows/100, p.rows/10
	for _, step := range []struct {
		name, want string // want is in the output.
		args       []string
	}{
		{"first", fmt.Sprintf("create %d row", p.rows), []string{"plan", same}},
		{"listings adopted", fmt.Sprintf("unchanged %d row", p.rows), []string{"plan", same, "--adopt"}},
		{"", "0 listings done", []string{"apply", same, "--adopt", "--yes"}}, // which keeps what was adopted
		{"unchanged", fmt.Sprintf("unchanged %d row", p.rows), []string{"plan", same}},
		{"a tenth changed", fmt.Sprintf("update %d row", updated), []string{"plan", edited}},
		{"all read again", fmt.Sprintf("create %d row", created), []string{"plan", edited, "--reread"}},
	} {
		m, out, err := p.run(ctx, step.args...)
		if err != nil {
			return err
		}
		if !strings.Contains(strings.Join(strings.Fields(out), " "), step.want) {
			return fmt.Errorf("%s: %q is not in its output: %s", step.args, step.want, out)
		}
		if m.name = step.name; m.name != "" {
			report(m)
		}
	}
	return nil
}

// run runs the command line.
func (p *planner) run(ctx context.Context, args ...string) (m measurement, out string, err error) {
	ledger := filepath.Join(p.dir, "ledger.db")
	cmd := exec.CommandContext(ctx, p.binary, append(args, "--ledger", ledger, "--quota", "none")...) //nolint:gosec // built above
	cmd.Env = append(os.Environ(), "SELLSIDE_BASE_URL="+p.url, "SELLSIDE_API_KEY=key", "SELLSIDE_TOKEN=token")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err = cmd.Run()
	m.took = time.Since(start)
	if err != nil {
		return m, "", fmt.Errorf("%s: %w: %s", args, err, bytes.TrimSpace(stderr.Bytes()))
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return m, "", errors.New("the memory of a process is not known on this system")
	}
	info, err := os.Stat(ledger)
	if err != nil {
		return m, "", err
	}
	m.memory, m.ledger = int(usage.Maxrss>>10), int(info.Size()>>20)
	return m, stdout.String(), nil
}
