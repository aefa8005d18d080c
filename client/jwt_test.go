package client_test

import (
	"encoding/base64"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

func TestAnExpiredStaticTokenFailsBeforeAnyIO(t *testing.T) {
	const now = 946684800 // when a bubble begins: midnight UTC, 1 January 2000
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
			require.Equal(t, int64(now), time.Now().Unix())
			srv := clienttest.New(t, clienttest.InProcess())
			if !tc.expired {
				srv.Expect(aRead.op).AnswerExample()
			}

			err := aRead.do(t.Context(), srv.Client(client.WithToken(tc.token)))

			if !tc.expired {
				require.NoError(t, err, tc.why)
				return
			}
			require.ErrorIs(t, err, client.ErrTokenExpired, tc.why)
			require.True(t, isA[*client.TokenError](err))
			assert.ErrorContains(t, err, "GetListing: get an access token: the access token has expired at ")
			assert.Empty(t, srv.Requests(aRead.op))
			assertSecretFree(t, err, tc.token)
		})
	}
}

func TestAStaticTokenIsGoodUntilItsExp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aWrite.op).AnswerExample()
		c := srv.Client(client.WithToken(jwt(`{"exp":` + strconv.FormatInt(time.Now().Add(12*time.Hour).Unix(), 10) + `}`)))

		require.NoError(t, aWrite.do(t.Context(), c))
		tokenAfter(12 * time.Hour)

		require.EqualError(t, aWrite.do(t.Context(), c),
			"CreateListing: get an access token: the access token has expired at 2000-01-01T12:00:00Z: get a new one, or use a source that renews it")
	})
}
