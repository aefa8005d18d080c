package handlers

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parsedPDF is a PDF with its objects.
type parsedPDF struct {
	objects map[int]string // by number: the text between obj and endobj
	trailer string
}

// readPDF reads a file from its end, as readers do, and checks every byte of the table of objects.
func readPDF(t *testing.T, file []byte) parsedPDF {
	t.Helper()
	require.True(t, bytes.HasPrefix(file, []byte("%PDF-1.4\n%")), "the header")
	for _, b := range file[10:14] {
		require.Greater(t, b, byte(127), "the comment that marks a binary file")
	}
	end := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(file)
	require.NotNil(t, end, "the end has the offset of the table")
	table, err := strconv.Atoi(string(end[1]))
	require.NoError(t, err)

	head := regexp.MustCompile(`^xref\n0 (\d+)\n`).FindSubmatch(file[table:])
	require.NotNil(t, head, "the table is there")
	entries, err := strconv.Atoi(string(head[1]))
	require.NoError(t, err)
	rows := file[table+len(head[0]):]
	require.Equal(t, "0000000000 65535 f \n", string(rows[:20]), "the head of the free objects")
	p := parsedPDF{objects: map[int]string{}}
	for n := 1; n < entries; n++ {
		row := string(rows[20*n : 20*n+20])
		require.Regexp(t, `^\d{10} 00000 n \n$`, row, "an entry has 20 bytes")
		offset, err := strconv.Atoi(row[:10])
		require.NoError(t, err)
		begin := fmt.Sprintf("%d 0 obj\n", n)
		require.True(t, bytes.HasPrefix(file[offset:], []byte(begin)),
			"object %d is where the table says", n)
		body, _, ok := strings.Cut(string(file[offset+len(begin):]), "\nendobj\n")
		require.True(t, ok, "object %d ends", n)
		p.objects[n] = body
	}
	rest := string(rows[20*entries:])
	require.True(t, strings.HasPrefix(rest, "trailer\n<< "), "the trailer follows the table")
	p.trailer = strings.TrimSuffix(rest[len("trailer\n"):], string(end[0]))
	require.Contains(t, p.trailer, fmt.Sprintf("/Size %d ", entries))
	return p
}

// ref returns the object that another one refers to.
func (p parsedPDF) ref(t *testing.T, from, key string) string {
	t.Helper()
	m := regexp.MustCompile(`/` + key + ` \[?(\d+) 0 R`).FindStringSubmatch(from)
	require.NotNil(t, m, "%s has no %s", from, key)
	n, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	require.Contains(t, p.objects, n)
	return p.objects[n]
}

// page returns the page and its lines.
func (p parsedPDF) page(t *testing.T) (page string, lines []string) {
	t.Helper()
	catalog := p.ref(t, p.trailer, "Root")
	require.Contains(t, catalog, "/Type /Catalog")
	pages := p.ref(t, catalog, "Pages")
	require.Contains(t, pages, "/Type /Pages")
	require.Contains(t, pages, "/Count 1 ")
	page = p.ref(t, pages, "Kids")
	require.Contains(t, page, "/Type /Page ")
	require.Equal(t, pages, p.ref(t, page, "Parent"))
	require.Contains(t, p.ref(t, page, "F1"), "/BaseFont /Helvetica")

	content := p.ref(t, page, "Contents")
	m := regexp.MustCompile(`(?s)^<< /Length (\d+) >>\nstream\n(.*)\nendstream$`).FindStringSubmatch(content)
	require.NotNil(t, m, content)
	require.Equal(t, m[1], strconv.Itoa(len(m[2])), "the length of the stream")
	require.Regexp(t, `^BT\n/F1 \d+ Tf\n\d+ TL\n\d+ \d+ Td\n(\((\\[()\\]|\\[0-7]{3}|[^()\\])*\) Tj\nT\*\n)*ET$`, m[2], "strings are escaped")
	escape := regexp.MustCompile(`\\([()\\]|[0-7]{3})`)
	for _, line := range regexp.MustCompile(`(?m)^\((.*)\) Tj$`).FindAllStringSubmatch(m[2], -1) {
		lines = append(lines, escape.ReplaceAllStringFunc(line[1], func(s string) string {
			if len(s) == 2 {
				return s[1:]
			}
			code, err := strconv.ParseUint(s[1:], 8, 8)
			require.NoError(t, err)
			return string(rune(code))
		}))
	}
	return page, lines
}

func TestPDF_IsValidForAnyText(t *testing.T) {
	for _, row := range []struct {
		lines, want []string
		why         string
	}{
		{nil, nil, "an empty page"},
		{[]string{"Order: 323314425-323214184", ""}, []string{"Order: 323314425-323214184", ""}, "an empty line"},
		{
			[]string{`a (b) c\d ((`, `) Tj ET endstream endobj`},
			[]string{`a (b) c\d ((`, `) Tj ET endstream endobj`},
			"the syntax of PDF",
		},
		{[]string{"Pokémon Über ÿ"}, []string{"Pokémon Über ÿ"}, "Latin-1"},
		{[]string{"靴\n\x00\u0085☃"}, []string{"?????"}, "other characters"},
		{[]string{"endobj", "endstream", "startxref"}, []string{"endobj", "endstream", "startxref"}, "keywords"},
	} {
		page, lines := readPDF(t, writePDF(288, 432, row.lines)).page(t)
		assert.Equal(t, row.want, lines, row.why)
		assert.Contains(t, page, "/MediaBox [0 0 288 432]")
	}
}

func FuzzPDF(f *testing.F) {
	f.Add("Size: 10.5 (US)")
	f.Add("\\)\xff")
	f.Fuzz(func(t *testing.T, line string) {
		_, lines := readPDF(t, writePDF(595, 842, []string{line, "after"})).page(t)
		require.Len(t, lines, 2)
		require.Equal(t, "after", lines[1])
	})
}
