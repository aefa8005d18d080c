package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	system "github.com/zalando/go-keyring"

	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/client/token/filestore"
	"github.com/sellside-sdk/sellside-go/internal/atomicfile"
)

// Secret names a secret of a profile.
type Secret string

// The secrets of a profile, beside its tokens.
const (
	APIKey       Secret = "api-key"
	ClientSecret Secret = "client-secret"
)

const tokens Secret = "tokens"

const (
	// keyringService is under which the keyring lists the secrets.
	keyringService = "sellside"
	// keyringTimeout bounds a keyring that waits for a user who is not there.
	keyringTimeout = 3 * time.Second
	lockPeriod     = 20 * time.Millisecond // Between two attempts to get a lock.
)

// keyring is the keyring of the system. Tests replace it.
type keyring interface {
	Get(service, user string) (string, error)
	Set(service, user, secret string) error
	Delete(service, user string) error
}

type systemKeyring struct{}

func (systemKeyring) Get(service, user string) (string, error) { return system.Get(service, user) }
func (systemKeyring) Set(service, user, secret string) error {
	return system.Set(service, user, secret)
}
func (systemKeyring) Delete(service, user string) error { return system.Delete(service, user) }

// inTime calls the keyring and waits for it for a limited time. The goroutine of a keyring that
// never returns is lost.
func inTime(call func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := call()
		done <- result{text, err}
	}()
	timer := time.NewTimer(keyringTimeout)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.text, r.err
	case <-timer.C:
		return "", fmt.Errorf("no response within %s", keyringTimeout)
	}
}

// Secret returns a secret of a profile, empty if it has none. A file, where there is one, comes
// before the keyring: it was written because the keyring could not be used.
func (s *Store) Secret(profile string, name Secret) (string, error) {
	if err := CheckName(profile); err != nil {
		return "", err
	}
	text, err := os.ReadFile(s.secretFile(profile, name))
	switch {
	case err == nil:
		return string(text), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("profile %q: read the %s: %w", profile, name, err)
	}
	secret, err := inTime(func() (string, error) { return s.keyring.Get(keyringService, userOf(profile, name)) })
	if err != nil {
		secret = "" // no keyring, or none that has it: without a file there is no secret
	}
	return secret, nil
}

// SetSecret saves a secret of a profile, or deletes it if it is empty: in the keyring or, if that
// cannot be used, in a file that the owner alone can read.
func (s *Store) SetSecret(profile string, name Secret, secret string) error {
	if err := CheckName(profile); err != nil {
		return err
	}
	if secret == "" {
		_, _ = inTime(func() (string, error) { return "", s.keyring.Delete(keyringService, userOf(profile, name)) })
		return removeFile(s.secretFile(profile, name))
	}
	return s.keep(profile, name, secret)
}

// keep saves the first of the forms of a secret that the keyring takes. The next one is tried only
// if one is too long. A file keeps the first.
func (s *Store) keep(profile string, name Secret, forms ...string) error {
	user, file := userOf(profile, name), s.secretFile(profile, name)
	for _, form := range forms {
		_, err := inTime(func() (string, error) { return "", s.keyring.Set(keyringService, user, form) })
		if err == nil {
			return removeFile(file)
		}
		if !errors.Is(err, system.ErrSetDataTooBig) {
			break
		}
	}
	s.warn(fmt.Sprintf("the keyring cannot keep the %s of profile %s: it is in the file %s, for you alone", name, profile, file))
	return replaceFile(file, []byte(forms[0]))
}

func userOf(profile string, name Secret) string { return profile + "/" + string(name) }

func (s *Store) secretFile(profile string, name Secret) string {
	return filepath.Join(s.dir, profile+"."+string(name))
}

// Tokens returns the store of the tokens of a profile, which all processes of the user share.
func (s *Store) Tokens(profile string) token.Store { return tokenStore{s, profile} }

// SetTokens saves the tokens of a new sign-in, or deletes them if they are zero.
func (s *Store) SetTokens(ctx context.Context, profile string, t token.Tokens) error {
	store := s.Tokens(profile)
	unlock, err := store.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	if t == (token.Tokens{}) {
		return s.SetSecret(profile, tokens, "")
	}
	return store.Save(ctx, t)
}

// tokenStore keeps the tokens as a secret of the profile.
type tokenStore struct {
	store   *Store
	profile string
}

// Lock implements [token.Store].
func (t tokenStore) Lock(ctx context.Context) (func() error, error) {
	if err := CheckName(t.profile); err != nil {
		return nil, err
	}
	return filestore.New(t.store.secretFile(t.profile, tokens)).Lock(ctx)
}

// Load implements [token.Store].
func (t tokenStore) Load(context.Context) (token.Tokens, error) {
	text, err := t.store.Secret(t.profile, tokens)
	var saved token.Tokens
	if err == nil && text != "" && json.Unmarshal([]byte(text), &saved) != nil {
		// The error of the decoder could quote a token.
		err = fmt.Errorf("profile %q: the saved tokens are damaged: sign in again", t.profile)
	}
	return saved, err
}

// Save implements [token.Store]. Some keyrings take short secrets only: there the access token is
// not shared, and each process requests its own.
func (t tokenStore) Save(_ context.Context, saved token.Tokens) error {
	all, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("profile %q: save the tokens: %w", t.profile, err)
	}
	short, err := json.Marshal(token.Tokens{RefreshToken: saved.RefreshToken})
	if err != nil {
		return fmt.Errorf("profile %q: save the tokens: %w", t.profile, err)
	}
	return t.store.keep(t.profile, tokens, string(all), string(short))
}

func removeFile(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("profiles: %w", err)
	}
	return nil
}

// replaceFile replaces a file at once, for its owner only.
func replaceFile(file string, text []byte) error {
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = atomicfile.ReplaceWith(file, text)
	}
	if err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	return nil
}
