package demo

import (
	"errors"
	"fmt"
	"slices"
)

// expectation is a line of examples/inventory.csv that goes wrong on purpose.
type expectation struct {
	line int
	why  string
}

// invalidRows are the rows that are never sent.
func invalidRows() []expectation {
	return []expectation{
		{4, "two digits of the style id are swapped, and the search finds its neighbours"},
		{67, "the price has a currency sign"},
		{70, "the shoe is not made in that size"},
		{77, "women's sizes are written with a W"},
		{123, "a quantity of 0"},
		{161, "not a currency to list in"},
		{215, "the price is missing"},
		{228, "a date written with slashes"},
		{233, "the price has a comma"},
		{239, "two mistakes in one row"},
	}
}

// failingRows are the rows that only the service can know to be wrong.
func failingRows() []expectation {
	return []expectation{
		{55, "it expires in the past"},
		{219, "the yen has no decimal places"},
		{231, "the variant id has gone stale"},
		{243, "the price is out of the service's range"},
	}
}

// asExpected compares the lines that went wrong in some way with those that should.
func asExpected(way string, expected []expectation, lines []int) error {
	var errs []error
	unexpected := slices.Clone(lines)
	for _, e := range expected {
		if !slices.Contains(lines, e.line) {
			errs = append(errs, fmt.Errorf("line %d should be %s: %s", e.line, way, e.why))
		}
		unexpected = slices.DeleteFunc(unexpected, func(line int) bool { return line == e.line })
	}
	for _, line := range unexpected {
		errs = append(errs, fmt.Errorf("line %d should not be %s", line, way))
	}
	return errors.Join(errs...)
}
