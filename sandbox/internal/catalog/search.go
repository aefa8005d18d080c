package catalog

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// How well a word of the query fits a word of a product.
const (
	partFit   = 1 // it is inside of one, or one letter off
	prefixFit = 2 // one begins with it
	exactFit  = 3 // it is one, or a style id next to one
)

// Words of this many letters may have one that is wrong. Shorter ones are too
// much like others, and no word is longer.
const (
	shortestGuess = 5
	longestGuess  = 24
)

// Text is what a search looks at: the words of brand, title and style id, each
// between spaces so that its beginning and its end can be looked for, too.
func (p *Product) Text() string {
	return " " + strings.Join(words(p.Brand+" "+p.Title+" "+p.StyleID), " ") + " "
}

// Clues says what to look for to find the products that a free text is about.
// It is fuzzy in the way of the service: part of a word is enough, half of the
// words are enough, and a style id finds its neighbours as well as its product,
// in no helpful order. Whoever looks for a style id has to compare it. There
// are no clues in a text without letters and digits.
func Clues(query string) []store.Clue { return clues(query, false) }

// Guesses are the clues for a text that nothing was found for: a letter of
// every longer word may be wrong, missing, one too many or swapped with its
// neighbour.
func Guesses(query string) []store.Clue { return clues(query, true) }

func clues(query string, guess bool) []store.Clue {
	var all []store.Clue
	distinct := words(query)
	slices.Sort(distinct)
	for i, w := range slices.Compact(distinct) {
		letters := []rune(w)
		add := func(weight int, m store.Match) { all = append(all, store.Clue{Word: i, Weight: weight, Match: m}) }
		add(exactFit, store.Contains(" "+w+" "))
		if len(letters) >= 2 {
			add(prefixFit, store.Contains(" "+w))
		}
		if len(letters) >= 3 {
			add(partFit, store.Contains(w))
		}
		if isStyle(w) {
			// All neighbours weigh the same, so that the exact style id is not
			// necessarily the first.
			add(exactFit, store.Contains(" "+stem(w)))
		}
		if guess && shortestGuess <= len(letters) && len(letters) <= longestGuess {
			add(partFit, misspelt(letters))
		}
	}
	return all
}

// misspelt fits words that differ from w in a letter. A letter left out of w
// leaves the part before it and the part after it, of which at least one is
// long enough to be looked for.
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

// stem is what neighbouring style ids share: dz5485 of dz5485-612.
func stem(style string) string {
	if before, _, ok := strings.Cut(style, "-"); ok && len(before) >= 3 {
		return before
	}
	letters := []rune(style)
	return string(letters[:min(len(letters), 6)])
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

// words splits a text into lower-case words; hyphens stay within a word, and
// accents that are characters of their own are dropped.
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
