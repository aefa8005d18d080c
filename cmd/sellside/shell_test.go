package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// settings is an environment.
type settings map[string]string

func (s settings) get(name string) string { return s[name] }

// ending is how a command ended.
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

// market is a sandbox over HTTP, the settings to reach it and a client of it.
func market(t *testing.T, opts sandbox.Options) (settings, *client.Client) {
	t.Helper()
	if opts.Delay == 0 {
		opts.Delay = -1
	}
	s, err := sandbox.New(opts)
	require.NoError(t, err)
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, s.Close())
	})
	env := settings{
		"SELLSIDE_BASE_URL": srv.URL + sandbox.BasePath, "SELLSIDE_API_KEY": s.APIKey(), "SELLSIDE_TOKEN": s.Token(),
	}
	c, _, err := (&connection{baseURL: env["SELLSIDE_BASE_URL"], apiKey: s.APIKey(), token: s.Token()}).client()
	require.NoError(t, err)
	return env, c
}

// stock writes an inventory with the five columns that are required, unless the first row begins otherwise.
func stock(t *testing.T, rows ...string) string {
	t.Helper()
	text := strings.Join(rows, "\n") + "\n"
	if !strings.Contains(rows[0], "price") {
		text = "style_id,size,price,currency,quantity\n" + text
	}
	path := filepath.Join(t.TempDir(), "stock.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// watched is a writer that can be waited on until it has been told something.
type watched struct {
	mu   sync.Mutex
	text strings.Builder
	want string
	told chan struct{}
}

func watch(want string) *watched { return &watched{want: want, told: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.text.String(), w.want)
	w.text.Write(p)
	if !before && strings.Contains(w.text.String(), w.want) {
		close(w.told)
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
