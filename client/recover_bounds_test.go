package client_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestASettleTimeWithoutBoundDoesNotMakeNotSeenComeEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpListListings).Times(2).Answer(200, `{"count":0,"pageSize":100,"pageNumber":1,"hasNextPage":false,"listings":[]}`)
		attempt, err := client.NewAttempt([]gen.CreateItem{{VariantID: "v", Amount: "162", Quantity: 1}})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()

		_, err = srv.Client().Batches.Recover(ctx, attempt, client.Recovery{Settle: math.MaxInt64})

		require.ErrorIs(t, err, context.DeadlineExceeded, "nothing is decided before the settle time")
	})
}
