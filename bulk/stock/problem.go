package stock

import "fmt"

// Problem is an error of an inventory that the seller has to correct.
type Problem struct { //nolint:errname // it is part of a file before it is an error
	Line   int    // From 1.
	Column int    // The first character of the value, from 1. Zero if the whole line is meant.
	Name   string // The column or member as the file names it. Empty if none is meant.
	Text   string // What is wrong and what to do.
}

func (p *Problem) Error() string {
	if p.Column == 0 {
		return fmt.Sprintf("line %d: %s", p.Line, p.Text)
	}
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.Text)
}

// excerpt quotes a text, shortened to one line.
func excerpt(text string) string {
	const limit = 40
	if len(text) <= limit {
		return fmt.Sprintf("%q", text)
	}
	count := 0
	for i := range text {
		if count == limit {
			return fmt.Sprintf("%q…", text[:i])
		}
		count++
	}
	return fmt.Sprintf("%q", text)
}
