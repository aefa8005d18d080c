// Command apicheck fails if the exported API has an incompatible change that CHANGELOG.md does not
// name. It compares the work tree with
//
//   - the commit given by -base, if any;
//   - else the merge base of HEAD and origin/main, or main if there is no remote;
//   - on main itself, where that is HEAD, the last tag before HEAD, or the parent of HEAD.
//
// A change is named if one entry of the changelog has the package, the type and the member in its
// code spans, such as `client.Batches.Submit` for the method Submit of client.Batches. The entry
// begins with **Breaking:** or is under the heading Removed, in Unreleased or in a section that the
// base does not have. A package that is removed, or moved to another path, is named by its old path
// below the module, such as `quota/limitertest`. Packages below internal and cmd have no API.
//
// Where there is nothing to compare with, as in a shallow clone, apicheck says so and succeeds.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	base := flag.String("base", "", "commit to compare with")
	flag.Parse()
	if err := run(context.Background(), ".", "internal/tools/go.mod", *base, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "apicheck:", err)
		os.Exit(1)
	}
}

// run checks the repository in dir. The module file of the tools has apidiff.
func run(ctx context.Context, dir, tools, base string, out io.Writer) error {
	commit, why, err := findBase(ctx, dir, base)
	if err != nil {
		return err
	}
	if commit == "" {
		fmt.Fprintf(out, "WARNING: the API was not compared: %s\n", why)
		return nil
	}
	fmt.Fprintf(out, "comparing the API with %.12s, %s\n", commit, why)
	module, report, err := compare(ctx, dir, tools, commit)
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	before, err := git(ctx, dir, "show", commit+":CHANGELOG.md")
	if err != nil {
		before = nil // The base has no changelog yet.
	}
	entries := breakingEntries(string(changelog), string(before))
	unnamed := 0
	breaks := breaksIn(module, report)
	for _, b := range breaks {
		if !b.namedIn(entries) {
			unnamed++
			fmt.Fprintf(out, "not named: `%s`: %s\n", b.name, b.change)
		}
	}
	if unnamed > 0 {
		return fmt.Errorf(
			"find the incompatible changes in CHANGELOG.md (%d of %d are missing): add **Breaking:** entries",
			unnamed, len(breaks),
		)
	}
	fmt.Fprintf(out, "%d incompatible changes, all named in CHANGELOG.md\n", len(breaks))
	return nil
}

// findBase returns the commit to compare with and why it is that one. Without a commit, the reason
// is why there is none.
func findBase(ctx context.Context, dir, base string) (commit, why string, err error) {
	if base != "" {
		commit, err = rev(ctx, dir, base)
		return commit, "as given by -base", err
	}
	head, err := rev(ctx, dir, "HEAD")
	if err != nil {
		return "", "", err
	}
	for _, main := range []string{"origin/main", "main"} {
		if _, err := rev(ctx, dir, main); err != nil {
			continue
		}
		commit, err := git(ctx, dir, "merge-base", "HEAD", main)
		if err != nil {
			why := "HEAD and " + main + " have no merge base here: fetch their history"
			return "", why, nil //nolint:nilerr // this is not a failure.
		}
		if fork := strings.TrimSpace(string(commit)); fork != head {
			return fork, "the merge base with " + main, nil
		}
		break
	}
	if tag, err := git(ctx, dir, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^"); err == nil {
		name := strings.TrimSpace(string(tag))
		commit, err := rev(ctx, dir, name)
		return commit, "the last tag, " + name, err
	}
	if commit, err := rev(ctx, dir, "HEAD^"); err == nil {
		return commit, "the parent of HEAD, since there is no tag", nil
	}
	return "", "HEAD has no parent here: fetch the history if this is a shallow clone", nil
}

func rev(ctx context.Context, dir, name string) (string, error) {
	out, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("find commit (%s): %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return command(ctx, dir, "git", args...)
}

// command runs a program in dir and returns its standard output.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // It runs git, go and apidiff only.
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, exit.Stderr)
	}
	return out, err
}

// compare returns the module and its incompatible changes since a commit, in the words of apidiff,
// which exits with 0 whatever it finds.
func compare(ctx context.Context, dir, tools, commit string) (module, report string, err error) {
	tmp, err := os.MkdirTemp("", "apicheck")
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	apidiff := filepath.Join(tmp, "apidiff")
	_, err = command(ctx, filepath.Dir(tools), "go", "build", "-o", apidiff, "golang.org/x/exp/cmd/apidiff")
	if err != nil {
		return "", "", err
	}
	old := filepath.Join(tmp, "old")
	archive, err := git(ctx, dir, "archive", "--format=tar", commit)
	if err != nil {
		return "", "", err
	}
	if err := extract(old, archive); err != nil {
		return "", "", err
	}
	files := []string{filepath.Join(tmp, "old.api"), filepath.Join(tmp, "new.api")}
	for i, tree := range []string{old, dir} {
		path, err := command(ctx, tree, "go", "list", "-m")
		if err != nil {
			return "", "", err
		}
		module = strings.TrimSpace(string(path))
		if _, err := command(ctx, tree, apidiff, "-m", "-w", files[i], module); err != nil {
			return "", "", err
		}
	}
	changes, err := command(ctx, dir, apidiff, "-m", "-incompatible", files[0], files[1])
	return module, string(changes), err
}

