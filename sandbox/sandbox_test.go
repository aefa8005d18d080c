package sandbox_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestSandbox_InMemorySharesNothing(t *testing.T) {
	one, other := open(t), open(t)
	one.sell("200")
	assert.Equal(t, 1, one.get("/selling/listings").len("listings"))
	assert.Equal(t, 0, other.get("/selling/listings").len("listings"))
}

func TestSandbox_FileSurvivesARestart(t *testing.T) {
	file := tempFile(t)
	first := open(t, inFile(file))
	id := first.sell("200")
	require.NoError(t, first.Close())

	second := open(t, inFile(file))
	assert.Equal(t, "ACTIVE", second.get("/selling/listings/%s", id).text("status"))
	assert.NotEqual(t, id, second.sell("200"), "ids do not repeat")
}

func TestSandbox_ReportsADatabaseThatCannotBeOpened(t *testing.T) {
	_, err := sandbox.New(sandbox.Options{DB: t.TempDir()})
	require.ErrorContains(t, err, "sandbox: open database")
}

func TestSandbox_ClosesTwice(t *testing.T) {
	s, err := sandbox.New(sandbox.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
}

func TestSandbox_RequestsAfterCloseFail(t *testing.T) {
	m := open(t)
	require.NoError(t, m.Close())
	m.call(http.MethodGet, "/selling/listings", nil).
		refused(http.StatusInternalServerError, "", "the database is closed")
}

func TestSandbox_WithoutDelayWorkIsDueAtOnce(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.Delay = -time.Second })
	a := m.createListing("200", nil)
	require.NoError(t, m.Work(t.Context()))
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", a.text("listingId")).text("status"))
}

func TestOptions_RefuseCredentialsThatNoHeaderCarries(t *testing.T) {
	for _, row := range []struct {
		opts sandbox.Options
		name string
		why  string
	}{
		{sandbox.Options{APIKey: "secret "}, "APIKey", "a space at the end"},
		{sandbox.Options{Token: " secret"}, "Token", "a space in front"},
		{sandbox.Options{Token: "sec\nret"}, "Token", "a line end"},
		{sandbox.Options{ControlKey: "secret\x00"}, "ControlKey", "a control character"},
		{
			sandbox.Options{Accounts: []sandbox.Account{{Name: "b", APIKey: "secret\r"}}},
			`APIKey of account "b"`, "of any account",
		},
		{
			sandbox.Options{Accounts: []sandbox.Account{{Name: "b", Token: "\tsecret"}}},
			`Token of account "b"`, "a tab",
		},
	} {
		_, err := sandbox.New(row.opts)
		require.ErrorIs(t, err, sandbox.ErrInvalidOptions, row.why)
		require.ErrorContains(t, err, ": "+row.name+":", row.why)
		assert.NotContains(t, err.Error(), "sec", row.why)
	}
	m := open(t, func(o *sandbox.Options) { o.APIKey, o.Token = "one key", "one token, with spaces" })
	m.get("/selling/listings")
}

func TestOptions_PrintNoSecrets(t *testing.T) {
	opts := sandbox.Options{
		DB: tempFile(t), Seed: 7, APIKey: "secret-1", Token: "secret-2", RefreshToken: "secret-3",
		ControlKey: "secret-4",
		Accounts:   []sandbox.Account{{Name: "b", APIKey: "secret-5"}},
	}
	s, err := sandbox.New(opts)
	require.NoError(t, err)
	defer s.Close()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		assert.Equal(t, fmt.Sprintf("sandbox.Options of database %q and seed 7", opts.DB),
			fmt.Sprintf(verb, opts), verb)
		assert.Equal(t, fmt.Sprintf("sandbox.Options of database %q and seed 7", opts.DB),
			fmt.Sprintf(verb, &opts), verb)
		assert.Equal(t, "sandbox.Sandbox", fmt.Sprintf(verb, s), verb)
	}
}

func TestHealth_IsThatOfTheDatabase(t *testing.T) {
	for name, file := range map[string]string{"in memory": "", "in a file": tempFile(t)} {
		m := open(t, inFile(file), withQuota(quota.Quota{RequestsPerDay: 1}))
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))
		health := func() *httptest.ResponseRecorder { return m.health(http.MethodGet) }
		for range 3 {
			assert.Equal(t, http.StatusOK, health().Code,
				"%s: without credentials, quota and faults", name)
		}
		assert.JSONEq(t, `{"status":"ok"}`, health().Body.String(), name)
		require.NoError(t, m.Close())
		assert.Equal(t, http.StatusServiceUnavailable, health().Code, name)
		assert.JSONEq(t, `{"status":"unavailable"}`, health().Body.String(), name)
		assert.Empty(t, m.Counters(), name)
	}
}

// health makes a health check.
func (m *market) health(method string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(m.t.Context(), method, sandbox.HealthPath, nil))
	return w
}

func TestHealth_FailsIfNothingCanBeWritten(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	require.Equal(t, http.StatusOK, m.health(http.MethodGet).Code)
	db, err := sql.Open("sqlite", "file:"+file)
	require.NoError(t, err)
	defer db.Close()
	for _, event := range []string{"INSERT", "UPDATE"} { // as if the disk were full
		_, err := db.ExecContext(t.Context(), `CREATE TRIGGER full_`+event+` BEFORE `+event+` ON counters BEGIN SELECT RAISE(ROLLBACK, 'full'); END`)
		require.NoError(t, err)
	}
	assert.Equal(t, http.StatusServiceUnavailable, m.health(http.MethodGet).Code)
	assert.Equal(t, http.StatusServiceUnavailable, m.health(http.MethodHead).Code)
	m.get("/selling/listings")
	_, err = db.ExecContext(t.Context(), `DROP TRIGGER full_INSERT; DROP TRIGGER full_UPDATE`)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, m.health(http.MethodGet).Code, "it recovers")
}

func TestHealth_OnlyGETAndHEAD(t *testing.T) {
	m := open(t)
	assert.Equal(t, http.StatusOK, m.health(http.MethodHead).Code)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		w := m.health(method)
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"), method)
	}
}

func TestSandbox_OneAtATimeHasAFile(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	_, err := sandbox.New(sandbox.Options{DB: file})
	require.ErrorContains(t, err, file)
	m.get("/selling/listings")
	require.NoError(t, m.Close())
	open(t, inFile(file))
}

func TestSandbox_ServesConcurrentClients(t *testing.T) {
	for name, file := range map[string]string{"in memory": "", "in a file": tempFile(t)} {
		t.Run(name, func(t *testing.T) {
			m := open(t, inBackground, inFile(file), func(o *sandbox.Options) { o.Delay = -1 })
			const clients, each = 8, 10
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for range each {
						a := m.createListing("200", nil)
						assert.Equal(t, http.StatusCreated, a.status)
						assert.Equal(t, http.StatusOK,
							m.call(http.MethodGet, "/selling/listings?pageSize=5", nil).status)
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
