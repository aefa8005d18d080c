// Package readme tests README.md and CONTRIBUTING.md: the Go snippets compile and run against the
// sandbox, and the commands exist.
package readme

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

const (
	root   = "../.."
	module = "github.com/sellside-sdk/sellside-go"
)

// block is a fenced block of a document.
type block struct {
	heading string // The last heading before it, without its number signs.
	text    string
}

// blocks returns the fenced blocks of a document that are in a language.
func blocks(t *testing.T, document, language string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, document))
	require.NoError(t, err)
	var found []block
	var heading, fence string
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		switch {
		case fence == "" && strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSpace(line)
		case fence != "" && strings.TrimSpace(line) == "```":
			if fence == "```"+language {
				found = append(found, block{heading, text.String()})
			}
			fence = ""
			text.Reset()
		case fence != "":
			text.WriteString(line)
		}
	}
	require.Empty(t, fence, "the last block of %s is not closed", document)
	require.NotEmpty(t, found)
	return found
}

// pasted writes each snippet into a package of a new module that requires this one, as a reader
// would, and returns the directories of the module and of the packages in it.
func pasted(t *testing.T, snippets []block) (dir string, packages []string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		return string(data)
	}
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	gomod := strings.Replace(read("go.mod"), "module "+module, "module example.com/reader", 1)
	gomod += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, here)
	write("go.mod", gomod)
	write("go.sum", read("go.sum"))
	for i, s := range snippets {
		name := "main.go"
		if strings.Contains(s.text, `"testing"`) {
			name = "snippet_test.go"
		}
		p := fmt.Sprintf("snippet%d", i)
		write(filepath.Join(p, name), s.text)
		packages = append(packages, "./"+p)
	}
	return dir, packages
}

// goCommand runs the go command in a directory. It must not need a network.
func goCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// program is a snippet of README.md that is a command, under its heading.
type program struct {
	heading string
	fault   sandbox.Fault // What goes wrong at its first call, if anything.
	// args prepares the market and the directory that the program starts in, and returns its
	// arguments.
	args func(t *testing.T, m *sandboxtest.Market, c *client.Client, dir string) []string
	want string // A regular expression for the standard output.
	// crash makes the files in the directory those of a run that was killed. The program is then
	// run again, and must print the same and change nothing.
	crash func(t *testing.T, dir string)
	// failing returns the arguments of a run whose items fail. It must exit with 1 and print them.
	failing func(t *testing.T, dir string) []string
	// check looks at the market afterwards.
	check func(t *testing.T, c *client.Client, dir string)
}

