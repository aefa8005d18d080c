package catalog

import (
	"strconv"
	"strings"
)

// Size is a size in one size system.
type Size struct {
	System System
	Text   string // such as "US M 10.5"
}

// System is a system of sizes.
type System struct {
	Name string // such as "US Men's"
	Code string // such as "us m"
}

// run has the sizes a product is made in, and the gender it is made for.
type run struct {
	gender string
	sizes  []string
	system System
	prefix string
	// others are systems with the same steps from another start.
	others []scale
}

// scale is the difference of a system from that of its run.
type scale struct {
	system Size // its Text is the prefix of a size
	offset int  // in half sizes
}

// runs has the sizes by their names in catalog.csv. Sizes of shoes are counted in halves, to avoid
// fractions: 7 is a men's 3.5.
var runs = map[string]run{
	"men": {
		gender: "men", sizes: append(halves(7, 26, ""), "14", "15", "16"),
		system: System{"US Men's", "us m"}, prefix: "US M ",
		others: []scale{
			{Size{System{"US Women's", "us w"}, "US W "}, 3},
			{Size{System{"UK", "uk"}, "UK "}, -2},
			{Size{System{"CM", "cm"}, "CM "}, 36},
		},
	},
	"women": {
		gender: "women", sizes: halves(10, 24, "W"),
		system: System{"US Women's", "us w"}, prefix: "US W ",
		others: []scale{
			{Size{System{"US Men's", "us m"}, "US M "}, -3},
			{Size{System{"UK", "uk"}, "UK "}, -5},
			{Size{System{"CM", "cm"}, "CM "}, 33},
		},
	},
	"gs":      {gender: "child", sizes: halves(7, 14, "Y"), system: System{"US Youth", "us y"}, prefix: "US "},
	"ps":      {gender: "preschool", sizes: append(halves(21, 27, "C"), halves(2, 6, "Y")...), system: System{"US Youth", "us y"}, prefix: "US "},
	"td":      {gender: "toddler", sizes: strings.Fields("2C 3C 4C 5C 6C 7C 8C 9C 10C"), system: System{"US Child", "us c"}, prefix: "US "},
	"slides":  {gender: "unisex", sizes: strings.Fields("4 5 6 7 8 9 10 11 12 13 14"), system: System{"US Men's", "us m"}, prefix: "US M "},
	"apparel": {gender: "unisex", sizes: strings.Fields("XS S M L XL XXL"), system: System{"Letters", "us"}, prefix: "US "},
	"waist":   {gender: "men", sizes: strings.Fields("28 29 30 31 32 33 34 36 38"), system: System{"Waist", "waist"}, prefix: "W "},
	"hats":    {gender: "unisex", sizes: []string{"7", "7 1/8", "7 1/4", "7 3/8", "7 1/2", "7 5/8", "7 3/4", "8"}, system: System{"US", "us"}, prefix: "US "},
	"one":     {gender: "unisex", sizes: []string{"One Size"}, system: System{"One Size", "one"}},
}

// conversions returns a size, by its index, in every system of the run.
func (r run) conversions(index int) []Size {
	sizes := []Size{{r.system, r.prefix + r.sizes[index]}}
	if len(r.others) == 0 {
		return sizes
	}
	number := strings.TrimRight(r.sizes[index], "WY")
	whole, half := strings.CutSuffix(number, ".5")
	steps, err := strconv.Atoi(whole)
	if err != nil {
		return sizes
	}
	steps *= 2
	if half {
		steps++
	}
	for _, o := range r.others {
		sizes = append(sizes, Size{o.system.System, o.system.Text + halfSize(steps+o.offset)})
	}
	return sizes
}

// halves returns all half sizes from first to last, both counted in halves.
func halves(first, last int, suffix string) []string {
	var sizes []string
	for n := first; n <= last; n++ {
		sizes = append(sizes, halfSize(n)+suffix)
	}
	return sizes
}

// halfSize formats a size counted in halves: 21 is "10.5".
func halfSize(n int) string {
	text := strconv.Itoa(n / 2)
	if n%2 == 1 {
		text += ".5"
	}
	return text
}