// extract writes the files of an archive that git made below dir.
func extract(dir string, archive []byte) (err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg { // Directories are made with their files.
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(header.Name, data, 0o600); err != nil {
			return err
		}
	}
}

// apiBreak is an incompatible change.
type apiBreak struct {
	name   string // Such as client.Batches.Submit, or the path of a package that is removed.
	change string // In the words of apidiff.
}

var (
	removedPackage = regexp.MustCompile(`^- package ([^:]+): (.*)$`)
	// changed matches a line such as "- ./client.(*Batches).Submit: removed". The package is left
	// out for the one at the root of the module.
	changed = regexp.MustCompile(`^- (?:\./([^ :]*?)\.)?([(*\w][^ /:,]*)(?:, [^:]*)?: (.*)$`)
	word    = regexp.MustCompile(`\w+`)
	// typeArguments matches those of a generic type, which apidiff reports once more for each
	// instance.
	typeArguments = regexp.MustCompile(`\[[^\[\]]*\]\)`)
)

// breaksIn returns the incompatible changes of a report of apidiff that a user can notice: no
// programs, no members of unexported types, and nothing else of a package that is removed.
func breaksIn(module, report string) []apiBreak {
	var breaks []apiBreak
	var removed []string
	for line := range strings.Lines(report) {
		if m := removedPackage.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			name := strings.TrimPrefix(m[1], module+"/")
			removed = append(removed, name)
			if !strings.HasPrefix(name, "cmd/") {
				breaks = append(breaks, apiBreak{name, m[2]})
			}
		}
	}
	for line := range strings.Lines(report) {
		line = typeArguments.ReplaceAllString(strings.TrimSpace(line), ")")
		if !strings.HasPrefix(line, "- ") || removedPackage.MatchString(line) {
			continue
		}
		m := changed.FindStringSubmatch(line)
		if m == nil {
			breaks = append(breaks, apiBreak{strings.TrimPrefix(line, "- "), "not understood"})
			continue
		}
		if slices.Contains(removed, m[1]) || strings.HasPrefix(m[1], "cmd/") {
			continue
		}
		identifiers := word.FindAllString(m[2], -1)
		if slices.ContainsFunc(identifiers, func(s string) bool { return strings.ToLower(s[:1]) == s[:1] }) {
			continue
		}
		name := strings.Join(identifiers, ".")
		if m[1] != "" {
			name = path.Base(m[1]) + "." + name
		}
		if !slices.ContainsFunc(breaks, func(b apiBreak) bool { return b.name == name }) {
			breaks = append(breaks, apiBreak{name, m[3]})
		}
	}
	return breaks
}

// entry is the content of the code spans in one entry of the changelog.
type entry struct{ spans, words []string }

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	version  = regexp.MustCompile(`(?m)^## .*$`)
)

// breakingEntries returns the entries about breaking changes that may be about changes since the
// base: those of Unreleased and of the versions that its changelog does not have.
func breakingEntries(changelog, before string) []entry {
	released := version.FindAllString(before, -1)
	var entries []entry
	var section, heading string
	var item strings.Builder
	end := func() {
		text := item.String()
		item.Reset()
		old := section != "## [Unreleased]" && slices.Contains(released, section)
		breaking := strings.HasPrefix(text, "- **Breaking") || heading == "### Removed"
		if old || text == "" || !breaking {
			return
		}
		var e entry
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			e.spans = append(e.spans, span[1])
			e.words = append(e.words, word.FindAllString(span[1], -1)...)
		}
		entries = append(entries, e)
	}
	for line := range strings.Lines(changelog) {
		switch {
		case strings.HasPrefix(line, "## "):
			end()
			section, heading = strings.TrimRight(line, "\n"), ""
		case strings.HasPrefix(line, "### "):
			end()
			heading = strings.TrimRight(line, "\n")
		case strings.HasPrefix(line, "- "):
			end()
			item.WriteString(line)
		case item.Len() > 0 && strings.HasPrefix(line, "  "):
			item.WriteString(line)
		default:
			end()
		}
	}
	end()
	return entries
}

// namedIn reports whether an entry names the change.
func (b apiBreak) namedIn(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool {
		if slices.Contains(e.spans, b.name) {
			return true
		}
		if !strings.Contains(b.name, ".") { // A package: only its whole path will do.
			return false
		}
		return !slices.ContainsFunc(word.FindAllString(b.name, -1), func(w string) bool {
			return !slices.Contains(e.words, w)
		})
	})
}
