package main

import (
	"context"
	"encoding/csv"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// still keeps orders in their status.
func still(o *sandbox.Options) { o.OrderStep = -1 }

func TestOrders_ReadAtAPrompt(t *testing.T) {
	s := newShop(t, still)
	s.run("orders", "ls")
	sold := s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCreated)
	s.sale(sandbox.Listing{Amount: "23500", Currency: "JPY", VariantID: variant(30), InventoryType: "DIRECT"}, gen.OrderStatusCCAuthorizationFailed)
	for _, amount := range []string{"100", "200.50"} {
		s.sale(sandbox.Listing{Amount: amount}, gen.OrderStatusCompleted)
	}
	s.sale(sandbox.Listing{Amount: "90", Currency: "EUR"}, gen.OrderStatusCompleted)
	s.sale(sandbox.Listing{Amount: "90"}, gen.OrderStatusReturned)
	s.run("orders", "ls")
	s.run("orders", "ls", "--history", "--limit", "2", "--csv")
	s.run("orders", "get", sold)
	s.run("orders", "get", sold, "--json")
	s.run("orders", "get", "323314425-323214184")
	s.run("orders", "payouts")
	s.run("orders", "payouts", "--json")
	s.golden("orders_read")
}

func TestOrders_PassEveryFilter(t *testing.T) {
	s := newShop(t, still)
	s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCreated)
	s.sale(sandbox.Listing{Amount: "162", VariantID: variant(30), InventoryType: "DIRECT"}, gen.OrderStatusCreated)
	s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCompleted)
	product := sandbox.Catalog()[0]
	for _, row := range []struct {
		args []string
		want int
		why  string
	}{
		{nil, 2, "active orders"},
		{[]string{"--history"}, 1, "ended orders"},
		{[]string{"--status", "created"}, 2, "a status of active orders"},
		{[]string{"--status", "completed"}, 1, "a status of ended orders means the history"},
		{[]string{"--from", "2020-01-01"}, 1, "so does a day"},
		{[]string{"--to", "2020-01-01"}, 0, "and the last day"},
		{[]string{"--product", product.ID}, 1, "a product"},
		{[]string{"--variant", product.Variants[0].ID}, 1, "a variant"},
		{[]string{"--variant", product.Variants[1].ID}, 0, "another variant"},
		{[]string{"--inventory-type", "direct"}, 1, "an inventory type"},
		{[]string{"--shipment", "none"}, 0, "a shipment"},
		{[]string{"--sort", "shipbydate"}, 2, "an order of the list"},
		{[]string{"--page", "2", "--page-size", "1"}, 1, "the second page"},
		{[]string{"--limit", "1"}, 1, "a limit"},
	} {
		got := sellside(t.Context(), s.env, append([]string{"orders", "ls", "--csv"}, row.args...)...)
		require.Equal(t, 0, got.code, "%s: %s", row.why, got.errors)
		lines, err := csv.NewReader(strings.NewReader(got.out)).ReadAll()
		require.NoError(t, err)
		assert.Len(t, lines[1:], row.want, row.why)
	}
	got := sellside(t.Context(), s.env, "orders", "ls", "--history", "--sort", "SHIPBYDATE")
	assert.Equal(t, exitInvalid, got.code)
	got = sellside(t.Context(), s.env, "orders", "watch", "--interval", "0s")
	assert.Equal(t, exitInvalid, got.code)
}

func TestOrders_SaveEveryLabelOnce(t *testing.T) {
	s := newShop(t, still)
	t.Chdir(t.TempDir())
	s.run("orders", "labels", "--dir", "labels")
	sold := s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCreated)
	s.sale(sandbox.Listing{Amount: "162", InventoryType: "DIRECT"}, gen.OrderStatusCreated)
	s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusDoNotShip)
	lost := sandbox.Fault{Operation: string(gen.OpGetShippingDocument), Kind: sandbox.FaultStatus, Status: http.StatusNotFound, ID: sold}
	require.NoError(t, s.market.Fail(lost))
	s.run("orders", "labels", "--dir", "labels")
	s.run("orders", "labels", "--dir", "labels")
	s.run("orders", "labels", "--dir", "labels")
	s.run("orders", "labels")
	files, err := filepath.Glob(filepath.Join("labels", "*.pdf"))
	require.NoError(t, err)
	assert.Len(t, files, 5)
	entries, err := os.ReadDir("labels")
	require.NoError(t, err)
	assert.Len(t, entries, 5, "no other files")
	s.golden("orders_labels")
}

func TestOrders_WatchUntilStopped(t *testing.T) {
	s := newShop(t, still)
	sold := s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCreated)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, stderr := watch("CHANGED"), watch("watching")
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"orders", "watch", "--interval", "10ms"}, strings.NewReader(""), out, stderr, s.env.get)
	}()
	<-stderr.seen
	require.NoError(t, s.market.MoveOrder(t.Context(), sold, string(gen.OrderStatusShipped)))
	<-out.seen
	stop()
	assert.Equal(t, exitStopped, <-code)
	s.transcript.WriteString("$ sellside orders watch --interval 10ms\n" + out.String() + stderr.String())
	s.golden("orders_watch")
}
