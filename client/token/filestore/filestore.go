// Package filestore keeps the tokens of a sign-in in a file that the processes of one machine share.
package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/internal/atomicfile"
)

const (
	maxFile    = 64 << 10              // Bytes of the file.
	lockPeriod = 20 * time.Millisecond // Between two attempts to get the lock.
)

// Store is a [token.Store] in a file. The file is JSON that its owner alone can read; the tokens in
// it are not encrypted. A file beside it, with the suffix .lock, is locked while a process renews
// the tokens; it is empty and stays. Network file systems may not lock across machines.
//
// A Store is safe for concurrent use.
type Store struct{ path string }

// New returns the store of a file. It does no I/O: Save creates the file and its directory.
func New(path string) *Store { return &Store{path} }

// Format implements [fmt.Formatter]; the path of the file is not a secret.
func (s *Store) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "filestore.Store of "+s.path) }

// Lock implements [token.Store]. The lock ends with the process.
func (s *Store) Lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	lock := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPeriod); err != nil {
		return nil, fmt.Errorf("token file (%s): lock: %w", s.path, err)
	}
	return lock.Close, nil
}

// Load implements [token.Store]. A file that does not exist has no tokens; one that cannot be read
// is an error.
func (s *Store) Load(context.Context) (token.Tokens, error) {
	file, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return token.Tokens{}, nil
	}
	if err != nil {
		return token.Tokens{}, fmt.Errorf("token file: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return token.Tokens{}, fmt.Errorf("token file: %w", err)
	}
	var t token.Tokens
	if len(text) > maxFile || json.Unmarshal(text, &t) != nil {
		// The error of the decoder could quote a token.
		return token.Tokens{}, fmt.Errorf("token file (%s): not a file of tokens: remove it and sign in again", s.path)
	}
	return t, nil
}

// Save implements [token.Store]. It replaces the file at once: a crash leaves the old or the new
// tokens.
func (s *Store) Save(_ context.Context, t token.Tokens) error {
	text, err := json.Marshal(t)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	if err == nil {
		err = atomicfile.ReplaceWith(s.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	return nil
}

// Remove deletes the tokens, as at the end of a sign-in. A file that does not exist is no error.
func (s *Store) Remove(context.Context) error {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("token file: %w", err)
	}
	return nil
}
