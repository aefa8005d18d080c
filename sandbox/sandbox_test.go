package sandbox_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestSandboxesInMemoryShareNothing(t *testing.T) {
	one, other := open(t), open(t)
	one.sell("200")
	assert.Equal(t, 1, one.get("/selling/listings").len("listings"))
	assert.Equal(t, 0, other.get("/selling/listings").len("listings"))
}

func TestTheSameCallsGiveTheSameIDs(t *testing.T) {
	seed := func(n uint64) func(*sandbox.Options) { return func(o *sandbox.Options) { o.Seed = n } }
	assert.Equal(t, open(t, seed(1)).sell("200"), open(t, seed(1)).sell("200"))
	assert.NotEqual(t, open(t, seed(1)).sell("200"), open(t, seed(2)).sell("200"))
}

func TestAFileKeepsWhatWasDone(t *testing.T) {
	file := tempFile(t)
	first := open(t, inFile(file))
	id := first.sell("200")
	require.NoError(t, first.Close())

	second := open(t, inFile(file))
	assert.Equal(t, "ACTIVE", second.get("/selling/listings/%s", id).text("status"))
	assert.NotEqual(t, id, second.sell("200"), "ids are not given out twice")
}

func TestADatabaseThatCannotBeOpenedIsReported(t *testing.T) {
	_, err := sandbox.New(sandbox.Options{DB: t.TempDir()})
	require.ErrorContains(t, err, "sandbox: open database")
}

func TestCloseTwiceIsOneClose(t *testing.T) {
	s, err := sandbox.New(sandbox.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
}

func TestRequestsAfterCloseAreAnswered500(t *testing.T) {
	m := open(t)
	require.NoError(t, m.Close())
	m.call(http.MethodGet, "/selling/listings", nil).refused(http.StatusInternalServerError, "failed", "the database is closed")
}

func TestRequestsAreLoggedWithoutSecrets(t *testing.T) {
	var log bytes.Buffer
	m := open(t, func(o *sandbox.Options) {
		o.APIKey, o.Token = "key-of-the-test", "token-of-the-test"
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	m.get("/catalog/search?query=chicago")
	wrong := m.request(http.MethodGet, "/selling/listings", nil)
	wrong.Header.Set("x-api-key", "another-key")
	m.send(wrong)
	assert.Contains(t, log.String(), "path=/v2/catalog/search status=200")
	assert.Contains(t, log.String(), "path=/v2/selling/listings status=401")
	for _, secret := range []string{"key-of-the-test", "token-of-the-test", "another-key"} {
		assert.NotContains(t, log.String(), secret)
	}
}

func TestWithoutDelayWorkIsDueAtOnce(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.Delay = -time.Second })
	a := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": "200"})
	require.NoError(t, m.Work(t.Context()))
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", a.text("listingId")).text("status"))
}

func TestCredentialsThatNoHeaderCarriesAreRefusedByName(t *testing.T) {
	for _, row := range []struct {
		opts sandbox.Options
		says string
		why  string
	}{
		{sandbox.Options{APIKey: "secret "}, "the APIKey:", "a server takes the space for nothing"},
		{sandbox.Options{Token: " secret"}, "the Token:", "so it does in front"},
		{sandbox.Options{Token: "sec\nret"}, "the Token:", "a header is one line"},
		{sandbox.Options{ControlKey: "secret\x00"}, "the ControlKey:", "a control character"},
		{sandbox.Options{Accounts: []sandbox.Account{{Name: "b", APIKey: "secret\r"}}}, `the APIKey of account "b":`, "those of all accounts"},
		{sandbox.Options{Accounts: []sandbox.Account{{Name: "b", Token: "\tsecret"}}}, `the Token of account "b":`, "both of them"},
	} {
		_, err := sandbox.New(row.opts)
		require.ErrorContains(t, err, "sandbox: options: no header can carry "+row.says, row.why)
		assert.NotContains(t, err.Error(), "sec", row.why)
	}
	m := open(t, func(o *sandbox.Options) { o.APIKey, o.Token = "one key", "one token, with spaces" })
	m.get("/selling/listings")
}

func TestASandboxAndItsOptionsPrintNoSecrets(t *testing.T) {
	opts := sandbox.Options{
		DB: tempFile(t), Seed: 7, APIKey: "secret-1", Token: "secret-2", RefreshToken: "secret-3", ControlKey: "secret-4",
		Accounts: []sandbox.Account{{Name: "b", APIKey: "secret-5"}},
	}
	s, err := sandbox.New(opts)
	require.NoError(t, err)
	defer s.Close()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		assert.Equal(t, fmt.Sprintf("sandbox.Options of database %q and seed 7", opts.DB), fmt.Sprintf(verb, opts), verb)
		assert.Equal(t, fmt.Sprintf("sandbox.Options of database %q and seed 7", opts.DB), fmt.Sprintf(verb, &opts), verb)
		assert.Equal(t, "sandbox.Sandbox", fmt.Sprintf(verb, s), verb)
	}
}

func TestHealthIsThatOfTheDatabase(t *testing.T) {
	for name, file := range map[string]string{"in memory": "", "in a file": tempFile(t)} {
		m := open(t, inFile(file), held(quota.Quota{RequestsPerDay: 1}))
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))
		health := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, sandbox.HealthPath, nil))
			return w
		}
		for range 3 {
			assert.Equal(t, http.StatusOK, health().Code, "%s: without credentials, quota and faults", name)
		}
		assert.JSONEq(t, `{"status":"ok"}`, health().Body.String(), name)
		require.NoError(t, m.Close())
		assert.Equal(t, http.StatusServiceUnavailable, health().Code, name)
		assert.JSONEq(t, `{"status":"unavailable"}`, health().Body.String(), name)
		assert.Empty(t, m.Counters(), name)
	}
}

func TestManyClientsAtOnceLoseNothing(t *testing.T) {
	for name, file := range map[string]string{"in memory": "", "in a file": tempFile(t)} {
		t.Run(name, func(t *testing.T) {
			m := open(t, inBackground, inFile(file), func(o *sandbox.Options) { o.Delay = -1 })
			const clients, each = 8, 10
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for range each {
						a := m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": chicago(t), "amount": "200"})
						assert.Equal(t, http.StatusCreated, a.status)
						assert.Equal(t, http.StatusOK, m.call(http.MethodGet, "/selling/listings?pageSize=5", nil).status)
					}
				})
			}
			wg.Wait()
			require.NoError(t, m.Work(t.Context()))
			a := m.get("/selling/listings?listingStatuses=ACTIVE&pageSize=100")
			assert.Equal(t, clients*each, a.len("listings"))
		})
	}
}
