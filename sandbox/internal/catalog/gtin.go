package catalog

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// GTIN is a trade item number of a variant.
type GTIN struct {
	Identifier string // digits, the last one a check digit
	Type       string // "UPC", "EAN-13", "EAN-8" or "ITF-14"
}

// gtinTypes are the types by how many digits they have.
var gtinTypes = map[int]string{8: "EAN-8", 12: "UPC", 13: "EAN-13", 14: "ITF-14"}

// ParseGTIN parses a trade item number. The error for a wrong check digit has the right one.
func ParseGTIN(text string) (GTIN, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return GTIN{}, fmt.Errorf("trade item number (%.40q): must be digits only", text)
	}
	kind, ok := gtinTypes[len(text)]
	if !ok {
		return GTIN{}, fmt.Errorf(
			"trade item number (%.40s): has %d digits: a UPC has 12, an EAN 13 or 8, an ITF-14 14", text, len(text))
	}
	body, last := text[:len(text)-1], text[len(text)-1:]
	if right := checkDigit(body); last != right {
		return GTIN{}, fmt.Errorf("trade item number (%s): last digit must be %s", text, right)
	}
	return GTIN{Identifier: text, Type: kind}, nil
}

// keys returns the keys of a number in the index: itself in 14 digits, which all forms have in
// common, and that of the items in a package if it is the number of one.
func (g GTIN) keys() []string {
	full := strings.Repeat("0", 14-len(g.Identifier)) + g.Identifier
	if full[0] == '0' || full[0] == '9' { // 9 is a variable measure, which no item has
		return []string{full}
	}
	item := "0" + full[1:13]
	return []string{full, item + checkDigit(item)}
}

// inventGTINs derives two numbers of a variant from its id. They are valid and stable, but not
// registered.
func inventGTINs(variant uuid.UUID) []GTIN {
	upc := fmt.Sprintf("19%09d", binary.BigEndian.Uint64(variant[:8])%1_000_000_000)
	ean := fmt.Sprintf("405%09d", binary.BigEndian.Uint64(variant[8:])%1_000_000_000)
	return []GTIN{
		{Identifier: upc + checkDigit(upc), Type: gtinTypes[12]},
		{Identifier: ean + checkDigit(ean), Type: gtinTypes[13]},
	}
}

// checkDigit returns the last digit of a GTIN of any length: from the right, every other digit
// counts three times, and the sum ends in zero.
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
