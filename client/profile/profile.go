// Package profile reads and writes the profiles of the command line: where a service is, how a
// seller signs in to it, and the secrets of that sign-in. A program that runs beside the command
// line uses the same sign-in with [Store.TokenSource].
package profile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/gofrs/flock"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// Default is the name of the profile that is used if none is named.
const Default = "default"

// ErrNoProfile reports that there is no profile of a name.
var ErrNoProfile = errors.New("no such profile")

// Profile is where a service is and how to sign in to it. It has no secrets.
type Profile struct {
	Name    string `json:"-"`
	BaseURL string `json:"baseURL"`

	// The sign-in, by the authorization code grant with PKCE. The redirect URL is registered at the
	// service, and is of this machine.
	AuthorizeURL string   `json:"authorizeURL,omitempty"`
	TokenURL     string   `json:"tokenURL,omitempty"`
	ClientID     string   `json:"clientID,omitempty"`
	RedirectURL  string   `json:"redirectURL,omitempty"`
	AnyPort      bool     `json:"anyPort,omitempty"` // The service accepts any port in the redirect URL.
	Audience     string   `json:"audience,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
}

// Store is the directory of the profiles and, if the system has one, the keyring with their
// secrets. It is safe for concurrent use, also by several processes.
type Store struct {
	dir     string
	keyring keyring
	warn    func(string)
}

// Open returns the profiles of the user: those in sellside below the directory for configuration,
// which is $XDG_CONFIG_HOME, or what [os.UserConfigDir] returns. It does no I/O. Warn is called, at
// most once for each secret, if the keyring cannot be used and a file keeps the secret; it may be
// nil.
func Open(warn func(string)) (*Store, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	return OpenDir(filepath.Join(dir, "sellside"), warn), nil
}

// OpenDir is Open for the profiles in another directory.
func OpenDir(dir string, warn func(string)) *Store {
	if warn == nil {
		warn = func(string) {}
	}
	return &Store{dir: dir, keyring: systemKeyring{}, warn: warn}
}

// config is the file of the profiles.
type config struct {
	Current  string              `json:"current,omitempty"`
	Profiles map[string]*Profile `json:"profiles"`
}

func (s *Store) file() string { return filepath.Join(s.dir, "config.json") }

func (s *Store) read() (config, error) {
	c := config{Profiles: map[string]*Profile{}}
	text, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("profiles (%s): %w", s.file(), err)
	}
	for name, p := range c.Profiles {
		if p == nil || CheckName(name) != nil {
			return c, fmt.Errorf("profiles (%s): profile %.80q: invalid: correct the file", s.file(), name)
		}
		p.Name = name
	}
	return c, nil
}

// change reads the file, changes it, and replaces it, while no other process does.
func (s *Store) change(ctx context.Context, change func(*config) error) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	lock := flock.New(s.file()+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPeriod); err != nil {
		return fmt.Errorf("profiles (%s): lock: %w", s.file(), err)
	}
	defer func() { _ = lock.Close() }()
	c, err := s.read()
	if err != nil {
		return err
	}
	if err := change(&c); err != nil {
		return err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c); err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	return replaceFile(s.file(), text.Bytes())
}

// Names returns the names of all profiles, sorted, and that of the current one.
func (s *Store) Names() (names []string, current string, err error) {
	c, err := s.read()
	for name := range c.Profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, c.current(), err
}

func (c config) current() string {
	if c.Current == "" {
		return Default
	}
	return c.Current
}

// Get returns the profile of a name, or the current one if the name is empty. Errors:
// [ErrNoProfile].
func (s *Store) Get(name string) (*Profile, error) {
	c, err := s.read()
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = c.current()
	}
	p := c.Profiles[name]
	if p == nil {
		return nil, fmt.Errorf("profile %.80q: %w: sign in with login --profile", name, ErrNoProfile)
	}
	return p, nil
}

// Put saves a profile. The first one becomes the current one.
func (s *Store) Put(ctx context.Context, p Profile) error {
	if err := CheckName(p.Name); err != nil {
		return err
	}
	return s.change(ctx, func(c *config) error {
		if len(c.Profiles) == 0 {
			c.Current = p.Name
		}
		c.Profiles[p.Name] = &p
		return nil
	})
}

// Use makes a profile the current one. Errors: [ErrNoProfile].
func (s *Store) Use(ctx context.Context, name string) error {
	return s.change(ctx, func(c *config) error {
		if c.Profiles[name] == nil {
			return fmt.Errorf("profile %.80q: %w", name, ErrNoProfile)
		}
		c.Current = name
		return nil
	})
}

// Remove deletes a profile and its secrets. Errors: [ErrNoProfile].
func (s *Store) Remove(ctx context.Context, name string) error {
	err := s.change(ctx, func(c *config) error {
		if c.Profiles[name] == nil {
			return fmt.Errorf("profile %.80q: %w", name, ErrNoProfile)
		}
		delete(c.Profiles, name)
		if c.Current == name {
			c.Current = ""
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(s.SetTokens(ctx, name, token.Tokens{}), s.SetSecret(name, APIKey, ""), s.SetSecret(name, ClientSecret, ""))
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName returns an error if a profile cannot have a name: it is part of file names.
func CheckName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("profile %.80q: invalid name: use up to 64 letters, digits, points, hyphens and underscores", name)
	}
	return nil
}

// TokenSource returns a source of access tokens that shares the sign-in with all processes that use
// the profile. The caller closes it. Without a sign-in its error Is [token.ErrReauthRequired].
func (s *Store) TokenSource(p *Profile) (*token.RefreshSource, error) {
	secret, err := s.Secret(p.Name, ClientSecret)
	if err != nil {
		return nil, err
	}
	source, err := token.NewRefreshSource(token.RefreshConfig{
		TokenURL: p.TokenURL, ClientID: p.ClientID, ClientSecret: secret, Audience: p.Audience, Store: s.Tokens(p.Name),
	})
	if err != nil {
		return nil, fmt.Errorf("profile %q: %w", p.Name, err)
	}
	return source, nil
}
