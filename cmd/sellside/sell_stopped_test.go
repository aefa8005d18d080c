package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestWrongCredentialsSellNothing(t *testing.T) {
	env, c := market(t, sandbox.Options{})
	got := sellside(t.Context(), env, "sell", "--token", "a-wrong-token", stock(t, "DZ5485-612,10.5,389,USD,1"))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.errors, "nothing was sent: look up style_id")
	assert.NotContains(t, got.errors+got.out, "a-wrong-token")
	assert.Empty(t, listings(t, c))
}

func TestABatchThatMayHaveBeenTakenIsNeverSentAgain(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Disconnect(clienttest.BeforeHeaders, "the batch may have been taken")
	env := settings{"SELLSIDE_BASE_URL": srv.BaseURL(), "SELLSIDE_API_KEY": clienttest.APIKey, "SELLSIDE_TOKEN": clienttest.Token}
	path := stock(t, "variant_id,style_id,size,price,currency,quantity", "8f4d2c4e,,,162,USD,100", "98e2e748,,,162,USD,1")

	got := sellside(t.Context(), env, "sell", path)

	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.errors, "stopped, because a batch may have been taken or not")
	rows := results(t, besides(path))
	require.Len(t, rows, 101)
	for _, row := range rows[:100] {
		assert.Equal(t, "UNKNOWN", row[3])
		assert.Contains(t, row[4], "before you sell the row again")
	}
	assert.Equal(t, []string{"3", "1", "", "NOT_SENT", "it was not sent: sell the row again"}, rows[100])
}

func TestCtrlCKeepsWhatIsKnown(t *testing.T) {
	env, c := market(t, sandbox.Options{Manual: true}) // a batch that nobody works on
	ctx, interrupt := context.WithCancel(t.Context())
	path := stock(t, "DZ5485-612,10.5,389,USD,101")
	log := watch("submitted")
	var out strings.Builder
	code := make(chan int)
	go func() { code <- run(ctx, []string{"sell", path}, strings.NewReader(""), &out, log, env.get) }()
	<-log.told
	interrupt()

	assert.Equal(t, 1, <-code)
	rows := results(t, besides(path))
	require.Len(t, rows, 101)
	assert.Equal(t, "QUEUED", rows[0][3])
	_, id, _ := strings.Cut(log.String(), "batch 1 of 2: ")
	assert.Contains(t, rows[0][4], id[:36], "the batch can be found")
	assert.Equal(t, "NOT_SENT", rows[100][3])
	assert.Empty(t, listings(t, c))
}
