package sandbox

import (
	"bytes"
	"fmt"
	"strings"
)

// writePDF writes one page of text as PDF 1.4: a line each, in a font that every
// reader has. Width and height are in points. Lines that are too long leave the
// page, and characters outside of Latin-1 become question marks.
func writePDF(width, height int, lines []string) []byte {
	const size, leading, margin = 11, 16, 24
	var text strings.Builder
	fmt.Fprintf(&text, "BT\n/F1 %d Tf\n%d TL\n%d %d Td\n", size, leading, margin, height-margin-size)
	for _, line := range lines {
		fmt.Fprintf(&text, "(%s) Tj\nT*\n", escapePDF(line))
	}
	text.WriteString("ET")

	var b bytes.Buffer
	// The comment has bytes above 127, so that nobody takes it for text.
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var offsets []int
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>",
			width, height),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()),
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := b.Len()
	// An entry has 20 bytes, its end of two included; object 0 heads the free ones.
	fmt.Fprintf(&b, "xref\n0 %d\n%010d %05d f \n", len(offsets)+1, 0, 65535)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d %05d n \n", offset, 0)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return b.Bytes()
}

// escapePDF writes a text the way it stands between parentheses.
func escapePDF(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '(' || r == ')' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case r >= 0xa0 && r <= 0xff:
			fmt.Fprintf(&b, `\%03o`, r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
