package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Match is a condition on the text of a product.
type Match string

// Contains matches texts that contain a piece of three characters or more; a shorter one matches
// nothing. The piece is quoted, so that no character in it has a meaning.
func Contains(piece string) Match {
	return Match(`"` + strings.ReplaceAll(strings.ReplaceAll(piece, "\x00", " "), `"`, `""`) + `"`)
}

// And matches what both match.
func (m Match) And(other Match) Match { return "(" + m + " AND " + other + ")" }

// Either matches what any of them matches. There must be one.
func Either(matches ...Match) Match {
	texts := make([]string, len(matches))
	for i, m := range matches {
		texts[i] = string(m)
	}
	return Match("(" + strings.Join(texts, " OR ") + ")")
}

// Clue is one way in which a product can match a word of a query.
type Clue struct {
	Word   int // numbered from 0; every word has a clue
	Weight int // how good a match it is
	Match  Match
}

// Search returns the ids of the products that match at least half of the words, best first: those
// for which the weights of the best clues of all words have the largest sum. Equals are ordered by
// id, which is as good as random, as popularity would be.
func (t *Tx) Search(clues []Clue) ([]string, error) {
	if len(clues) == 0 {
		return nil, nil
	}
	table, words, err := clueTable(clues)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	// The clues have to be the outer loop, because the index looks up one at a time.
	return list(t, func(id *string) []any { return []any{id} }, `
		SELECT product_id FROM (
			SELECT product_id, max(c.value ->> 1) AS weight
			FROM json_each(?) AS c CROSS JOIN product_texts AS p
			WHERE p.product_texts MATCH c.value ->> 2
			GROUP BY product_id, c.value ->> 0
		) GROUP BY product_id HAVING 2 * count(*) >= ? ORDER BY sum(weight) DESC, product_id`,
		table, words)
}

// Unmatched returns the numbers of the words that match no product.
func (t *Tx) Unmatched(clues []Clue) ([]int, error) {
	table, words, err := clueTable(clues)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	matched, err := list(t, func(word *int) []any { return []any{word} }, `
		SELECT DISTINCT c.value ->> 0 FROM json_each(?) AS c WHERE EXISTS
		(SELECT 1 FROM product_texts AS p WHERE p.product_texts MATCH c.value ->> 2)`, table)
	var unmatched []int
	for word := range words {
		if !slices.Contains(matched, word) {
			unmatched = append(unmatched, word)
		}
	}
	return unmatched, err
}

// clueTable returns clues as rows of JSON, and the number of words.
func clueTable(clues []Clue) (table string, words int, err error) {
	rows := make([][3]any, len(clues))
	for i, c := range clues {
		rows[i] = [3]any{c.Word, c.Weight, c.Match}
		words = max(words, c.Word+1)
	}
	text, err := json.Marshal(rows)
	return string(text), words, err
}

// ProductText is the text by which a search finds a product.
type ProductText struct {
	ProductID string
	Text      string
}

// SearchedProducts returns the ids of all products in the search index, in order.
func (t *Tx) SearchedProducts() ([]string, error) {
	return list(t, func(id *string) []any { return []any{id} },
		`SELECT product_id FROM product_texts ORDER BY product_id`)
}

// ReplaceProductTexts replaces the search index.
func (t *Tx) ReplaceProductTexts(texts ...ProductText) error {
	if err := t.exec(`DELETE FROM product_texts`); err != nil {
		return err
	}
	return t.InsertProductTexts(texts...)
}

// InsertProductTexts adds products to the search index.
func (t *Tx) InsertProductTexts(texts ...ProductText) error {
	rows := make([][2]string, len(texts))
	for i, p := range texts {
		rows[i] = [2]string{p.ProductID, p.Text}
	}
	table, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("insert product texts: %w", err)
	}
	return t.exec(`INSERT INTO product_texts (product_id, words)
		SELECT value ->> 0, value ->> 1 FROM json_each(?)`, string(table))
}