var programs = []program{
	{
		heading: "Your first program",
		want:    `DZ5485-612 10\.5 [0-9a-f-]{36} \d+`,
	},
	{
		heading: "List an inventory in batches",
		fault: sandbox.Fault{ // The batch is created, and its response is lost.
			Operation: string(gen.OpCreateListingsBatch), Kind: sandbox.FaultStatus, Status: 504, Applied: true,
		},
		args: func(t *testing.T, _ *sandboxtest.Market, _ *client.Client, dir string) []string {
			return []string{inventory(t, dir)}
		},
		failing: func(t *testing.T, dir string) []string {
			expensive := item(1)
			expensive.Amount = "100001"
			data, err := json.Marshal([]gen.CreateItem{expensive})
			require.NoError(t, err)
			path := filepath.Join(dir, "expensive.json")
			require.NoError(t, os.WriteFile(path, data, 0o600))
			return []string{path}
		},
		want: `(?m)\A(COMPLETED [0-9a-f-]{36} 162.*\n){2}\z`,
		crash: func(t *testing.T, dir string) { // The batch was sent, and its id was not saved.
			path := filepath.Join(dir, "inventory.json.journal")
			journal, err := os.ReadFile(path)
			require.NoError(t, err)
			killed := regexp.MustCompile(`,"batchId":"[^"]+"`).ReplaceAll(journal, nil)
			require.NotEqual(t, string(journal), string(killed))
			require.NoError(t, os.WriteFile(path, killed, 0o600))
		},
		check: func(t *testing.T, c *client.Client, dir string) {
			page, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
			require.NoError(t, err)
			assert.Equal(t, gen.Int(2), page.Count, "the batch was created once")
			data, err := os.ReadFile(filepath.Join(dir, "inventory.json.journal"))
			require.NoError(t, err)
			var journal struct {
				Entries []struct{ Submission, BatchID any }
			}
			require.NoError(t, json.Unmarshal(data, &journal))
			require.Len(t, journal.Entries, 1)
			assert.NotEmpty(t, journal.Entries[0].Submission, "saved before it was sent")
			assert.NotEmpty(t, journal.Entries[0].BatchID)
		},
	},
	{
		heading: "Wait for a batch",
		args: func(t *testing.T, _ *sandboxtest.Market, c *client.Client, _ string) []string {
			batch, err := c.Batches.Create(t.Context(), []gen.CreateItem{item(2)})
			require.NoError(t, err)
			return []string{batch.ID()}
		},
		want: `(?m)\A(COMPLETED [0-9a-f-]{36}\n){2}\z`,
	},
	{
		heading: "Change a price",
		fault: sandbox.Fault{ // The price is changed, and the response is lost.
			Operation: string(gen.OpUpdateListing), Kind: sandbox.FaultStatus, Status: 504, Applied: true,
		},
		args: func(t *testing.T, _ *sandboxtest.Market, c *client.Client, _ string) []string {
			return []string{listing(t, c), "158.50"}
		},
		want: `\ASUCCEEDED\n\z`,
		check: func(t *testing.T, c *client.Client, _ string) {
			page, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
			require.NoError(t, err)
			require.Len(t, page.Listings, 1)
			assert.Regexp(t, `^158\.50*$`, string(page.Listings[0].Amount))
		},
	},
	{
		heading: "Read lists",
		args: func(t *testing.T, _ *sandboxtest.Market, c *client.Client, _ string) []string {
			listing(t, c)
			return nil
		},
		want: `\A[0-9a-f-]{36} \S+ 162\S* USD\n\z`,
	},
	{
		heading: "Handle errors",
		args: func(*testing.T, *sandboxtest.Market, *client.Client, string) []string {
			return []string{"98e2e748-8000-45bf-a624-5531d6a68318"}
		},
		want: `\Ano such listing\n\z`,
	},
	{
		heading: "Share rate limits",
		want:    `(?s)(shop|reports) sees 0 active orders\n.*24998 of 25000 requests per day left\n`,
	},
	{
		heading: "Renew access tokens",
		args: func(t *testing.T, m *sandboxtest.Market, _ *client.Client, dir string) []string {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "refresh-token"), []byte(m.RefreshToken()+"\n"), 0o600))
			return nil
		},
		want: `\A0 active orders\n\z`,
		check: func(t *testing.T, _ *client.Client, dir string) {
			saved, err := os.ReadFile(filepath.Join(dir, "refresh-token"))
			require.NoError(t, err)
			assert.NotContains(t, string(saved), sandbox.DefaultRefreshToken, "the replaced refresh token was saved")
		},
	},
}

// item creates listings of a variant of the sandbox.
func item(quantity gen.Int) gen.CreateItem {
	variant := sandbox.Catalog()[0].Variants[0].ID
	return gen.CreateItem{VariantID: variant, Amount: "162", CurrencyCode: "USD", Quantity: quantity}
}

// listing creates a listing and returns its id.
func listing(t *testing.T, c *client.Client) string {
	t.Helper()
	batch, err := c.Batches.Create(t.Context(), []gen.CreateItem{item(1)})
	require.NoError(t, err)
	items, err := batch.Wait(t.Context())
	require.NoError(t, err)
	return items[0].Result.ListingID
}

