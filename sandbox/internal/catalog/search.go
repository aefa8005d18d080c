package catalog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Weights of the ways in which a word of the query matches a word of a product.
const (
	partWeight   = 1 // it is a part of the word, or differs in a letter
	prefixWeight = 2 // the word begins with it
	exactWeight  = 3 // it is the word, or a neighbouring style id
)

// Lengths of words in which one letter may be wrong. Shorter words are too similar to others, and
// no word of a product is longer.
const (
	shortestGuess = 5
	longestGuess  = 24
)

// Text is the text in the search index: the words of brand, title and style id, each between
// spaces, so that a search can tell where a word begins and ends.
func (p *Product) Text() string {
	return " " + strings.Join(words(p.Brand+" "+p.Title+" "+p.StyleID), " ") + " "
}

// Clues returns the clues by which a query finds products. It is fuzzy like the service: part of a
// word is enough, half of the words are enough, and a style id finds its neighbours as well as its
// product, in no helpful order, so that callers have to compare it. A query without letters and
// digits has no clues.
func Clues(query string) []store.Clue {
	var all []store.Clue
	for i, w := range queryWords(query) {
		add := func(weight int, m store.Match) { all = append(all, store.Clue{Word: i, Weight: weight, Match: m}) }
		add(exactWeight, store.Contains(" "+w+" "))
		letters := utf8.RuneCountInString(w)
		if letters >= 2 {
			add(prefixWeight, store.Contains(" "+w))
		}
		if letters >= 3 {
			add(partWeight, store.Contains(w))
		}
		if isStyle(w) {
			// Neighbours have the same weight, so that the exact style id need not be the first.
			add(exactWeight, store.Contains(" "+stem(w)))
		}
	}
	return all
}

// Guesses returns more clues for words of a query, by their numbers in its Clues: in each longer
// word a letter may be wrong, missing, added or swapped with its neighbour.
func Guesses(query string, numbers ...int) []store.Clue {
	var all []store.Clue
	sent := queryWords(query)
	for _, i := range numbers {
		letters := []rune(sent[i])
		if shortestGuess <= len(letters) && len(letters) <= longestGuess {
			all = append(all, store.Clue{Word: i, Weight: partWeight, Match: misspelt(letters)})
		}
	}
	return all
}

// queryWords returns the words of a query, each once, in order. A word of several parts, such as a
// URL key, is also each of its parts, except for style ids of two parts.
func queryWords(query string) []string {
	all := words(query)
	for _, w := range all {
		if parts := strings.Split(w, "-"); len(parts) > 2 || len(parts) == 2 && !isStyle(w) {
			all = append(all, parts...)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(w string) bool { return w == "" })
}

// misspelt matches words that differ from w in a letter: without that letter, w is the part before
// it and the part after it, one of which at least is long enough to search for.
func misspelt(w []rune) store.Match {
	var ways []store.Match
	for i := range w {
		before, after := store.Contains(" "+string(w[:i])), store.Contains(string(w[i+1:])+" ")
		switch {
		case i < 2:
			ways = append(ways, after)
		case i > len(w)-3:
			ways = append(ways, before)
		default:
			ways = append(ways, before.And(after))
		}
		if i > 0 {
			swapped := slices.Clone(w)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			ways = append(ways, store.Contains(" "+string(swapped)+" "))
		}
	}
	return store.Either(ways...)
}

// stem returns the part that neighbouring style ids share: dz5485 of dz5485-612.
func stem(style string) string {
	if before, _, ok := strings.Cut(style, "-"); ok && len(before) >= 3 {
		return before
	}
	letters := []rune(style)
	return string(letters[:min(len(letters), 6)])
}

// isStyle reports whether a word looks like a style id, with two digits and six characters at
// least.
func isStyle(word string) bool {
	digits := 0
	for _, r := range word {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits >= 2 && len(word) >= 6
}

// words splits a text into lower-case words. Hyphens within a word stay; combining accents are
// dropped.
func words(text string) []string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	fields := strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) && r != '-' })
	for i, f := range fields {
		fields[i] = strings.Trim(f, "-")
	}
	return slices.DeleteFunc(fields, func(f string) bool { return f == "" })
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
