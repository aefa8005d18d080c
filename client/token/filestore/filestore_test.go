package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/client/token/filestore"
)

// The variables of a child process of TestStore_IsSharedByProcesses.
const childFile, childURL = "FILESTORE_TEST_FILE", "FILESTORE_TEST_URL"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		os.Exit(child(file, os.Getenv(childURL)))
	}
	goleak.VerifyTestMain(m)
}

// child prints one access token.
func child(file, tokenURL string) int {
	source, err := token.NewRefreshSource(token.RefreshConfig{
		TokenURL: tokenURL, ClientID: "app", Store: filestore.New(file),
	})
	if err == nil {
		var access interface{ Valid() bool }
		access, err = source.TokenContext(context.Background())
		err = errors.Join(err, source.Close())
		if err == nil && !access.Valid() {
			err = errors.New("the token is not valid")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func newStore(t *testing.T) (*filestore.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profiles", "tokens.json")
	return filestore.New(path), path
}

func TestStore_LoadsWhatWasSaved(t *testing.T) {
	s, path := newStore(t)
	got, err := s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, token.Tokens{}, got, "there is no file yet")

	want := token.Tokens{RefreshToken: "r", AccessToken: "a", Expiry: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
	require.NoError(t, s.Save(t.Context(), want))
	got, err = filestore.New(path).Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")

	require.NoError(t, s.Remove(t.Context()))
	require.NoError(t, s.Remove(t.Context()), "twice is no error")
	got, err = s.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, token.Tokens{}, got)
}

func TestStore_RefusesOtherFilesWithoutQuotingThem(t *testing.T) {
	s, path := newStore(t)
	require.NoError(t, s.Save(t.Context(), token.Tokens{}))
	for _, text := range []string{"the_refresh_token", `{"refreshToken":7,"x":"the_refresh_token"}`, strings.Repeat(" ", 1<<17), ""} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := s.Load(t.Context())
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "the_refresh_token")
	}
}

func TestStore_LockIsExclusiveAndEndsWithCtx(t *testing.T) {
	s, path := newStore(t)
	unlock, err := s.Lock(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = filestore.New(path).Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, unlock())
	unlock, err = filestore.New(path).Lock(t.Context())
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
		s, path := newStore(t)
		require.NoError(t, s.Save(t.Context(), token.Tokens{RefreshToken: "first"}))
		endpoint := &rotating{valid: "first", life: tc.life}
		srv := httptest.NewServer(endpoint)
		var children sync.WaitGroup
		for range 6 {
			children.Go(func() {
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), childFile+"="+path, childURL+"="+srv.URL)
				out, err := cmd.CombinedOutput()
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
