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

func TestStatic_FailsFromExp(t *testing.T) {
	for _, tc := range []struct {
		token   string
		expired bool
		why     string
	}{
		{jwt(`{"exp":946684799}`), true, "passed a second ago"},
		{jwt(`{"exp":946684800}`), true, "passes now"},
		{jwt(`{"exp":946684801}`), false, "passes in a second"},
		{jwt(`{"exp":946684799.5}`), true, "the fraction is ignored"},
		{jwt(`{"exp":"946684799"}`), true, "a number as text"},
		{jwt(`{"sub":"seller","exp":946684799,"aud":["gateway"]}`), true, "among other claims"},
		{"e30." + base64.URLEncoding.EncodeToString([]byte(`{"exp":946684799,"s":1}`)) + ".", true, "padded, and unsigned"},
		{jwt(`{"exp":946684801000}`), false, "milliseconds"},
		{jwt(`{"exp":9.46684799e8}`), false, "exponents are not read"},
		{jwt(`{"exp":"1.2.3"}`), false, "a version"},
		{jwt(`{"exp":"7.soon"}`), false, "text that begins like a number"},
		{jwt(`{"exp":99999999999999999999}`), false, "a number out of range"},
		{jwt(`{"exp":0}`), false, "zero"},
		{jwt(`{"exp":-1}`), false, "negative"},
		{jwt(`{"exp":null}`), false, "null"},
		{jwt(`{"exp":{"at":1}}`), false, "an object"},
		{jwt(`{"exp":"soon"}`), false, "prose"},
		{jwt(`{}`), false, "no exp"},
		{jwt(`["exp",1]`), false, "an array"},
		{jwt(`{"exp":1`), false, "broken JSON"},
		{"a.%%%.c", false, "not base64"},
		{"a.e30", false, "two parts"},
		{"a.eyJleHAiOjF9.c.d.e", false, "five parts: encrypted for the service"},
		{"opaque", false, "not a JWT"},
	} {
		synctest.Test(t, func(t *testing.T) {
			require.Equal(t, int64(946684800), time.Now().Unix(), "the time at which bubbles begin")
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

func TestStatic_LastsUntilExp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := token.Static(jwt(`{"exp":946728000}`)) // at noon
		advance(12*time.Hour - time.Nanosecond)
		got, err := source.Token()
		require.NoError(t, err)
		assert.True(t, got.Expiry.Equal(time.Now().Add(time.Nanosecond)))

		advance(time.Nanosecond)
		_, err = source.Token()
		require.ErrorIs(t, err, token.ErrExpired)
	})
}

func TestStatic_LastsWithoutExp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := token.Static("opaque")
		advance(200 * 365 * 24 * time.Hour)
		got, err := source.Token()
		require.NoError(t, err)
		assert.True(t, got.Expiry.IsZero())
	})
}
