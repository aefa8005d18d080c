package catalog

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

// GTIN is a trade item number of a variant.
type GTIN struct {
	Identifier string // digits, the last one a check digit
	Type       string // "UPC" or "EAN-13"
}

// gtins makes up the two numbers of a variant from its id. They are valid and
// stable, but nobody registered them.
func gtins(variant uuid.UUID) []GTIN {
	upc := fmt.Sprintf("19%09d", binary.BigEndian.Uint64(variant[:8])%1_000_000_000)
	ean := fmt.Sprintf("405%09d", binary.BigEndian.Uint64(variant[8:])%1_000_000_000)
	return []GTIN{
		{Identifier: upc + checkDigit(upc), Type: "UPC"},
		{Identifier: ean + checkDigit(ean), Type: "EAN-13"},
	}
}

// checkDigit returns the last digit of a GTIN of any length: counted from the
// right, every other digit weighs three, and the sum ends in zero.
func checkDigit(digits string) string {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			d *= 3
		}
		sum += d
	}
	return string(rune('0' + (10-sum%10)%10))
}
