package gen_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Bodies as the sandbox sends them.

func pageBody(listings int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"count":%d,"hasNextPage":false,"listings":[`, listings)
	for i := range listings {
		fmt.Fprintf(&b, `,{"amount":"%[2]d","ask":{"askCreatedAt":"2026-11-21T21:44:16.650Z","askExpiresAt":"2029-08-16T21:44:16.650Z",`+
			`"askId":"206907338700%08[1]d","askUpdatedAt":"2026-11-21T21:44:16.650Z"},"authenticationDetails":null,`+
			`"batch":{"batchId":"00000000-0002-8382-a5b6-2c802caf60b3","taskId":"00000000-00c8-8281-8772-%012[1]d"},`+
			`"condition":null,"conditionDescription":null,"createdAt":"2026-11-21T21:44:16.650Z","currencyCode":"USD",`+
			`"initiatedShipments":null,"inventoryType":"STANDARD","listingId":"00000000-00c9-8b6d-a3cb-%012[1]d","order":null,`+
			`"product":{"productId":"2eb59961-b445-5044-8c10-76efaf210e63","productName":"Jordan 1 Retro High OG Chicago Lost and Found",`+
			`"styleId":"DZ5485-612"},"status":"ACTIVE","updatedAt":"2026-11-21T21:44:16.650Z","variant":`+
			`{"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef","variantName":"Jordan-1-Retro-High-OG-Chicago-Lost-and-Found:14",`+
			`"variantValue":"10.5"}}`, i, 150+i%100)
	}
	fmt.Fprintf(&b, `],"pageNumber":1,"pageSize":%d}`, listings)
	return []byte(strings.Replace(b.String(), "[,", "[", 1))
}

func itemsBody(items int) []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range items {
		fmt.Fprintf(&b, `,{"itemId":"00000000-0002-8a79-b896-%012[1]d","listingInput":{"active":true,"amount":"%[2]d",`+
			`"currencyCode":"USD","expiresAt":null,"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef"},`+
			`"result":{"askId":"254675163800%08[1]d","listingId":"00000000-0003-82ee-8f9b-%012[1]d"},"status":"COMPLETED"}`, i, 150+i%100)
	}
	b.WriteString(`]}`)
	return []byte(strings.Replace(b.String(), "[,", "[", 1))
}

const marketBody = `{"currencyCode":"USD","directMarketData":null,"earnMoreAmount":"149","flexLowestAskAmount":null,"flexMarketData":null,` +
	`"highestBidAmount":"141","lowestAskAmount":"150","productId":"2eb59961-b445-5044-8c10-76efaf210e63","sellFasterAmount":"145",` +
	`"standardMarketData":{"beatUS":null,"earnMore":"149","highestBidAmount":"141","lowestAsk":"150","sellFaster":"145"},` +
	`"variantId":"7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef"}`

// common are the bodies that clients decode most.
func common() []struct {
	name   string
	body   []byte
	target func() any
	allocs float64 //nolint:forbidigo // of testing.AllocsPerRun
} {
	return []struct {
		name   string
		body   []byte
		target func() any
		allocs float64 //nolint:forbidigo // of testing.AllocsPerRun
	}{
		{"page of 100 listings", pageBody(100), func() any { return new(gen.ListingPage) }, 720},
		{"500 batch items", itemsBody(500), func() any { return new(gen.CreateBatchItemList) }, 2250},
		{"market data", []byte(marketBody), func() any { return new(gen.MarketData) }, 15},
	}
}

func TestDecode_AllocatesLittle(t *testing.T) {
	for _, tc := range common() {
		allocs := testing.AllocsPerRun(100, func() {
			_, err := gen.Decode(t.Context(), tc.body, tc.target())
			require.NoError(t, err)
		})
		t.Logf("%s: %v", tc.name, allocs)
		assert.LessOrEqual(t, allocs, tc.allocs, tc.name)
	}
}

// BenchmarkDecode compares the generated decoders with encoding/json into the same models, in pairs:
// an iteration is one decode by each. The ratio is that of the medians.
func BenchmarkDecode(b *testing.B) {
	for _, tc := range common() {
		b.Run(tc.name, func(b *testing.B) {
			var generated, reflected []time.Duration
			for b.Loop() {
				began := time.Now()
				_, err := gen.Decode(b.Context(), tc.body, tc.target())
				between := time.Now()
				strict := json.Unmarshal(tc.body, tc.target())
				if err != nil || strict != nil {
					b.Fatal(err, strict)
				}
				generated = append(generated, between.Sub(began))
				reflected = append(reflected, time.Since(between))
			}
			slices.Sort(generated)
			slices.Sort(reflected)
			middle := b.N / 2
			b.ReportMetric(float64(generated[middle].Nanoseconds()), "ns/decode")
			b.ReportMetric(float64(reflected[middle].Nanoseconds()), "ns/encoding-json")
			b.ReportMetric(float64(reflected[middle])/float64(generated[middle]), "times-faster")
			b.ReportMetric(0, "ns/op")
		})
	}
}
