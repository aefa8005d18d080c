package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

var update = flag.Bool("update", false, "write the golden files of the commands, and docs/commands.md")

// shop is a seller with a terminal of 80 columns on a sandbox.
type shop struct {
	t      *testing.T
	env    settings
	market *sandboxtest.Market
	c      *client.Client
	dir    string // That of the golden files.

	transcript strings.Builder
	wide       []string          // Lines that the terminal would break.
	tokens     map[string]string // What stands for an id, by the id.
}

func newShop(t *testing.T, change ...func(*sandbox.Options)) *shop {
	t.Helper()
	env, c, m := market(t, change...)
	env["COLUMNS"] = "80"
	dir, err := filepath.Abs("testdata")
	require.NoError(t, err)
	return &shop{t: t, env: env, market: m, c: c, dir: dir, tokens: map[string]string{}}
}

// run runs a command line, adds its output to the transcript, and returns it.
func (s *shop) run(args ...string) ending {
	s.t.Helper()
	return s.runWith("", args...)
}

// runWith is run with an input.
func (s *shop) runWith(stdin string, args ...string) ending {
	s.t.Helper()
	got := sellsideWith(s.t.Context(), s.env, stdin, args...)
	fmt.Fprintf(&s.transcript, "$ sellside %s\n%s", strings.Join(args, " "), got.out)
	for line := range strings.Lines(got.errors) {
		s.transcript.WriteString("(stderr) " + line)
	}
	if !strings.HasSuffix(got.errors, "\n") && got.errors != "" {
		s.transcript.WriteString("\n")
	}
	if got.code != 0 {
		fmt.Fprintf(&s.transcript, "(exit code %d)\n", got.code)
	}
	s.transcript.WriteString("\n")
	for line := range strings.Lines(got.out) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, "{") && !strings.Contains(line, "://") && !strings.Contains(strings.Join(args, " "), "--csv") {
			if uniseg.StringWidth(line) > 80 {
				s.wide = append(s.wide, line)
			}
		}
	}
	return got
}

// sellsideWith is sellside with an input.
func sellsideWith(ctx context.Context, env settings, stdin string, args ...string) ending {
	var out, errors strings.Builder
	code := run(ctx, args, strings.NewReader(stdin), &out, &errors, env.get)
	return ending{code, out.String(), errors.String()}
}

// varying are what differs between runs, in the same width.
var varying = regexp.MustCompile(strings.Join([]string{
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, // ids
	`\b\d{20}\b`,           // ids of asks
	`\b\d{9}-\d{9}\b`,      // order numbers
	`\b0\d-[0-9A-Z]{10}\b`, // order numbers of other inventory types
	`\b20\d\d-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?)?)?\b`, // times
	`\b\d\d:\d\d\b`,
	`127\.0\.0\.1:\d+`,
}, "|"))

// steady returns a text with tokens in place of what differs between runs: of the same length, equal
// for equal ids.
func (s *shop) steady(text string) string {
	text = strings.NewReplacer(runtime.Version(), "GO", runtime.GOOS+"/"+runtime.GOARCH, "OS/ARCH").Replace(text)
	return varying.ReplaceAllStringFunc(text, func(id string) string {
		if strings.HasPrefix(id, "127.") {
			return "127.0.0.1:PORT"
		}
		if strings.HasPrefix(id, "20") && strings.Index(id, "-") == 4 {
			const at = "2026-01-02 03:04:05.000Z"
			digits := []byte(id)
			for i := range digits {
				if '0' <= digits[i] && digits[i] <= '9' {
					digits[i] = at[i]
				}
			}
			return string(digits)
		}
		if len(id) == len("03:04") {
			return "03:04"
		}
		if s.tokens[id] == "" {
			number := fmt.Sprintf("%d", len(s.tokens)+1)
			s.tokens[id] = regexp.MustCompile(`[0-9A-Za-z]`).ReplaceAllString(id, "0")
			s.tokens[id] = s.tokens[id][:len(id)-len(number)] + number
		}
		return s.tokens[id]
	})
}

// golden compares the transcript with a golden file.
func (s *shop) golden(name string) {
	s.t.Helper()
	assert.Empty(s.t, s.wide)
	compare(s.t, filepath.Join(s.dir, name+".golden"), s.steady(s.transcript.String()))
}

// compare compares a text with a file, which -update writes.
func compare(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text, "go test ./cmd/sellside -update writes the file")
}

// variant returns the id of the variant of the catalog that is number n.
func variant(n int) string {
	for _, p := range sandbox.Catalog() {
		if n < len(p.Variants) {
			return p.Variants[n].ID
		}
		n -= len(p.Variants)
	}
	return ""
}

// offer makes listings, active unless it has another status.
func (s *shop) offer(n int, l sandbox.Listing) []string {
	s.t.Helper()
	if l.VariantID == "" {
		l.VariantID = variant(0)
	}
	ids, err := s.market.AddListings(s.t.Context(), n, l)
	require.NoError(s.t, err)
	return ids
}

// sale makes an order and returns its number.
func (s *shop) sale(l sandbox.Listing, status gen.OrderStatus) string {
	s.t.Helper()
	if l.VariantID == "" {
		l.VariantID = variant(0)
	}
	number, err := s.market.AddOrder(s.t.Context(), l, string(status))
	require.NoError(s.t, err)
	return number
}
