package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const tools = "../../tools/go.mod"

// repository is a git repository of one module in a temporary directory.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(
		os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	)
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, string(out))
	return strings.TrimSpace(string(out))
}

// write writes a file, or removes it if there is no text.
func (r repository) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if text == "" {
		require.NoError(r.t, os.Remove(path))
		return
	}
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(r.t, os.WriteFile(path, []byte(text), 0o600))
}

// commit commits everything and returns the commit. The message distinguishes it from others of the
// same second.
func (r repository) commit(message string) string {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "--message="+message)
	return r.git("rev-parse", "HEAD")
}

const shop = `package shop

type Shop struct{ Name string }

func (*Shop) Open() {}

func New() *Shop { return nil }
`

func TestRun_DemandsNamesOfBreaks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change    func(r repository)
		changelog string
		unnamed   []string
	}{
		"nothing changed":      {change: func(repository) {}},
		"an addition is free":  {change: func(r repository) { r.write("shop/add.go", "package shop\n\nfunc Close() {}\n") }},
		"a program has no API": {change: func(r repository) { r.write("cmd/shop/main.go", "") }},
		"a removed method": {
			change:  func(r repository) { r.write("shop/shop.go", strings.Replace(shop, "Open()", "open()", 1)) },
			unnamed: []string{"shop.Shop.Open"},
		},
		"a removed method that is named": {
			change:    func(r repository) { r.write("shop/shop.go", strings.Replace(shop, "Open()", "open()", 1)) },
			changelog: "- **Breaking:** `shop.Shop` no longer has\n  `Open`.\n",
		},
		"a field of another type": {
			change:  func(r repository) { r.write("shop/shop.go", strings.Replace(shop, "Name string", "Name int", 1)) },
			unnamed: []string{"shop.Shop.Name"},
		},
		"a package moved to another path": {
			change: func(r repository) {
				r.write("shop/shop.go", "")
				r.write("store/shop/shop.go", shop)
			},
			changelog: "- **Breaking:** `shop.New` is gone.\n",
			unnamed:   []string{"shop"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.write("go.mod", "module example.com/m\n\ngo 1.26\n")
			r.write("root.go", "package m\n")
			r.write("shop/shop.go", shop)
			r.write("cmd/shop/main.go", "package main\n\nfunc main() {}\n")
			r.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")
			r.commit("change")
			r.git("switch", "--quiet", "--create", "change")
			tt.change(r)
			r.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n### Changed\n\n"+tt.changelog)
			r.commit("change")
			var out strings.Builder

			err := run(t.Context(), r.dir, tools, "", &out)

			assert.Equal(t, len(tt.unnamed) > 0, err != nil, "%v\n%s", err, &out)
			assert.Contains(t, out.String(), "the merge base with main")
			assert.Equal(t, len(tt.unnamed), strings.Count(out.String(), "not named: "), out.String())
			for _, name := range tt.unnamed {
				assert.Contains(t, out.String(), "not named: `"+name+"`:")
			}
		})
	}
}

func TestRun_ReportsMissingBase(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit("change")
	var out strings.Builder

	require.NoError(t, run(t.Context(), r.dir, tools, "", &out))
	assert.Contains(t, out.String(), "WARNING: the API was not compared")

	require.Error(t, run(t.Context(), r.dir, tools, "nothing", &out), "a base that was asked for must exist")
}

func TestFindBase_DependsOnHistory(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	first := r.commit("first")
	find := func(r repository) string {
		t.Helper()
		commit, why, err := findBase(t.Context(), r.dir, "")
		require.NoError(t, err)
		require.NotEmpty(t, why)
		return commit
	}
	assert.Empty(t, find(r), "the first commit of all has no parent")

	second := r.commit("second")
	assert.Equal(t, first, find(r), "on main without a tag: the parent")

	r.git("tag", "v0.1.0", first)
	third := r.commit("third")
	assert.Equal(t, first, find(r), "on main: the last tag")
	r.git("tag", "v0.2.0")
	assert.Equal(t, first, find(r), "on a tag: the tag before")

	r.git("switch", "--quiet", "--create", "change", second)
	r.commit("change")
	assert.Equal(t, second, find(r), "on a branch: where it left main")

	r.git("update-ref", "refs/remotes/origin/main", third)
	r.git("switch", "--quiet", "main")
	assert.Equal(t, first, find(r), "main of the remote comes first")

	shallow := newRepository(t)
	shallow.git("fetch", "--quiet", "--depth=1", "file://"+r.dir, "change")
	shallow.git("switch", "--quiet", "--create", "change", "FETCH_HEAD")
	assert.Empty(t, find(shallow), "a shallow clone has nothing to compare with")
}

func TestBreaksIn_KeepsWhatUsersCanName(t *testing.T) {
	t.Parallel()
	report := `Incompatible changes:
- ./client.(*Batches).Submit: removed
- ./client.Event.Window: changed from example.com/m/quota.Window to example.com/m/client/quota.Window
- ./client.(*Batch[T]).Results: changed from func(...string) to func(string)
- ./client.(*Batch[example.com/m/gen.CreateBatchItem]).Results: changed from func(...string) to func(string)
- ./client.waiting.First: removed
- ./client/clienttest.Expectation.Answer: removed
- ./quota.Limiter.Wait: removed
- ./retry.Polling.Until, method set of *Waiting: removed
- package example.com/m/quota: removed
- package example.com/m/cmd/shop: removed
- Version: value changed from "1" to "2"
- !not a name
`
	var names []string
	for _, b := range breaksIn("example.com/m", report) {
		names = append(names, b.name)
	}
	assert.Equal(t, []string{
		"quota", "client.Batches.Submit", "client.Event.Window", "client.Batch.Results", "clienttest.Expectation.Answer",
		"retry.Polling.Until", "Version", "!not a name",
	}, names)
}

func TestBreakingEntries_LeaveOutWhatIsReleased(t *testing.T) {
	t.Parallel()
	before := "## [Unreleased]\n\n## [0.1.0]\n"
	changelog := "## [Unreleased]\n\n" +
		"### Changed\n\n- **Breaking:** `a.One`\n- `a.Two`\n\n" +
		"### Removed\n\n- `a.Three`\n\nText `a.Four`\n\n" +
		"## [0.2.0]\n\n### Changed\n\n- **Breaking:** `a.Five`\n\n" +
		"## [0.1.0]\n\n### Changed\n\n- **Breaking:** `a.Six`\n"
	var spans []string
	for _, e := range breakingEntries(changelog, before) {
		spans = append(spans, e.spans...)
	}
	assert.Equal(t, []string{"a.One", "a.Three", "a.Five"}, spans)
}
