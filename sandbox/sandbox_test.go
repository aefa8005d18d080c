package sandbox_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
