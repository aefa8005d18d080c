package client

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// checkIDs refuses ids that would make the path of an operation another path.
func checkIDs(op gen.Operation, ids []string) error {
	rest := op.Route
	for _, id := range ids {
		var name string
		_, rest, _ = strings.Cut(rest, "{")
		name, rest, _ = strings.Cut(rest, "}")
		if err := checkID(op.ID, name, id); err != nil {
			return err
		}
	}
	return nil
}

// checkID refuses an invalid id in a path, a query or a body.
func checkID(op gen.OperationID, field, id string) error {
	switch {
	case id == "":
		return invalid(op, field, "must not be empty")
	case id == "." || id == "..":
		return invalid(op, field, "%q is not an id", id)
	case strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return invalid(op, field, "contains control characters")
	case field == "orderNumber" && (id == "active" || id == "history"):
		return invalid(op, field, "%q is a list of orders, not an order number", id)
	default:
		return nil
	}
}

// checkAmount refuses an amount that is not a positive decimal in plain digits: in scientific
// notation, a typo of one digit is a factor of ten or more.
func checkAmount(op gen.OperationID, field string, amount gen.Amount) error {
	d, err := amount.Decimal()
	switch {
	case err != nil:
		return invalid(op, field, "%s", err.Error())
	case strings.ContainsAny(string(amount), "eE"):
		return invalid(op, field, "%q is in scientific notation: write plain digits", amount)
	case !d.IsPos():
		return invalid(op, field, "%s is not greater than zero", amount)
	}
	return nil
}

// checkChange refuses an invalid amount of a change, and an amount without its currency, which a
// service may take for USD. The prefix begins the names of the fields.
func checkChange(op gen.OperationID, prefix string, amount gen.Amount, currency gen.CurrencyCode) error {
	if amount == "" {
		return nil
	}
	if err := checkAmount(op, prefix+"amount", amount); err != nil {
		return err
	}
	if currency == "" {
		return invalid(op, prefix+"currencyCode",
			"missing: set the currency of amount %s, which may be taken for USD otherwise", amount)
	}
	return nil
}

// checkPage refuses page numbers and sizes that the service does not accept. Zero is the default.
func checkPage(op gen.OperationID, number, size, maxSize int) error {
	if number < 0 || number > math.MaxInt32 {
		return invalid(op, "PageNumber", "%d is not 1 or more", number)
	}
	if size < 0 || size > maxSize {
		return invalid(op, "PageSize", "%d is not between 1 and %d", size, maxSize)
	}
	return nil
}

// join sets param to the comma-separated values of a query parameter, or leaves it nil if there are
// none.
func join[S ~string](op gen.OperationID, field string, values []S, param **string) error {
	if len(values) == 0 {
		return nil
	}
	texts := make([]string, len(values))
	for i, v := range values {
		if texts[i] = string(v); v == "" || strings.Contains(texts[i], ",") {
			return invalid(op, fmt.Sprintf("%s[%d]", field, i), "%q is empty or contains a comma", texts[i])
		}
	}
	*param = new(strings.Join(texts, ","))
	return nil
}

// set returns a pointer to v, or nil for the zero value, which leaves an optional parameter out.
func set[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// day formats the day of t in UTC, or returns nil for the zero time.
func day(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format(time.DateOnly))
}
