package stock

import (
	"fmt"
	"strings"
)

// header reads the line that names the columns.
func (r *Reader) header(l line) []*Problem {
	rec := bestSplit(l)
	text := rec.text
	r.layout.Comma = rec.comma
	problem := func(at int, name, format string, args ...any) *Problem {
		return problemAt(l.number, text, at, name, fmt.Sprintf(format, args...))
	}
	switch rec.ending {
	case wide:
		return []*Problem{{Line: l.number, Text: fmt.Sprintf("the header has more than %d columns: remove some", maxColumns)}}
	case open, stray:
		return []*Problem{problem(rec.at, "", "invalid quotes: %s", quotesRemedy)}
	case whole:
	}
	for i := range r.columns {
		r.columns[i] = -1
	}
	var problems []*Problem
	for i, name := range rec.fields {
		name = strings.Trim(unprotect(name), " \t\r\ufeff")
		r.layout.Columns = append(r.layout.Columns, name)
		col := columnOf(name)
		switch {
		case col == unknown:
		case r.columns[col] >= 0:
			first := r.layout.Columns[r.columns[col]]
			problems = append(problems, problem(rec.starts[i], name,
				"columns %s and %s both mean %s: remove or rename one", excerpt(first), excerpt(name), columnNames[col]))
		default:
			r.columns[col] = i
		}
	}
	missing := func(text string) {
		problems = append(problems, &Problem{Line: l.number, Text: text})
	}
	has := func(col column) bool { return r.columns[col] >= 0 }
	if !has(variantID) && !has(gtin) && (!has(styleID) || !has(size)) {
		missing("the item is missing: add the columns style_id and size, or gtin, or variant_id")
	}
	if !has(price) && !has(rule) {
		missing("column price is missing: add it, or the columns rule and floor")
	}
	for _, col := range []column{currency, quantity} {
		if !has(col) {
			missing("column " + columnNames[col] + " is missing: add it")
		}
	}
	if has(rule) && !has(floor) {
		missing("column floor is missing: add it, since rules need a floor")
	}
	r.keyed = new(has(sku))
	return problems
}

// bestSplit splits a header at the separator by which it names the most known columns, and of
// several at the one with the most columns.
func bestSplit(l line) record {
	text := withoutLineEnd(l.text)
	var best record
	most := -1
	for _, comma := range []byte(separators) {
		rec := split(l.number, text, comma, maxColumns)
		rec.comma = comma
		score := len(rec.fields)
		for _, name := range rec.fields {
			if columnOf(name) != unknown {
				score += maxColumns
			}
		}
		if score > most {
			best, most = rec, score
		}
	}
	return best
}
