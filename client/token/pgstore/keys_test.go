package pgstore_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token/pgstore"
)

// newKey returns a random key as text.
func newKey() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	return base64.StdEncoding.EncodeToString(secret)
}

func TestParseKeys(t *testing.T) {
	first, second := newKey(), newKey()
	for _, tc := range []struct {
		text  string
		valid bool
		why   string
	}{
		{first, true, "one key"},
		{first + ", " + second + "\n", true, "two, with space between"},
		{"", false, "an unset variable"},
		{first + ",", false, "an empty key"},
		{first[:20], false, "not base64"},
		{base64.StdEncoding.EncodeToString([]byte("too short")), false, "another length"},
		{"the_secret", false, "text"},
	} {
		keys, err := pgstore.ParseKeys(tc.text)
		assert.Equal(t, tc.valid, err == nil, tc.why)
		for _, printed := range []string{fmt.Sprint(err), fmt.Sprintf("%v %+v %#v %s %x", keys, keys, keys, keys, keys)} {
			for word := range strings.SplitSeq(tc.text, ",") {
				if word = strings.TrimSpace(word); word != "" {
					assert.NotContains(t, printed, word, tc.why)
				}
			}
		}
	}
}

func TestNew_RefusesNoKeys(t *testing.T) {
	_, err := pgstore.New(nil, "a", pgstore.Keys{})
	require.Error(t, err)
}
