package client_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
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
		{jwt(`{}`), false, "no exp"},
		{"opaque", false, "no JWT"},
	} {
		synctest.Test(t, func(t *testing.T) {
			require.Equal(t, int64(now), time.Now().Unix())
			srv := clienttest.New(t, clienttest.InProcess())
			if !tc.expired {
				srv.Expect(aRead.op).RespondExample()
			}

			err := aRead.do(t.Context(), srv.Client(client.WithToken(tc.token)))

			if !tc.expired {
				require.NoError(t, err, tc.why)
				return
			}
			require.ErrorIs(t, err, token.ErrExpired, tc.why)
			require.True(t, isA[*token.Error](err))
			assert.ErrorContains(t, err, "GetListing: get an access token: the access token has expired at ")
			assert.Empty(t, srv.Requests(aRead.op))
			assertSecretFree(t, err, tc.token)
		})
	}
}

func TestAStaticTokenIsGoodUntilItsExp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aWrite.op).RespondExample()
		c := srv.Client(client.WithToken(jwt(`{"exp":` + strconv.FormatInt(time.Now().Add(12*time.Hour).Unix(), 10) + `}`)))

		require.NoError(t, aWrite.do(t.Context(), c))
		tokenAfter(12 * time.Hour)

		require.EqualError(t, aWrite.do(t.Context(), c),
			"CreateListing: get an access token: the access token has expired at 2000-01-01T12:00:00Z: get a new one, or use a source that renews it")
	})
}
