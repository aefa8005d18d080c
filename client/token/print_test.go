package token_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// Structs that programs put sources and configurations into. fmt calls no methods in unexported
// fields.
type (
	exportedSource   struct{ Source oauth2.TokenSource }
	unexportedSource struct{ source oauth2.TokenSource }
	embeddedSource   struct{ oauth2.TokenSource }

	exportedRefresh   struct{ Source *token.RefreshSource }
	unexportedRefresh struct{ source *token.RefreshSource }
	embeddedRefresh   struct{ *token.RefreshSource }

	exportedConfig  struct{ Config token.RefreshConfig }
	exportedPointer struct{ Config *token.RefreshConfig }
	embeddedConfig  struct{ token.RefreshConfig }
	embeddedPointer struct{ *token.RefreshConfig }
)

// unexportedCopy returns a struct with a copy of *value in an unexported field. (vet refuses to
// copy a lock, except in generic code.)
func unexportedCopy[T any](value *T) any { return struct{ value T }{*value} }

func TestSources_PrintNoSecret(t *testing.T) {
	response := respondGrant(secretAccess, `"expires_in":43200`, `"refresh_token":"`+secretNext+`"`)
	source := overHTTP(t, response, withSecrets)
	require.Equal(t, secretAccess, accessToken(t, source))
	require.NoError(t, source.Close(), "so that it can be copied")
	static := token.Static(secretAccess)

	for _, value := range []any{
		source, static, &static,
		exportedSource{source},
		&exportedSource{source},
		exportedSource{static},
		unexportedSource{source},
		&unexportedSource{source},
		unexportedSource{static},
		embeddedSource{source},
		&embeddedSource{source},
		embeddedSource{static},
		exportedRefresh{source},
		unexportedRefresh{source},
		embeddedRefresh{source},
		unexportedCopy(source), unexportedCopy(&static),
		[]oauth2.TokenSource{source, static},
		map[string]any{"source": source, "static": static},
		source.Token,
	} {
		assertPrintsNoSecret(t, value, secretRefresh, secretClient, secretAccess, secretNext)
	}
}

// TestRefreshConfig_PrintsNoSecret has no unexported fields, where the secrets are printed, as
// Format documents.
func TestRefreshConfig_PrintsNoSecret(t *testing.T) {
	config := testConfig("https://auth.example.com/token")
	withSecrets(&config)
	for _, value := range []any{
		config, &config,
		exportedConfig{config},
		&exportedConfig{config},
		exportedPointer{&config},
		&exportedPointer{&config},
		embeddedConfig{config},
		&embeddedConfig{config},
		embeddedPointer{&config},
		&embeddedPointer{&config},
		[]any{config, &config},
		map[string]token.RefreshConfig{"": config},
	} {
		assertPrintsNoSecret(t, value, secretRefresh, secretClient)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		assert.Equal(t, "token.RefreshConfig", fmt.Sprintf(verb, config), verb)
	}
}

// assertPrintsNoSecret asserts that fmt, encoding/json and slog print no secret of a value.
func assertPrintsNoSecret(t *testing.T, value any, secrets ...string) {
	t.Helper()
	assertSecretFree(t, value, secrets...)
	var text bytes.Buffer
	_ = json.NewEncoder(&text).Encode(value) // not every value can be encoded
	slog.New(slog.NewTextHandler(&text, nil)).Info("text", "value", value)
	slog.New(slog.NewJSONHandler(&text, nil)).Info("json", "value", value)
	for _, secret := range secrets {
		assert.NotContains(t, text.String(), secret, "encoding of a %T", value)
	}
}

func TestRefreshConfig_IsReadFromJSON(t *testing.T) {
	var config token.RefreshConfig
	require.NoError(t, json.Unmarshal([]byte(`{"ClientSecret":"secret"}`), &config))
	assert.Equal(t, "secret", config.ClientSecret)
}
