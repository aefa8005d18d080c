package catalog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// library is a catalog with a search index.
type library struct {
	*Catalog
	t  testing.TB
	db *store.Store
}

func open(tb testing.TB) *library {
	tb.Helper()
	c, err := Load()
	require.NoError(tb, err)
	db, err := store.Open(tb.Context(), "")
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.Close()) })
	var texts []store.ProductText
	for _, p := range c.Products() {
		texts = append(texts, store.ProductText{ProductID: p.ID, Text: p.Text()})
	}
	require.NoError(tb, db.Update(tb.Context(), func(tx *store.Tx) error { return tx.InsertProductTexts(texts...) }))
	return &library{c, tb, db}
}

// find returns the style ids of the products that clues find.
func (l *library) find(clues []store.Clue) (styles []string) {
	l.t.Helper()
	require.NoError(l.t, l.db.View(l.t.Context(), func(tx *store.Tx) error {
		ids, err := tx.Search(clues)
		for _, id := range ids {
			p, ok := l.Product(id)
			require.True(l.t, ok)
			styles = append(styles, p.StyleID)
		}
		return err
	}))
	return styles
}

// guess returns the style ids of the products that a query finds if the words that match nothing are
// taken to be misspelt.
func (l *library) guess(query string) []string {
	l.t.Helper()
	clues := Clues(query)
	var misspelt []int
	require.NoError(l.t, l.db.View(l.t.Context(), func(tx *store.Tx) (err error) {
		misspelt, err = tx.Unmatched(clues)
		return err
	}))
	return l.find(append(clues, Guesses(query, misspelt...)...))
}

func TestSearch_IsFuzzy(t *testing.T) {
	l := open(t)
	for _, row := range []struct{ query, finds, why string }{
		{"DZ5485-612", "DZ5485-612", "a style id finds its product"},
		{"DZ5485-612", "DZ5485-106", "and the products next to it"},
		{"dz5485", "DZ5485-612", "case and colour code do not matter"},
		{"dz5485612", "DZ5485-612", "neither does the hyphen"},
		{"5485-61", "DZ5485-612", "part of a style id"},
		{"jordan-1-retro-high-og-chicago", "DZ5485-612", "the words of a URL key"},
		{"pm-labubu-v1", "PM-LABUBU-V1", "a style id of three parts"},
		{"lost and found", "FD1437-612", "words of the title"},
		{"nuptse black jacket", "NF0A3C8D-LE4", "in any order"},
		{"playstat", "CFI-1215A", "the beginning of a word"},
		{"aystati", "CFI-1215A", "the middle of a word"},
		{"panda dunk quickly please", "DD1391-100", "half of the words are enough"},
		{"(Chicago)!", "DZ5485-612", "signs are no part of words"},
		{"chíca\u0301go", "DZ5485-612", "accents do not matter"},
	} {
		assert.Contains(t, l.find(Clues(row.query)), row.finds, "%s: %s", row.query, row.why)
	}
	for _, row := range []struct{ query, why string }{
		{"zzzzzz", "nonsense"},
		{"chicgao", "a misspelt word, which takes a guess"},
		{" - ", "no words"},
		{"", "nothing at all"},
	} {
		assert.Empty(t, l.find(Clues(row.query)), "%s finds nothing", row.why)
	}
	assert.NotContains(t, l.find(Clues("DZ5485-612")), "DD1391-100",
		"a style id finds only its neighbours")
}

func TestSearch_OrdersBetterMatchesFirst(t *testing.T) {
	l := open(t)
	for _, row := range []struct{ query, better, worse, why string }{
		{"jordan 1 chicago", "DZ5485-612", "DZ5485-106", "three words before two"},
		{"chicago jordan 1", "DZ5485-612", "DZ5485-106", "whatever their order"},
		{"dunk low panda", "DD1391-100", "DZ5485-612", "words before none of them"},
	} {
		found := l.find(Clues(row.query))
		require.Contains(t, found, row.better, row.query)
		rank := strings.Join(found, " ")
		if at := strings.Index(rank, row.worse); at >= 0 {
			assert.Less(t, strings.Index(rank, row.better), at, "%s: %s", row.query, row.why)
		}
	}
}

func TestSearch_GuessesOneWrongLetter(t *testing.T) {
	l := open(t)
	for _, row := range []struct{ query, why string }{
		{"chicaga", "a wrong letter at the end"},
		{"khicago", "at the beginning"},
		{"chixago", "in the middle"},
		{"chcago", "a missing letter"},
		{"chiccago", "one too many"},
		{"chicgao", "two swapped letters"},
		{"hcicago", "the first two swapped"},
		{"jordan 1 chicgao lost", "one of several words"},
		{"jordon 1 chicgao", "two of several words"},
	} {
		assert.Contains(t, l.guess(row.query), "DZ5485-612", row.why)
	}
	assert.Equal(t, "DZ5485-612", l.guess("jordan chicgao")[0], "the misspelt word counts")
	for _, row := range []struct{ query, why string }{
		{"zzzzzz", "nonsense"},
		{"cxixaxo", "three wrong letters"},
		{strings.Repeat("chicago", 14), "a word that is longer than any"},
	} {
		assert.Empty(t, l.guess(row.query), row.why)
	}
}

func TestSearch_MayFindNeighboursBeforeTheExactStyle(t *testing.T) {
	l := open(t)
	elsewhere := 0
	for _, p := range l.Products() {
		found := l.find(Clues(p.StyleID))
		require.Contains(t, found, p.StyleID)
		if found[0] != p.StyleID {
			elsewhere++
		}
	}
	assert.Greater(t, elsewhere, 20)
}

func TestSearch_FindsEveryProductByItsWords(t *testing.T) {
	l := open(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, p := range l.Products() {
		title := words(p.Title)
		one := title[random.IntN(len(title))]
		assert.Contains(t, l.find(Clues(one)), p.StyleID, "%s by %q", p.Title, one)
		assert.Contains(t, l.find(Clues(p.Title+" "+p.Brand)), p.StyleID)
	}
}

// hostile are texts with a meaning for the database.
var hostile = []string{
	`"`, `""`, `'`, `jordan"`, `"jordan`, `jordan*`, `^jordan`, `jordan AND`, `AND`, `OR NOT`,
	`NEAR(jordan dunk, 5)`, `words:jordan`,
	`-jordan`, `{words product_id}:x`, `product_texts`, `+`, `(`, `)`, `\`, `%`, `_`, "jor\x00dan",
	"\xff\xfe", "ジョーダン", "ナイキ スニーカー",
	"🥾", "a\u0301", "\u0301\u0301\u0301", "İstanbul", "ǅ ſ ß", "\u200d", "1", "1 2 3",
	`');DROP TABLE proposals;--`, `%s %d`, "\n\t",
	`jordan" OR "dunk`, "１２３４５６", "x-", "--x--", "dz5485-", strings.Repeat("a ", 50),
	strings.Repeat("ж", 100),
}

func FuzzSearch(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	l := open(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 400 { // a query has 100 characters at most
			return
		}
		l := &library{l.Catalog, t, l.db}
		found := l.find(Clues(text))
		assert.Equal(t, found, l.find(Clues(text)), "the order is always the same")
		assert.Subset(t, l.guess(text), found, "guesses find what clues find")
		seen := map[string]bool{}
		for _, style := range found {
			assert.False(t, seen[style], "%s is repeated", style)
			seen[style] = true
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	l := open(b)
	for _, query := range []string{"jordan 1 retro high og chicago", "DZ5485-612", "chicgao"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				l.guess(query)
			}
		})
	}
}
