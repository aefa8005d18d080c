package guard_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/guard"
)

func TestEndpoint_RefusesWhatCouldLeakCredentials(t *testing.T) {
	for _, tc := range []struct {
		url string
		ok  bool
		why string
	}{
		{"https://api.example.com/v2", true, "encrypted"},
		{"HTTPS://api.example.com", true, "schemes have no case"},
		{"https://api.example.com:8443/v2/", true, "a port and a slash"},
		{"http://localhost:8080/v2", true, "loopback by name"},
		{"http://127.0.0.1/v2", true, "loopback by number"},
		{"http://127.9.9.9", true, "all of 127/8 is loopback"},
		{"http://[::1]:8080", true, "loopback in IPv6"},

		{"http://api.example.com/v2", false, "not encrypted"},
		{"http://10.0.0.1", false, "a private network is not loopback"},
		{"http://localhost.example.com", false, "a host that begins like a loopback name"},
		{"http://127.0.0.1.example.com", false, "a host that begins like a loopback address"},
		{"http://0.0.0.0", false, "the unspecified address is not loopback"},
		{"ftp://localhost", false, "another scheme"},
		{"//api.example.com", false, "no scheme"},
		{"", false, "empty"},
		{"https:///v2", false, "no host"},
		{"https://:443", false, "a port without a host"},
		{"api.example.com/v2", false, "a path that looks like a host"},
		{"https://api.example.com/v2?key=hidden", false, "a query"},
		{"https://api.example.com/v2?", false, "an empty query"},
		{"https://api.example.com/v2#hidden", false, "a fragment"},
		{"https://hidden:secret@api.example.com", false, "credentials"},
		{"https://hidden@api.example.com", false, "a user name"},
		{"https://[hidden", false, "not a URL"},
		{"https://api.example.com/hidden\x7f", false, "a control character"},
	} {
		u, err := guard.Endpoint(tc.url)
		if tc.ok {
			require.NoError(t, err, tc.why)
			assert.NotEmpty(t, u.Host, tc.why)
			continue
		}
		require.Error(t, err, tc.why)
		assert.NotContains(t, err.Error(), "hidden", tc.why)
	}
}

func TestHeader_AcceptsVisibleASCII(t *testing.T) {
	for _, tc := range []struct {
		value string
		ok    bool
		why   string
	}{
		{"key-9f/2c+d==~!", true, "letters, digits and signs"},
		{"", false, "empty"},
		{"two words", false, "a space"},
		{"key\n", false, "a line end, as files have"},
		{"key\r\nX-Other: y", false, "another header"},
		{"key\x00", false, "a zero byte"},
		{"key\x7f", false, "delete"},
		{"schl\u00fcssel", false, "not ASCII"},
		{"key\xff", false, "not UTF-8"},
	} {
		err := guard.Header(tc.value)
		assert.Equal(t, tc.ok, err == nil, tc.why)
		if err != nil {
			assert.NotContains(t, err.Error(), "key", "errors do not quote the value")
		}
	}
}

func TestNil_ReportsWhatPanicsWhenCalled(t *testing.T) {
	for _, tc := range []struct {
		value any
		want  bool
		why   string
	}{
		{nil, true, "nil"},
		{error(nil), true, "a nil interface"},
		{(*http.Transport)(nil), true, "a nil pointer"},
		{(func())(nil), true, "a nil function"},
		{http.HandlerFunc(nil), true, "a nil function with methods"},
		{&http.Transport{}, false, "a pointer"},
		{func() {}, false, "a function"},
		{errors.New("x"), false, "an interface"},
		{http.Header(nil), false, "methods of a nil map work"},
		{[]int(nil), false, "methods of a nil slice work"},
		{0, false, "a number"},
	} {
		assert.Equal(t, tc.want, guard.Nil(tc.value), tc.why)
	}
}
