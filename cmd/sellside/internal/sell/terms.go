package sell

import (
	"cmp"
	"strconv"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// terms are an input in a form that compares by value, so that "76" is "76.0000". An optional member that is
// absent is "".
type terms struct {
	variant, amount           string
	currency, active, expires string // optional
}

func termsOf(item *gen.CreateItem) terms {
	return terms{
		variant: item.VariantID, amount: valueOf(item.Amount), active: flag(item.Active), expires: instant(item.ExpiresAt),
		currency: cmp.Or(string(item.CurrencyCode), string(gen.CurrencyCodeUSD)),
	}
}

func echoOf(input *gen.CreateBatchItemInput) terms {
	t := terms{variant: input.VariantID, amount: valueOf(input.Amount), currency: input.CurrencyCode, active: flag(input.Active)}
	var at gen.Time
	if err := at.UnmarshalText([]byte(input.ExpiresAt)); err != nil {
		t.expires = input.ExpiresAt
		return t
	}
	t.expires = instant(at)
	return t
}

// fits reports whether an echo may be that of an input: the service says null of optional members that it
// does not repeat, and fills in those that were not sent.
func (t terms) fits(echo terms) bool {
	either := func(a, b string) bool { return a == "" || b == "" || a == b }
	return t.variant == echo.variant && t.amount == echo.amount &&
		either(t.currency, echo.currency) && either(t.active, echo.active) && either(t.expires, echo.expires)
}

func valueOf(a gen.Amount) string {
	d, err := a.Decimal()
	if err != nil {
		return string(a)
	}
	return d.Trim(0).String()
}

func flag(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

// instant is precise to the millisecond, as the service is.
func instant(t gen.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Truncate(time.Millisecond).UnixMilli(), 10)
}
