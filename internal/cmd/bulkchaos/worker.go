package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// The times of the worker. It sends nothing later than notAfter after it was recorded, which is the
// least that the command line has, and looks for a batch of unknown outcome settle after that.
const (
	settle   = time.Second
	notAfter = 5 * time.Second
	stopFor  = notAfter + settle + time.Second
)

// worker runs the command line with one inventory and one ledger.
type worker struct {
	binary, ledger, log string
	env                 []string
	deletes             int // That a plan may do.
	file                string
}

// build compiles the command line into a directory.
func build(ctx context.Context, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "sellside")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/sellside") //nolint:gosec // a directory of this program
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build cmd/sellside (run this in the root of the module): %w", err)
	}
	return binary, nil
}

func newWorker(binary, dir string, w *world, url string, rows int) *worker {
	return &worker{
		binary: binary, ledger: filepath.Join(dir, "ledger.db"), log: filepath.Join(dir, "log"), file: w.file, deletes: 10 * rows,
		env: append(os.Environ(),
			"SELLSIDE_BASE_URL="+url, "SELLSIDE_API_KEY="+w.market.APIKey(), "SELLSIDE_TOKEN="+w.market.Token()),
	}
}

// command returns a command with the flags of a plan.
func (k *worker) command(ctx context.Context, name string, flags ...string) *exec.Cmd {
	args := append([]string{
		name, k.file, "--ledger", k.ledger, "--settle", settle.String(),
		"--delete-missing", "--allow-deletes", strconv.Itoa(k.deletes),
	}, flags...)
	cmd := exec.CommandContext(ctx, k.binary, args...) //nolint:gosec // the program that was built above
	cmd.Env = k.env
	return cmd
}

// process is a command that runs.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	ended   chan struct{} // Closed at the end.
	err     error         // Of the command; to be read after its end.
}

// start starts a command whose output is appended to the log.
func (k *worker) start(ctx context.Context, name string, flags ...string) (*process, error) {
	log, err := os.OpenFile(k.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "--- %s: %s %v\n", time.Now().Format(time.TimeOnly), name, flags)
	p := &process{cmd: k.command(ctx, name, flags...), ended: make(chan struct{}), started: time.Now()}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		p.err = errors.Join(p.cmd.Wait(), log.Close())
		close(p.ended)
	}()
	return p, nil
}

// moment is when something is done to a process: at a request or at the submission of a batch, which
// is then on its way, and a while after it.
type moment struct {
	atRequest, atWrite int // One of both is 0.
	after              time.Duration
}

func drawMoment(random *rand.Rand, rows int) moment {
	m := moment{after: time.Duration(random.IntN(30)) * time.Millisecond}
	if random.IntN(2) == 0 {
		m.after = 0
	}
	if random.IntN(3) == 0 {
		m.atRequest = 1 + random.IntN(20+rows/50)
	} else {
		m.atWrite = 1 + random.IntN(3+rows/500)
	}
	return m
}

// watch returns a channel that is closed at a moment of the process that n counts for.
func (m moment) watch(n *network, outside func()) <-chan struct{} {
	reached := make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	n.begin(func(requests, writes int, isWrite bool) {
		outside()
		if requests == m.atRequest || isWrite && writes == m.atWrite {
			if m.after == 0 {
				once()
			} else {
				time.AfterFunc(m.after, once)
			}
		}
	})
	return reached
}

// kill kills the process with -9.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	return nil
}

// stop stops the process for longer than its submissions may be sent, and lets it continue.
func (p *process) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err := pause(ctx, stopFor)
	return errors.Join(err, p.cmd.Process.Signal(syscall.SIGCONT))
}

// plan is what a sync prints of its plan and its run.
type plan struct {
	Creates, Updates, Deletes, InFlight int
	Counts                              map[string]struct{ Rows int }
	Done, Failed, Open, Unknown         int
}

func (p plan) isEmpty() bool {
	return p.Creates+p.Updates+p.Deletes+p.InFlight+p.Done+p.Failed+p.Open+p.Unknown == 0
}

func (p plan) String() string {
	return fmt.Sprintf("creates=%d updates=%d deletes=%d in-flight=%d done=%d failed=%d open=%d unknown=%d %v",
		p.Creates, p.Updates, p.Deletes, p.InFlight, p.Done, p.Failed, p.Open, p.Unknown, p.Counts)
}

// sync runs one sync to its end, and returns what it planned and did. err is that of the command.
func (k *worker) sync(ctx context.Context, flags ...string) (p plan, err error) {
	cmd := k.command(ctx, "sync", append(flags, "--json")...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	for line := range bytes.Lines(out.Bytes()) {
		var head struct{ MadeAt, StartedAt, SKU string }
		if json.Unmarshal(line, &head) != nil || head.SKU != "" {
			continue // the outcome of a row
		}
		if invalid := json.Unmarshal(line, &p); invalid != nil {
			return p, errors.Join(err, invalid)
		}
	}
	if err != nil {
		err = fmt.Errorf("sync: %w: %s", err, bytes.TrimSpace(problems.Bytes()))
	}
	return p, err
}
