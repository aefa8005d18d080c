package guard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

func TestCredentialsGoOnlyWhereNobodyElseReadsThem(t *testing.T) {
	const inTheClear = "would send credentials in the clear: use https, or http to a loopback address"
	for _, tc := range []struct{ url, refused, why string }{
		{"https://api.example.com/v2", "", "encrypted"},
		{"HTTPS://api.example.com", "", "schemes have no case"},
		{"https://api.example.com:8443/v2/", "", "a port and a slash"},
		{"http://localhost:8080/v2", "", "this machine"},
		{"http://127.0.0.1/v2", "", "this machine, by number"},
		{"http://127.9.9.9", "", "all of 127/8 is"},
		{"http://[::1]:8080", "", "this machine, in IPv6"},

		{"http://api.example.com/v2", "http://api.example.com " + inTheClear, "anybody on the way reads it"},
		{"http://10.0.0.1", "http://10.0.0.1 " + inTheClear, "a private network is no loopback"},
		{"http://localhost.example.com", "http://localhost.example.com " + inTheClear, "nor is a name that begins like it"},
		{"http://127.0.0.1.example.com", "http://127.0.0.1.example.com " + inTheClear, "nor like this"},
		{"http://0.0.0.0", "http://0.0.0.0 " + inTheClear, "every address is more than the loopback"},
		{"ftp://localhost", "ftp://localhost " + inTheClear, "another scheme"},
		{"//api.example.com", "://api.example.com " + inTheClear, "none at all"},
		{"", "want scheme, host and path only, such as https://api.example.com/v2", "nothing"},
		{"https:///v2", "want scheme, host and path only, such as https://api.example.com/v2", "no host"},
		{"https://:443", "want scheme, host and path only, such as https://api.example.com/v2", "a port is no host"},
		{"api.example.com/v2", "want scheme, host and path only, such as https://api.example.com/v2", "a path, though it looks like a host"},
		{"https://api.example.com/v2?key=hidden", "want scheme, host and path only, such as https://api.example.com/v2", "a query would be lost or doubled"},
		{"https://api.example.com/v2?", "want scheme, host and path only, such as https://api.example.com/v2", "an empty one too"},
		{"https://api.example.com/v2#hidden", "want scheme, host and path only, such as https://api.example.com/v2", "a fragment is never sent"},
		{"https://hidden:secret@api.example.com", "it must not hold credentials", "they would stand in logs"},
		{"https://hidden@api.example.com", "it must not hold credentials", "a name alone too"},
		{"https://[hidden", "it does not parse as a URL", "broken"},
		{"https://api.example.com/\x7f", "it does not parse as a URL", "a control character"},
	} {
		u, err := guard.Endpoint(tc.url)
		if tc.refused == "" {
			require.NoError(t, err, tc.why)
			assert.NotEmpty(t, u.Host, tc.why)
			continue
		}
		require.EqualError(t, err, tc.refused, tc.why)
		assert.NotContains(t, err.Error(), "hidden", tc.why)
	}
}

func TestAHeaderCarriesVisibleASCII(t *testing.T) {
	for _, tc := range []struct {
		value string
		ok    bool
		why   string
	}{
		{"key-9f/2c+d==~!", true, "letters, digits and signs"},
		{"", false, "nothing"},
		{"two words", false, "a space"},
		{"key\n", false, "a line end, as files have"},
		{"key\r\nX-Other: y", false, "another header"},
		{"key\x00", false, "a zero byte"},
		{"key\x7f", false, "delete"},
		{"schl\u00fcssel", false, "beyond ASCII"},
		{"key\xff", false, "not even UTF-8"},
	} {
		err := guard.Header(tc.value)
		assert.Equal(t, tc.ok, err == nil, tc.why)
		if err != nil {
			assert.NotContains(t, err.Error(), "key", "it is never repeated")
		}
	}
}
