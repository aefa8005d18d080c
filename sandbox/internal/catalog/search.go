package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// How well a word of the query fits a word of a product.
const (
	noMatch   = 0
	looseFit  = 1 // one contains the other, or they are neighbouring style ids
	prefixFit = 2 // one begins with the other
	exactFit  = 3
)

// Search finds the products that a free text is about: by words of title,
// brand and style id, the best matches first. It is fuzzy in the way of the
// service: part of a word is enough, half of the words are enough, and a style
// id finds its neighbours as well as its product, in no helpful order. Whoever
// looks for a style id has to compare it.
func (c *Catalog) Search(query string) []*Product {
	words := terms(query)
	if len(words) == 0 {
		return nil
	}
	type hit struct {
		product *Product
		score   int
	}
	var hits []hit
	for _, p := range c.products {
		score, matched := 0, 0
		for _, w := range words {
			if fit := p.fit(w); fit > noMatch {
				score += fit
				matched++
			}
		}
		if matched > 0 && 2*matched >= len(words) {
			hits = append(hits, hit{p, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		// The id is as good as random, which stands for popularity.
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.product.ID, b.product.ID))
	})
	found := make([]*Product, len(hits))
	for i, h := range hits {
		found[i] = h.product
	}
	return found
}

// fit returns the best match of a word of the query among the product's words.
func (p *Product) fit(word string) int {
	best := noMatch
	for _, t := range p.terms {
		switch {
		case isStyle(word) && isStyle(t):
			// All neighbours score the same, so that the exact style id is not
			// necessarily the first.
			if stem(word) == stem(t) {
				best = max(best, exactFit)
			}
		case word == t:
			best = exactFit
		case strings.HasPrefix(t, word):
			best = max(best, prefixFit)
		case len(word) >= 3 && strings.Contains(t, word):
			best = max(best, looseFit)
		}
	}
	return best
}

// stem is what neighbouring style ids share: DZ5485 of DZ5485-612.
func stem(style string) string {
	if before, _, ok := strings.Cut(style, "-"); ok && len(before) >= 3 {
		return before
	}
	return style[:min(len(style), 6)]
}

// isStyle reports whether a word looks like a style id: several digits and, as
// no word of a title does, six characters or more.
func isStyle(word string) bool {
	digits := 0
	for _, r := range word {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits >= 2 && len(word) >= 6
}

// terms splits a text into lower-case words; hyphens stay within a word.
func terms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) && r != '-' })
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
