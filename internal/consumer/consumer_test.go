package consumer

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const packagesFile = "packages.txt"

var update = flag.Bool("update", false, "update "+packagesFile)

func TestConnect_ReturnsClient(t *testing.T) {
	c, err := Connect("https://api.example.com/v2", "key", "token")
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		t.Fatal("Connect returned neither a client nor an error")
	}
}

func TestConnect_CompilesInListedPackages(t *testing.T) {
	got := compiledIn(t)
	text, err := os.ReadFile(packagesFile)
	if err != nil {
		t.Fatal(err)
	}
	var reasons, want []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			reasons = append(reasons, line)
		} else {
			want = append(want, line)
		}
	}
	if *update {
		lines := strings.Join(slices.Concat(reasons, got), "\n") + "\n"
		if err := os.WriteFile(packagesFile, []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
		want = got
	}

	for _, p := range got {
		if !slices.Contains(want, p) {
			t.Errorf("client now compiles in %s: drop the import, or accept it with make consumer-update", p)
		}
	}
	for _, p := range want {
		if !slices.Contains(got, p) {
			t.Errorf("client no longer compiles in %s: remove it with make consumer-update", p)
		}
	}
}

// compiledIn lists the packages outside the standard library that this package is built from, sorted.
// The platform is fixed, so that the list does not depend on the machine.
func compiledIn(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Fields(string(out))
	slices.Sort(packages)
	// This package itself is not part of a user's program.
	return slices.DeleteFunc(packages, func(p string) bool {
		return p == "github.com/sellside-sdk/sellside-go/internal/consumer"
	})
}
