package gen

import (
	"fmt"

	"github.com/govalues/decimal"
)

// Digits returns how many digits after the point an amount of a currency has, by ISO 4217, and false
// for a currency that neither listings nor market data can have. No currency is USD, as in requests.
func (c CurrencyCode) Digits() (digits int, ok bool) {
	switch c {
	case "CLP", CurrencyCodeJPY, CurrencyCodeKRW, "VND":
		return 0, true
	case "KWD":
		return 3, true
	case "", CurrencyCodeAUD, "BRL", CurrencyCodeCAD, CurrencyCodeCHF, "CNY", "DKK", CurrencyCodeEUR,
		CurrencyCodeGBP, CurrencyCodeHKD, "HUF", "IDR", "ILS", "MOP", CurrencyCodeMXN, "MYR", "NOK",
		CurrencyCodeNZD, "PEN", "PHP", "PLN", "SEK", CurrencyCodeSGD, "THB", "TWD", CurrencyCodeUSD:
		return 2, true
	default:
		return 0, false
	}
}

// Floor returns the highest amount that is not above a and has no more digits after the point than
// the currency, such as an ask below the market's. An amount with no more digits is returned as it
// is. Errors: [ErrAbsent], those of [Amount.Decimal], and a currency without [CurrencyCode.Digits].
func (a Amount) Floor(c CurrencyCode) (Amount, error) { return a.rounded(c, decimal.Decimal.Floor) }

// Ceil is [Amount.Floor] for the lowest amount that is not below a, such as a floor of a price.
func (a Amount) Ceil(c CurrencyCode) (Amount, error) { return a.rounded(c, decimal.Decimal.Ceil) }

// Round is [Amount.Floor] for the nearest amount, the one with an even last digit of two.
func (a Amount) Round(c CurrencyCode) (Amount, error) { return a.rounded(c, decimal.Decimal.Round) }

// rounded returns an amount with the digits of a currency. Text is kept if it has no more digits, so
// an amount is not rewritten without need.
func (a Amount) rounded(c CurrencyCode, round func(d decimal.Decimal, scale int) decimal.Decimal) (Amount, error) {
	digits, ok := c.Digits()
	if !ok {
		return "", fmt.Errorf("round amount: unknown currency (%s): use an ISO 4217 code of the service", excerpt(string(c)))
	}
	d, err := a.Decimal()
	if err != nil {
		return "", fmt.Errorf("round amount: %w", err)
	}
	if d.Scale() <= digits {
		return a, nil
	}
	return AmountOf(round(d, digits)), nil
}
