package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// settings is an environment.
type settings map[string]string

func (s settings) get(name string) string { return s[name] }

// ending is the exit code and the output of a command.
type ending struct {
	code        int
	out, errors string
}

// sellside runs a command line in this process.
func sellside(ctx context.Context, env settings, args ...string) ending {
	var out, errors bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &errors, env.get)
	return ending{code, out.String(), errors.String()}
}

// market starts a sandbox on a socket. It returns the settings that reach it, and a client of it.
func market(t *testing.T, change ...func(*sandbox.Options)) (settings, *client.Client, *sandboxtest.Market) {
	t.Helper()
	m := sandboxtest.New(t, change...)
	env := settings{"SELLSIDE_BASE_URL": m.URL, "SELLSIDE_API_KEY": m.APIKey(), "SELLSIDE_TOKEN": m.Token(), "XDG_STATE_HOME": t.TempDir()}
	return env, m.Client(), m
}

// stockFile writes an inventory. Unless the first row is a header, it has the five required columns.
func stockFile(t *testing.T, rows ...string) string {
	t.Helper()
	text := strings.Join(rows, "\n") + "\n"
	if !strings.Contains(rows[0], "price") {
		text = "style_id,size,price,currency,quantity\n" + text
	}
	path := filepath.Join(t.TempDir(), "stock.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// watcher is a writer that closes seen when it contains want.
type watcher struct {
	mu   sync.Mutex
	text strings.Builder
	want string
	seen chan struct{}
}

func watch(want string) *watcher { return &watcher{want: want, seen: make(chan struct{})} }

// Write implements [io.Writer].
func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.text.String(), w.want)
	w.text.Write(p)
	if !before && strings.Contains(w.text.String(), w.want) {
		close(w.seen)
	}
	return len(p), nil
}

// String returns what was written.
func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
