package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// asProcess makes the test binary run the program, for tests that need a process.
const asProcess = "SELLSIDE_TEST_AS_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestRun_ChecksTheCommandLine(t *testing.T) {
	env := settings{"SELLSIDE_BASE_URL": "http://127.0.0.1:1/v2", "SELLSIDE_API_KEY": "the-key", "SELLSIDE_TOKEN": "the-token", "XDG_STATE_HOME": t.TempDir()}
	good := stockFile(t, "DZ5485-612,10,300,USD,1")
	for _, row := range []struct {
		env  settings
		args []string
		code int
		says string
		why  string
	}{
		{nil, nil, 0, "", "help"},
		{nil, []string{"--help"}, 0, "", "help by its flag"},
		{nil, []string{"--version"}, 0, "", "the version"},
		{nil, []string{"buy"}, 2, `unknown command "buy": see sellside --help`, "an unknown command"},
		{nil, []string{"demonstrate"}, 2, `unknown command "demonstrate"`, "another unknown command"},
		{nil, []string{"sandbx"}, 2, "did you mean sandbox?", "a typo"},
		{nil, []string{"sell"}, 2, "an argument is missing: run it as sellside sell INVENTORY.csv", "no inventory"},
		{nil, []string{"demo", "now"}, 2, `unexpected argument "now"`, "too many arguments"},
		{nil, []string{"sell", "--fast", good}, 2, "unknown flag: --fast: see sellside sell --help", "an unknown flag"},
		{nil, []string{"sell", good}, 2, "the access token is missing: set SELLSIDE_TOKEN, sign in with sellside login, or use --token", "no credentials"},
		{env, []string{"sell", "nowhere.csv"}, 2, "read inventory: open nowhere.csv", "no such file"},
		{env, []string{"sell", t.TempDir()}, 2, "read inventory: ", "a directory"},
		{env, []string{"sell", good, "--base-url", "http://example.com/v2"}, 2, "https", "credentials without TLS"},
		{env, []string{"sell", good, "--quota", "half"}, 2, `--quota ("half"): use public or none`, "an unknown quota"},
		{env, []string{"sandbox", "--addr", "nowhere"}, 2, "choose another --addr", "an invalid address"},
	} {
		got := sellside(t.Context(), row.env, row.args...)
		assert.Equal(t, row.code, got.code, "%s: %s", row.why, got.errors)
		assert.Contains(t, got.errors, row.says, row.why)
		assert.NotContains(t, got.errors, "the-key", row.why)
		assert.NotContains(t, got.errors, "the-token", row.why)
		for line := range strings.Lines(got.errors) {
			assert.True(t, strings.HasPrefix(line, "sellside: "), "%s: an error is one line: %q", row.why, line)
		}
		if row.code == 0 {
			assert.NotEmpty(t, got.out, row.why)
		}
	}
}

func TestConnection_KeepsToTheQuotaUnlessLocal(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:8080/v2": true, "http://localhost/v2": true, "http://[::1]:1/v2": true,
		"https://api.example.com/v2": false, "https://127.0.0.1.example.com/v2": false, "https://10.0.0.1/v2": false,
	} {
		assert.Equal(t, want, (&connection{baseURL: url}).isLocal(), url)
	}
}
