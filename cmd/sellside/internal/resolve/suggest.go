package resolve

import (
	"fmt"
	"slices"
	"strings"
)

// suggestion names the neighbour that a mistyped style id is closest to.
func (p product) suggestion(style string) string {
	if len(p.neighbours) == 0 {
		return ", and the search finds nothing like it"
	}
	closest := slices.MinFunc(p.neighbours, func(a, b string) int { return distance(style, a) - distance(style, b) })
	if distance(style, closest) > 2 {
		return fmt.Sprintf(": the search finds only others, such as %s", closest)
	}
	return fmt.Sprintf(": did you mean %s?", closest)
}

// distance counts the edits that turn a into b: a letter changed, added or left out, or two neighbours
// swapped.
func distance(a, b string) int {
	a, b = strings.ToUpper(a), strings.ToUpper(b)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			rows[i][j] = min(changed, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
