package client_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// environmentOf sets variables, and unsets the others that FromEnv reads.
func environmentOf(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		"BASE_URL", "API_KEY", "TOKEN", "REFRESH_TOKEN", "TOKEN_URL", "CLIENT_ID", "CLIENT_SECRET", "AUDIENCE",
	} {
		t.Setenv("SELLSIDE_"+name, variables[name])
	}
}

func TestFromEnv_ReportsEveryVariable(t *testing.T) {
	complete := map[string]string{"BASE_URL": "https://api.example.com/v2", "API_KEY": secretKey, "TOKEN": secretToken}
	refresh := map[string]string{
		"TOKEN": "", "REFRESH_TOKEN": secretToken, "TOKEN_URL": "https://auth.example.com/token", "CLIENT_ID": "c",
	}
	for name, test := range map[string]struct {
		change map[string]string
		opts   []client.Option
		want   []string // The variables that the error names, and no others; empty if it must succeed.
	}{
		"complete":                        {},
		"empty":                           {change: map[string]string{"BASE_URL": "", "API_KEY": "", "TOKEN": ""}, want: []string{"BASE_URL", "API_KEY", "TOKEN", "REFRESH_TOKEN", "TOKEN_URL", "CLIENT_ID"}},
		"a wrong address":                 {change: map[string]string{"BASE_URL": "http://api.example.com"}, want: []string{"BASE_URL"}},
		"a key that no header can carry":  {change: map[string]string{"API_KEY": secretKey + "\n"}, want: []string{"API_KEY"}},
		"a token with its scheme":         {change: map[string]string{"TOKEN": "Bearer " + secretToken}, want: []string{"TOKEN"}},
		"both tokens":                     {change: map[string]string{"REFRESH_TOKEN": secretToken}, want: []string{"TOKEN", "REFRESH_TOKEN"}},
		"a refresh token":                 {change: refresh},
		"a refresh token alone":           {change: map[string]string{"TOKEN": "", "REFRESH_TOKEN": secretToken}, want: []string{"REFRESH_TOKEN", "TOKEN_URL", "CLIENT_ID"}},
		"a token URL in the clear":        {change: map[string]string{"TOKEN": "", "REFRESH_TOKEN": secretToken, "TOKEN_URL": "http://auth.example.com", "CLIENT_ID": "c"}, want: []string{"REFRESH_TOKEN", "TOKEN_URL"}},
		"settings of the service":         {change: map[string]string{"TOKEN_URL": "https://auth.example.com", "CLIENT_ID": "c"}},
		"an option instead of a variable": {change: map[string]string{"TOKEN": ""}, opts: []client.Option{client.WithToken(secretToken)}},
		"an option instead of two tokens": {change: map[string]string{"REFRESH_TOKEN": secretToken}, opts: []client.Option{client.WithTokenSource(token.Static(secretToken))}},
		"an option instead of a refresh":  {change: refresh, opts: []client.Option{client.WithToken(secretToken)}},
	} {
		t.Run(name, func(t *testing.T) {
			variables := map[string]string{}
			for _, set := range []map[string]string{complete, test.change} {
				maps.Copy(variables, set)
			}
			environmentOf(t, variables)

			c, err := client.FromEnv(test.opts...)

			if len(test.want) == 0 {
				require.NoError(t, err)
				require.NoError(t, c.Close())
				return
			}
			require.Error(t, err)
			assert.NotContains(t, err.Error(), secretKey)
			assert.NotContains(t, err.Error(), secretToken)
			var named []string
			for _, word := range strings.FieldsFunc(err.Error(), func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') }) {
				if name, ok := strings.CutPrefix(word, "SELLSIDE_"); ok {
					named = append(named, name)
				}
			}
			for _, name := range test.want {
				assert.Contains(t, named, name)
			}
			assert.Subset(t, test.want, named)
		})
	}
}

func TestFromEnv_RefreshesAndCloses(t *testing.T) {
	market := sandboxtest.New(t)
	environmentOf(t, map[string]string{
		"BASE_URL": market.URL, "API_KEY": market.APIKey(), "REFRESH_TOKEN": market.RefreshToken(),
		"TOKEN_URL": market.TokenURL, "CLIENT_ID": "reports",
	})
	c, err := client.FromEnv()
	require.NoError(t, err)

	_, err = c.Orders.ListActivePage(t.Context(), client.ActiveOrderFilter{})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	_, err = c.Orders.ListActivePage(t.Context(), client.ActiveOrderFilter{})
	require.ErrorIs(t, err, client.ErrClosed)

	assert.Equal(t, 1, market.Counters().Of("token"))
}

func TestWithUserAgent_PrecedesThatOfTheModule(t *testing.T) {
	var seen string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.UserAgent()
		serveExample(w, r)
	}))
	defer srv.Close()

	require.NoError(t, readCall.do(t.Context(), newServerClient(t, srv, client.WithUserAgent("repricer/1.2 (shop)"))))

	assert.Equal(t, "repricer/1.2 (shop) sellside-go/"+client.Version, seen)
}
