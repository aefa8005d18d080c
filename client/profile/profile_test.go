package profile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	system "github.com/zalando/go-keyring"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeKeyring keeps secrets in memory, up to a length.
type fakeKeyring struct {
	mu      sync.Mutex
	secrets map[string]string
	longest int           // Zero for no limit.
	err     error         // Of every call.
	takes   time.Duration // Of every call.
}

func (k *fakeKeyring) wait() {
	k.mu.Lock()
	takes := k.takes
	k.mu.Unlock()
	<-time.After(takes)
}

// works ends whatever was wrong with the keyring.
func (k *fakeKeyring) works() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err, k.takes = nil, 0
}

func (k *fakeKeyring) Get(_, user string) (string, error) {
	k.wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	secret, ok := k.secrets[user]
	if !ok {
		return "", errors.Join(system.ErrNotFound, k.err)
	}
	return secret, k.err
}

func (k *fakeKeyring) Set(_, user, secret string) error {
	k.wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.longest > 0 && len(secret) > k.longest {
		return system.ErrSetDataTooBig
	}
	if k.err == nil {
		k.secrets[user] = secret
	}
	return k.err
}

func (k *fakeKeyring) Delete(_, user string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.secrets, user)
	return k.err
}

func newStore(t *testing.T) (*Store, *fakeKeyring, *[]string) {
	t.Helper()
	var warnings []string
	k := &fakeKeyring{secrets: map[string]string{}}
	s := OpenDir(filepath.Join(t.TempDir(), "sellside"), func(text string) { warnings = append(warnings, text) })
	s.keyring = k
	return s, k, &warnings
}

func TestStore_KeepsProfiles(t *testing.T) {
	s, _, _ := newStore(t)
	_, err := s.Get("")
	require.ErrorIs(t, err, ErrNoProfile)
	first := Profile{
		Name: "first", BaseURL: "https://api.example.com/v2", ClientID: "c", RedirectURL: "http://127.0.0.1:8765/callback?a=1&b=2",
		Scopes: []string{"openid"}, AnyPort: true,
	}
	require.NoError(t, s.Put(t.Context(), first))
	require.NoError(t, s.Put(t.Context(), Profile{Name: "second", BaseURL: "https://b.example.com/v2"}))
	got, err := s.Get("")
	require.NoError(t, err)
	assert.Equal(t, first, *got, "the first one is the current one")
	require.NoError(t, s.Use(t.Context(), "second"))
	names, current, err := s.Names()
	require.NoError(t, err)
	assert.Equal(t, []string{"first", "second"}, names)
	assert.Equal(t, "second", current)
	require.ErrorIs(t, s.Use(t.Context(), "third"), ErrNoProfile)
	require.NoError(t, s.Remove(t.Context(), "second"))
	require.ErrorIs(t, s.Remove(t.Context(), "second"), ErrNoProfile)
	for _, name := range []string{"", "..", "a/b", `a\b`, ".hidden", "a b"} {
		require.Error(t, s.Put(t.Context(), Profile{Name: name}), name)
		_, err := s.Secret(name, APIKey)
		require.Error(t, err, name)
	}
}

func TestStore_ReportsADamagedFile(t *testing.T) {
	s, _, _ := newStore(t)
	require.NoError(t, s.Put(t.Context(), Profile{Name: "first"}))
	for _, text := range []string{"", "{", `{"profiles":{"../x":{}}}`, `{"profiles":{"first":null}}`} {
		require.NoError(t, os.WriteFile(s.file(), []byte(text), 0o600))
		_, err := s.Get("first")
		require.Error(t, err, text)
		require.NotErrorIs(t, err, ErrNoProfile, text)
		require.Error(t, s.Put(t.Context(), Profile{Name: "second"}), "it is not overwritten: %s", text)
	}
}

func TestStore_ChangesOfSeveralProcessesAreAllKept(t *testing.T) {
	s, _, _ := newStore(t)
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		writers.Go(func() { assert.NoError(t, OpenDir(s.dir, nil).Put(t.Context(), Profile{Name: name})) })
	}
	writers.Wait()
	names, _, err := s.Names()
	require.NoError(t, err)
	assert.Len(t, names, 8)
}

func TestSecrets_GoToTheKeyring(t *testing.T) {
	s, k, warnings := newStore(t)
	require.NoError(t, s.SetSecret("p", APIKey, "hush"))
	got, err := s.Secret("p", APIKey)
	require.NoError(t, err)
	assert.Equal(t, "hush", got)
	assert.NoFileExists(t, s.secretFile("p", APIKey))
	assert.Empty(t, *warnings)
	require.NoError(t, s.SetSecret("p", APIKey, ""))
	assert.Empty(t, k.secrets)
}

func TestSecrets_GoToAFileWithoutAKeyring(t *testing.T) {
	for why, broken := range map[string]func(*fakeKeyring){
		"no keyring":             func(k *fakeKeyring) { k.err = errors.New("no bus") },
		"one that never returns": func(k *fakeKeyring) { k.takes = time.Hour },
	} {
		s, k, warnings := newStore(t)
		synctest.Test(t, func(t *testing.T) {
			broken(k)
			require.NoError(t, s.SetSecret("p", APIKey, "hush"), why)
			got, err := s.Secret("p", APIKey)
			require.NoError(t, err)
			assert.Equal(t, "hush", got, why)
			info, err := os.Stat(s.secretFile("p", APIKey))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			require.Len(t, *warnings, 1, why)
			assert.NotContains(t, (*warnings)[0], "hush")

			k.works()
			require.NoError(t, s.SetSecret("p", APIKey, "newer"), "the keyring is back")
			assert.NoFileExists(t, s.secretFile("p", APIKey), "an old file would come before the keyring")
			<-time.After(2 * time.Hour) // until the calls that were given up have returned
		})
	}
}

func TestTokens_AreSharedAndFitTheKeyring(t *testing.T) {
	s, k, warnings := newStore(t)
	k.longest = 100
	store := s.Tokens("p")
	unlock, err := store.Lock(t.Context())
	require.NoError(t, err)
	long := token.Tokens{RefreshToken: "r", AccessToken: string(make([]byte, 200)), Expiry: time.Unix(1, 0).UTC()}
	require.NoError(t, store.Save(t.Context(), long))
	got, err := s.Tokens("p").Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, token.Tokens{RefreshToken: "r"}, got, "the refresh token comes first")
	assert.Empty(t, *warnings)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = s.Tokens("p").Lock(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, unlock())

	k.secrets["p/tokens"] = "the_refresh_token"
	_, err = store.Load(t.Context())
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "the_refresh_token")
	require.NoError(t, s.SetTokens(t.Context(), "p", token.Tokens{}))
	got, err = store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, token.Tokens{}, got)
}
