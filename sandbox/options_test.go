package sandbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

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
