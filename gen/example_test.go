package gen_test

import (
	"fmt"
	"log"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// One percent below the market has more digits than an amount can have; a yen has no cents.
func ExampleAmount_Floor() {
	percent := decimal.MustParse("0.99")
	for currency, lowest := range map[gen.CurrencyCode]gen.Amount{gen.CurrencyCodeUSD: "171", gen.CurrencyCodeJPY: "23450.0000"} {
		market, err := lowest.Decimal()
		if err != nil {
			log.Fatal(err)
		}
		below, err := market.Mul(percent)
		if err != nil {
			log.Fatal(err)
		}
		amount, err := gen.AmountOf(below).Floor(currency)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(currency, amount)
	}
	// Unordered output:
	// USD 169.29
	// JPY 23215
}
