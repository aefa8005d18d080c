package gateway

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSigner_VerifiesWhatItSigned(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := signer{[]byte("key")}
	token, err := s.sign(claims{Subject: "first", Expires: now.Unix() + 1})
	require.NoError(t, err)
	c, err := s.verify(token, now)
	require.NoError(t, err)
	assert.Equal(t, claims{Subject: "first", Expires: now.Unix() + 1}, c)

	_, err = s.verify(token, now.Add(time.Second))
	var expired *expiredError
	require.ErrorAs(t, err, &expired)
	assert.Equal(t, now.Add(time.Second), expired.at)

	parts := strings.Split(token, ".")
	encode := base64.RawURLEncoding.EncodeToString
	none := encode([]byte(`{"alg":"none","typ":"JWT"}`))
	other, err := signer{[]byte("another key")}.sign(c)
	require.NoError(t, err)
	for why, forged := range map[string]string{
		"empty":                           "",
		"no token":                        "sandbox-access-token",
		"too few parts":                   parts[0] + "." + parts[1],
		"no signature":                    parts[0] + "." + parts[1] + ".",
		"the algorithm none":              none + "." + parts[1] + ".",
		"another header, the same rest":   none + "." + parts[1] + "." + parts[2],
		"another payload":                 parts[0] + "." + encode([]byte(`{"sub":"first","exp":9999999999}`)) + "." + parts[2],
		"another key":                     other,
		"a signature that is cut":         token[:len(token)-4],
		"a suffix":                        token + "A",
		"another base64 of the signature": token[:len(token)-1] + string(token[len(token)-1]+1),
	} {
		_, err := s.verify(forged, now)
		require.ErrorIs(t, err, errNotSigned, why)
	}
}