// inventory writes the inventory of README.md and returns its path.
func inventory(t *testing.T, dir string) string {
	t.Helper()
	text := blocks(t, "README.md", "json")[0].text
	var items []gen.CreateItem
	require.NoError(t, json.Unmarshal([]byte(text), &items))
	require.Len(t, items, 1)
	path := filepath.Join(dir, "inventory.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestReadme_ProgramsRun(t *testing.T) {
	t.Parallel()
	snippets := blocks(t, "README.md", "go")
	for _, s := range snippets {
		formatted, err := format.Source([]byte(s.text))
		require.NoError(t, err, s.heading)
		assert.Equal(t, string(formatted), s.text, "gofmt the snippet under %q", s.heading)
	}
	dir, packages := pasted(t, snippets)
	out, err := goCommand(t, dir, "vet", "./...")
	require.NoError(t, err, out)
	binaries := make(map[string]string)
	var mains, tests []string
	for i, s := range snippets {
		if strings.Contains(s.text, `"testing"`) {
			tests = append(tests, packages[i])
			continue
		}
		require.NotContains(t, binaries, s.heading, "one program to a section")
		mains = append(mains, packages[i])
		binaries[s.heading] = filepath.Join(dir, "bin", packages[i])
	}
	require.Len(t, binaries, len(programs), "each program of README.md has a row here")
	out, err = goCommand(t, dir, append([]string{"build", "-o", "bin/"}, mains...)...)
	require.NoError(t, err, out)

	t.Run("tests", func(t *testing.T) {
		t.Parallel()
		out, err := goCommand(t, dir, append([]string{"test", "-v"}, tests...)...)
		require.NoError(t, err, out)
		assert.Equal(t, len(tests), strings.Count(out, "--- PASS: "), "each test ran:\n%s", out)
	})
	for _, p := range programs {
		t.Run(p.heading, func(t *testing.T) {
			t.Parallel()
			binary, ok := binaries[p.heading]
			require.True(t, ok, "README.md has no program under this heading")
			p.run(t, binary)
		})
	}
}

// run starts the program against a sandbox of its own.
func (p program) run(t *testing.T, binary string) {
	market := sandboxtest.New(t, func(o *sandbox.Options) { o.RotateRefreshTokens = true })
	c, err := client.New(
		client.WithBaseURL(market.URL), client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()),
		client.WithQuota(quota.Unlimited),
	)
	require.NoError(t, err)
	dir := t.TempDir()
	var args []string
	if p.args != nil {
		args = p.args(t, market, c, dir)
	}
	if p.fault.Kind != "" {
		require.NoError(t, market.Fail(p.fault))
	}
	env := append(
		os.Environ(), "SELLSIDE_BASE_URL="+market.URL, "SELLSIDE_API_KEY="+market.APIKey(), "SELLSIDE_TOKEN="+market.Token(),
		"SELLSIDE_TOKEN_URL="+market.TokenURL, "SELLSIDE_CLIENT_ID=readme",
	)
	start := func() string {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			require.NoError(t, err, string(exit.Stderr))
		}
		require.NoError(t, err)
		return string(out)
	}

	out := start()
	assert.Regexp(t, p.want, out)
	if p.crash != nil {
		p.crash(t, dir)
		assert.Equal(t, out, start())
	}
	assert.Empty(t, market.Faults(), "the fault happened")
	if p.failing != nil {
		cmd := exec.CommandContext(t.Context(), binary, p.failing(t, dir)...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		exit, ok := errors.AsType[*exec.ExitError](err)
		require.True(t, ok, "items failed: %s", out)
		assert.Equal(t, 1, exit.ExitCode())
		assert.Contains(t, string(out), "FAILED")
	}
	if p.check != nil {
		p.check(t, c, dir)
	}
}

func TestPasted_DoesNotBuildBrokenSnippet(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"undefined: undefined":    "package main\n\nfunc main() { undefined() }\n",
		"use of internal package": "package main\n\nimport _ \"" + module + "/internal/guard\"\n\nfunc main() {}\n",
	} {
		dir, packages := pasted(t, []block{{text: text}})

		out, err := goCommand(t, dir, "build", "-o", os.DevNull, packages[0])

		require.Error(t, err)
		assert.Contains(t, out, name)
	}
}

// commands returns the lines of the sh blocks of a document.
func commands(t *testing.T, document string) []string {
	t.Helper()
	var lines []string
	for _, b := range blocks(t, document, "sh") {
		lines = append(lines, strings.Split(strings.TrimSpace(b.text), "\n")...)
	}
	return lines
}

