package serve_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

func get(t *testing.T, url string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func TestStopLetsRequestsFinish(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	s, err := serve.Start(t.Context(), "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-finish
		_, _ = io.WriteString(w, "done")
	}), quiet)
	require.NoError(t, err)
	answer := make(chan string)
	go func() {
		body, _ := get(t, s.URL())
		answer <- body
	}()
	<-begun
	stopped := make(chan error)
	go func() { stopped <- s.Stop() }()
	require.ErrorIs(t, <-s.Failed(), http.ErrServerClosed)
	close(finish)
	assert.Equal(t, "done", <-answer)
	require.NoError(t, <-stopped)
	_, err = get(t, s.URL())
	require.Error(t, err, "nobody listens any more")
}

func TestURLCanBeReachedWhateverItListensOn(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "0.0.0.0:0"} {
		s, err := serve.Start(t.Context(), address, http.NotFoundHandler(), quiet)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(s.URL(), "http://127.0.0.1:"), s.URL())
		_, err = get(t, s.URL())
		require.NoError(t, err)
		require.NoError(t, s.Stop())
	}
}

func TestStartSaysWhyItCannotListen(t *testing.T) {
	s, err := serve.Start(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), quiet)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Stop()) }()
	_, err = serve.Start(t.Context(), strings.TrimPrefix(s.URL(), "http://"), http.NotFoundHandler(), quiet)
	require.ErrorContains(t, err, "listen: ")
}
