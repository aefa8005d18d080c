package client

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// checkIDs refuses ids that cannot stand in the path of an operation: nothing, or what makes it another path.
func checkIDs(op gen.Operation, ids []string) error {
	_, names, _ := strings.Cut(op.Route, "{")
	for i, name := range strings.Split(names, "{")[:len(ids)] {
		name, _, _ = strings.Cut(name, "}")
		if err := checkID(op.ID, name, ids[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkID refuses one id, wherever it stands.
func checkID(op gen.OperationID, field, id string) error {
	var problem string
	switch {
	case id == "":
		problem = "it is empty"
	case id == "." || id == "..":
		problem = fmt.Sprintf("%q is no id", id)
	case strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }):
		problem = "it holds control characters"
	case field == "orderNumber" && (id == "active" || id == "history"):
		problem = fmt.Sprintf("%q is a list of orders, not a number", id)
	default:
		return nil
	}
	return &ArgumentError{Operation: op, Field: field, Problem: problem}
}

// checkAmount refuses what is not an amount above zero in plain digits: in scientific notation, a slip of one digit is
// a factor of ten. An absent amount passes unless it is required.
func checkAmount(op gen.OperationID, field string, amount gen.Amount, required bool) error {
	if amount == "" && !required {
		return nil
	}
	d, err := amount.Decimal()
	switch {
	case err != nil:
		return &ArgumentError{Operation: op, Field: field, Problem: err.Error()}
	case strings.ContainsAny(string(amount), "eE"):
		return &ArgumentError{Operation: op, Field: field, Problem: fmt.Sprintf("%q is in scientific notation, write the digits out", amount)}
	case !d.IsPos():
		return &ArgumentError{Operation: op, Field: field, Problem: fmt.Sprintf("%s is not above zero", amount)}
	}
	return nil
}

// checkPage refuses page numbers and sizes outside the service's bounds (section 8 of its document).
func checkPage(op gen.OperationID, number, size, maxSize int) error {
	if number < 0 || number > math.MaxInt32 {
		return &ArgumentError{Operation: op, Field: "PageNumber", Problem: fmt.Sprintf("%d is not a page from 1 on", number)}
	}
	if size < 0 || size > maxSize {
		return &ArgumentError{Operation: op, Field: "PageSize", Problem: fmt.Sprintf("%d is not within 1 to %d", size, maxSize)}
	}
	return nil
}

// join writes the one value of a list-valued query parameter to param, which stays nil for an empty list.
func join[S ~string](op gen.OperationID, field string, values []S, param **string) error {
	if len(values) == 0 {
		return nil
	}
	texts := make([]string, len(values))
	for i, v := range values {
		if texts[i] = string(v); v == "" || strings.Contains(texts[i], ",") {
			return &ArgumentError{Operation: op, Field: fmt.Sprintf("%s[%d]", field, i), Problem: fmt.Sprintf("%q is empty or holds a comma", texts[i])}
		}
	}
	*param = new(strings.Join(texts, ","))
	return nil
}

// set returns a pointer to v, or nil for the zero value: an optional query parameter that is not sent.
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