func TestReadme_CommandsRun(t *testing.T) {
	t.Parallel()
	checks, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "sellside")
	out, err := goCommand(t, root, "build", "-o", binary, "./cmd/sellside")
	require.NoError(t, err, out)
	exports := make(map[string]string)
	var address map[string]string // What the first sandbox printed.
	for _, command := range commands(t, "README.md") {
		words := strings.Fields(command)
		switch {
		case words[0] == "make":
			assert.Contains(t, string(checks), "as_in_readme "+command, "CI runs it")
		case strings.HasPrefix(command, "go get "+module+"/"):
			assert.DirExists(t, filepath.Join(root, strings.TrimPrefix(words[2], module+"/")))
		case words[0] == "export":
			name, value, ok := strings.Cut(words[1], "=")
			require.True(t, ok, command)
			exports[name] = value
		case command == "go run ./cmd/sellside demo":
			assert.Contains(t, string(checks), "make demo", "CI runs it under this name")
		case strings.HasPrefix(command, "go run ./cmd/sellside sandbox"):
			started := startSandbox(t, binary, words[3:])
			if address == nil { // the one that the exported variables name
				address = started
			}
		case strings.HasPrefix(command, "go run ./cmd/sellside sell "):
			sell(t, binary, address, words[3:])
		case strings.HasPrefix(command, "go run ./cmd/sellside "):
			atPrompt(t, binary, address, words[3:])
		default:
			assert.Fail(t, "no test covers this command", command)
		}
	}
	require.NotEmpty(t, address)
	assert.Equal(t, address["apiKey"], exports["SELLSIDE_API_KEY"])
	assert.Equal(t, address["token"], exports["SELLSIDE_TOKEN"])
	assert.Equal(t, "http://127.0.0.1:8080"+sandbox.BasePath, exports["SELLSIDE_BASE_URL"])
}

// startSandbox runs sellside sandbox until the test ends, on a free port, and returns what it
// prints.
func startSandbox(t *testing.T, binary string, args []string) map[string]string {
	t.Helper()
	args = strings.Fields(strings.ReplaceAll(strings.Join(args, " "), ":8080", ":0"))
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // It reports the context's error.
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	require.NoError(t, err, strings.Join(args, " "))
	address := make(map[string]string)
	require.NoError(t, json.Unmarshal(line, &address))
	return address
}

// sell runs sellside sell with a copy of the inventory, since the results are written beside it.
func sell(t *testing.T, binary string, address map[string]string, args []string) {
	t.Helper()
	require.NotEmpty(t, address, "the sandbox is started first")
	stock, err := os.ReadFile(filepath.Join(root, args[1]))
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, args[1])
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, stock, 0o600))
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = dir
	cmd.Env = append(
		os.Environ(), "SELLSIDE_BASE_URL="+address["baseURL"], "SELLSIDE_API_KEY="+address["apiKey"],
		"SELLSIDE_TOKEN="+address["token"], "XDG_STATE_HOME="+dir,
	)
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok, "%v\n%s", err, out)
	assert.Equal(t, 1, exit.ExitCode(), "rows were skipped and listings failed\n%s", out)

	results, err := filepath.Glob(filepath.Join(dir, "examples", "*.result.csv"))
	require.NoError(t, err)
	require.Len(t, results, 1)
	f, err := os.Open(results[0])
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows[1:], 365, "a row for every listing of a valid row")
}

// atPrompt runs a command that uses the service. It must succeed and print something.
func atPrompt(t *testing.T, binary string, address map[string]string, args []string) {
	t.Helper()
	require.NotEmpty(t, address, "the sandbox is started first")
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(
		os.Environ(), "SELLSIDE_BASE_URL="+address["baseURL"], "SELLSIDE_API_KEY="+address["apiKey"],
		"SELLSIDE_TOKEN="+address["token"], "XDG_CACHE_HOME="+t.TempDir(),
	)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v: %s", args, out)
	assert.NotEmpty(t, out, args)
}

func TestDocuments_NameTargetsOfTheMakefile(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, document := range []string{"README.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		targets := regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)").FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, targets)
		for _, target := range targets {
			assert.Regexp(t, `(?m)^`+target[1]+`:.*## `, string(makefile), "%s names it", document)
		}
	}
}

func TestDocuments_LinkToFilesThatExist(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		text, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		prose := regexp.MustCompile("(?s)```.*?```").ReplaceAll(text, nil)
		for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(prose), -1) {
			path := link[1]
			if below, ok := strings.CutPrefix(path, "https://pkg.go.dev/"+module); ok {
				path = "." + below
			} else if strings.Contains(path, "://") {
				continue
			} else if heading, ok := strings.CutPrefix(path, "#"); ok {
				assert.Regexp(t, "(?mi)^#+ "+strings.ReplaceAll(heading, "-", " ")+"$", string(prose), document)
				continue
			}
			_, err := os.Stat(filepath.Join(root, path))
			assert.NoError(t, err, "%s links to it", document)
		}
	}
}
