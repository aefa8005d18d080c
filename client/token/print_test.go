package token_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// holds puts the value into an unexported field, where fmt calls no method. (Of a type with a lock, it is a copy that
// vet would refuse.)
func holds[T any](value *T) any { return struct{ value T }{*value} }

// What programs build around sources and configurations.
type (
	withSource  struct{ Source oauth2.TokenSource }
	holdsSource struct{ source oauth2.TokenSource }
	embedSource struct{ oauth2.TokenSource }

	withRefresh  struct{ Source *token.RefreshSource }
	holdsRefresh struct{ source *token.RefreshSource }
	embedRefresh struct{ *token.RefreshSource }

	withConfig   struct{ Config token.RefreshConfig }
	pointsConfig struct{ Config *token.RefreshConfig }
	embedConfig  struct{ token.RefreshConfig }
	embedPointer struct{ *token.RefreshConfig }
)

// everyVerb is each verb of fmt, and some that are none, with the flags that change what is printed.
var everyVerb = func() []string {
	var verbs []string
	for _, verb := range "vsqdxXtbcoOeEfFgGUpTwz" {
		for _, flags := range []string{"", "+", "#", "+#", " ", "-20", ".3"} {
			verbs = append(verbs, "%"+flags+string(verb))
		}
	}
	return verbs
}()

// TestPrint_NoSecret prints sources, wherever they are, in every way that fmt, encoding/json and slog have.
func TestPrint_NoSecret(t *testing.T) {
	source := overHTTP(t, grants(secretAccess, `"expires_in":43200`, `"refresh_token":"`+secretNext+`"`), withSecrets)
	got, err := source.Token()
	require.NoError(t, err)
	require.Equal(t, secretAccess, got.AccessToken)
	require.NoError(t, source.Close(), "so that nothing else touches what is copied below")
	static := token.Static(secretAccess)
	secrets := []string{secretRefresh, secretClient, secretAccess, secretNext}

	for _, value := range []any{
		source,
		withSource{source},
		&withSource{source},
		holdsSource{source},
		&holdsSource{source},
		embedSource{source},
		&embedSource{source},
		withRefresh{source},
		&withRefresh{source},
		holdsRefresh{source},
		&holdsRefresh{source},
		embedRefresh{source},
		&embedRefresh{source},
		static, &static,
		withSource{static},
		&withSource{static},
		holdsSource{static},
		&holdsSource{static},
		embedSource{static},
		&embedSource{static},
		[]oauth2.TokenSource{source, static},
		map[string]any{"source": source, "static": static},
		func() (*oauth2.Token, error) { return source.Token() },
		reflect.ValueOf(source).Elem(), reflect.ValueOf(static).Elem(), holds(source), new(holds(source)), holds(&source), holds(&static),
	} {
		assertPrintsNoSecret(t, value, everyVerb, secrets)
	}
}

// TestPrint_NoSecretOfAConfig has fewer verbs and places: the secrets are plain strings, and fmt prints them where it
// calls no method, which is in unexported fields and for verbs that it does not know. vet finds the latter.
func TestPrint_NoSecretOfAConfig(t *testing.T) {
	config := aConfig("https://auth.example.com/token")
	withSecrets(&config)
	verbs := slices.DeleteFunc(slices.Clone(everyVerb), func(verb string) bool { return strings.ContainsAny(verb, "wpT") })
	for _, value := range []any{
		config, &config,
		withConfig{config},
		&withConfig{config},
		pointsConfig{&config},
		&pointsConfig{&config},
		embedConfig{config},
		&embedConfig{config},
		embedPointer{&config},
		&embedPointer{&config},
		[]any{config, &config},
		map[string]any{"config": config},
		[1]token.RefreshConfig{config},
		map[string]token.RefreshConfig{"": config},
	} {
		assertPrintsNoSecret(t, value, verbs, []string{secretRefresh, secretClient})
	}
}

func assertPrintsNoSecret(t *testing.T, value any, verbs, secrets []string) {
	t.Helper()
	for _, verb := range verbs {
		assertNoSecret(t, fmt.Sprintf(verb, value), secrets, "%s of a %T", verb, value)
	}
	if text, err := json.Marshal(value); err == nil {
		assertNoSecret(t, string(text), secrets, "JSON of a %T", value)
	}
	var lines bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&lines, nil), slog.NewJSONHandler(&lines, nil)} {
		slog.New(handler).With("with", value).WithGroup("group").Info("made", "value", value, slog.Group("inner", "value", value))
	}
	assertNoSecret(t, lines.String(), secrets, "slog of a %T", value)
}

// assertNoSecret looks for secrets as they are, in hexadecimal and as the numbers of their bytes.
func assertNoSecret(t *testing.T, text string, secrets []string, format string, args ...any) {
	t.Helper()
	for _, secret := range secrets {
		for _, verb := range []string{"%s", "%x", "%X", "% x", "%d"} {
			form := fmt.Sprintf(verb, []byte(secret))
			assert.NotContains(t, text, form[1:len(form)-1], append([]any{format}, args...)...)
		}
	}
}

func TestRefreshConfig_PrintsItsName(t *testing.T) {
	config := aConfig("https://auth.example.com/token")
	assert.Equal(t, "token.RefreshConfig", fmt.Sprintf("%+v", config))
	text, err := json.Marshal(map[string]any{"config": &config})
	require.NoError(t, err)
	assert.JSONEq(t, `{"config":"token.RefreshConfig"}`, string(text))

	var read token.RefreshConfig
	require.NoError(t, json.Unmarshal([]byte(`{"ClientSecret":"secret"}`), &read), "it can still be read")
	assert.Equal(t, "secret", read.ClientSecret)
	_, err = fmt.Fprint(io.Discard, read)
	require.NoError(t, err)
}
