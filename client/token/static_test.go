package token_test

import (
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/token"
)

func TestAStaticTokenIsRefusedOnceItsExpHasPassed(t *testing.T) {
	for _, tc := range []struct {
		token   string
		expired bool
		why     string
	}{
		{jwt(`{"exp":946684799}`), true, "a second ago"},
		{jwt(`{"exp":946684800}`), true, "it is not accepted on its exp"},
		{jwt(`{"exp":946684801}`), false, "in a second"},
		{jwt(`{"exp":946684799.5}`), true, "a fraction is left out"},
		{jwt(`{"exp":"946684799"}`), true, "text that holds a number"},
		{jwt(`{"sub":"seller","exp":946684799,"aud":["gateway"]}`), true, "among other claims"},
		{"e30." + base64.URLEncoding.EncodeToString([]byte(`{"exp":946684799,"s":1}`)) + ".", true, "padded, and not signed"},
		{jwt(`{"exp":946684801000}`), false, "milliseconds, by mistake"},
		{jwt(`{"exp":9.46684799e8}`), false, "an exponent is not read, and so does not refuse it"},
		{jwt(`{"exp":"1.2.3"}`), false, "a version is no number"},
		{jwt(`{"exp":"7.soon"}`), false, "nor is what only begins like one"},
		{jwt(`{"exp":99999999999999999999}`), false, "a number that no integer can hold"},
		{jwt(`{"exp":0}`), false, "never, in some systems"},
		{jwt(`{"exp":-1}`), false, "no time that was meant"},
		{jwt(`{"exp":null}`), false, "null"},
		{jwt(`{"exp":{"at":1}}`), false, "an object"},
		{jwt(`{"exp":"soon"}`), false, "prose"},
		{jwt(`{}`), false, "no exp"},
		{jwt(`["exp",1]`), false, "no claims"},
		{jwt(`{"exp":1`), false, "broken JSON"},
		{"a.%%%.c", false, "not base64"},
		{"a.e30", false, "two parts"},
		{"a.eyJleHAiOjF9.c.d.e", false, "five parts: encrypted, so that nobody but the service can read it"},
		{"opaque", false, "no JWT"},
	} {
		synctest.Test(t, func(t *testing.T) {
			require.Equal(t, int64(946684800), time.Now().Unix(), "when a bubble begins")
			got, err := token.Static(tc.token).Token()
			if tc.expired {
				require.ErrorIs(t, err, token.ErrExpired, tc.why)
				assertSecretFree(t, err, tc.token)
				return
			}
			require.NoError(t, err, tc.why)
			assert.Equal(t, tc.token, got.AccessToken)
		})
	}
}

func TestAStaticTokenIsGoodUntilItsExp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := token.Static(jwt(`{"exp":946728000}`)) // at noon
		after(12*time.Hour - time.Nanosecond)
		got, err := source.Token()
		require.NoError(t, err)
		assert.True(t, got.Expiry.Equal(time.Now().Add(time.Nanosecond)))

		after(time.Nanosecond)
		_, err = source.Token()
		require.EqualError(t, err, "the access token has expired at 2000-01-01T12:00:00Z: get a new one, or use a source that renews it")
	})
}

func TestATokenWithoutExpIsGoodForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := token.Static("opaque")
		after(200 * 365 * 24 * time.Hour)
		got, err := source.Token()
		require.NoError(t, err)
		assert.True(t, got.Expiry.IsZero())
	})
}
