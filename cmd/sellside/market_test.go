package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestMarket_ShowsPricesAndWhatTheyPayOut(t *testing.T) {
	s := newShop(t, still)
	s.run("market", "DZ5485-612", "--size", "10.5")
	s.offer(1, sandbox.Listing{Amount: "162"})
	s.run("market", "DZ5485-612", "--size", "10.5", "--price", "180")
	s.sale(sandbox.Listing{Amount: "162"}, gen.OrderStatusCompleted)
	s.run("market", "dz5485-612")
	s.run("market", "DZ5485-612", "--currency", "JPY", "--csv", "--payouts=false")
	s.run("market", "DZ5485-612", "--size", "10.5", "--json")
	s.run("market", "DZ5485-612", "--size", "99")
	s.run("market", "DZ5485-999")
	s.golden("market")
	got := s.run("market", "DZ5485-612", "--price", "much")
	assert.Equal(t, exitInvalid, got.code)
}

func TestMarket_SendsAsManyRequestsAsItsHelpSays(t *testing.T) {
	s := newShop(t)
	s.run("market", "DZ5485-612")
	requests := 0
	for operation := range s.market.Counters() {
		requests += s.market.Counters().Of(operation)
	}
	assert.Equal(t, 3+3, requests, "there is no listing to read")
}
