package client_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/token"
)

// writings are ways to write a secret in any place of a response. Package guard tests the others.
func writings() map[string]func(string) string {
	each := func(format string) func(string) string {
		return func(s string) string {
			var text strings.Builder
			for i := range len(s) {
				fmt.Fprintf(&text, format, s[i])
			}
			return text.String()
		}
	}
	return map[string]func(string) string{
		"as it is":            func(s string) string { return s },
		"escaped for a query": url.QueryEscape,
		"escaped for a path":  url.PathEscape,
		"percent, small digits": func(s string) string {
			return strings.NewReplacer("%2F", "%2f", "%2B", "%2b").Replace(url.QueryEscape(s))
		},
		"percent, every byte": each("%%%02X"),
	}
}

// told is everything that a client has told somebody.
type told struct {
	mu    sync.Mutex
	texts map[string]string // With what brought them.
	lines []logged
	kinds map[string]int
}

// logged is the log of one client.
type logged struct {
	what string
	*bytes.Buffer
}

func newTold() *told {
	return &told{texts: map[string]string{}, kinds: map[string]int{}}
}

// logger keeps every line, from debug on, as text and as JSON.
func (l *told) logger(what string) *slog.Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	buffer := new(bytes.Buffer)
	l.lines = append(l.lines, logged{what, buffer})
	all := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	return slog.New(slog.NewMultiHandler(slog.NewTextHandler(buffer, all), slog.NewJSONHandler(buffer, all)))
}

// value keeps what every verb prints of a value.
func (l *told) value(what string, value any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds[fmt.Sprintf("%T", value)]++
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		l.texts[fmt.Sprintf(verb, value)] = fmt.Sprintf("%s: %s of a %T", what, verb, value)
	}
	if e, ok := value.(client.Event); ok && e.Err != nil {
		l.texts[e.Err.Error()] = what + ": the error of an event"
	}
}

// failure keeps an error, every error below it, and what their fields hold.
func (l *told) failure(what string, err error) {
	if err == nil {
		return
	}
	l.value(what, err)
	l.value(what, []string{err.Error()})
	switch e := err.(type) { //nolint:errorlint // it unwraps below
	case *client.APIError:
		l.value(what, *e)
		l.value(what, []string{string(e.Body), e.Message, e.RequestID})
	case *client.TransportError:
		l.value(what, *e)
	case *client.DecodeError:
		l.value(what, *e)
	case *token.Error:
		l.value(what, *e)
	case *client.OperationError:
		l.value(what, *e)
	case *client.BatchError:
		l.value(what, *e)
	case *client.WaitError:
		l.value(what, *e)
		if e.Operation != nil {
			l.value(what, *e.Operation)
		}
	}
	switch e := err.(type) { //nolint:errorlint // it unwraps
	case interface{ Unwrap() error }:
		l.failure(what, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			l.failure(what, below)
		}
	}
}

// search looks for the secrets in all of it, in every form that one of the writings or of the verbs gives them.
func (l *told) search(t *testing.T, secrets ...string) {
	t.Helper()
	for _, log := range l.lines {
		l.texts[log.String()] = log.what + ": logged"
	}
	require.Greater(t, len(l.texts), 5_000)
	for _, kind := range []string{
		"client.Event", "*client.APIError", "*client.TransportError", "*client.DecodeError", "*token.Error", "*client.OperationError",
		"*client.BatchError", "*client.WaitError", "*client.Client", "*token.RefreshSource", "token.RefreshConfig",
	} {
		assert.NotZero(t, l.kinds[kind], "the search has not met a %s", kind)
	}
	forms := map[string]bool{}
	for _, secret := range secrets {
		for _, write := range writings() {
			form := write(secret)
			//nolint:staticcheck // bytes are printed as numbers on purpose
			for _, text := range []string{form, strconv.Quote(form), fmt.Sprint([]byte(form)), fmt.Sprintf("%#v", []byte(form)), hex.EncodeToString([]byte(form))} {
				forms[strings.TrimSuffix(strings.TrimPrefix(strings.Trim(text, `"[]=`), "[]byte{"), "}")] = true
			}
		}
		forms[secret[:len(secret)*2/3]] = true // most of one is as bad
	}
	leaks := 0
	for text, from := range l.texts {
		for form := range forms {
			if strings.Contains(text, form) && leaks < 10 {
				leaks++
				t.Errorf("%s: found %q in %.600s", from, form, text)
			}
		}
	}
	t.Logf("searched %d texts for %d forms of the secrets", len(l.texts), len(forms))
}
