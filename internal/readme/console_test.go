package readme

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// step is a command of a recording, and what it prints.
type step struct{ command, output string }

// steps returns the commands of the recordings of a document.
func steps(t *testing.T, document string) (all []step) {
	t.Helper()
	for _, b := range blocks(t, document, "console") {
		for line := range strings.Lines(b.text) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				all = append(all, step{command: strings.TrimSpace(command)})
				continue
			}
			require.NotEmpty(t, all, "a recording begins with a command")
			all[len(all)-1].output += line
		}
	}
	return all
}

// variable is what differs from one run of a recording to the next: durations, and the number of a
// run, because a process that is killed early has not begun its run.
var variable = regexp.MustCompile(`\b(\d+m)?\d+s\b|\brun \d+\b`)

// withoutTimes returns an output without what is variable, and without spaces that are not seen.
func withoutTimes(output string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(output)) {
		lines = append(lines, variable.ReplaceAllString(strings.TrimRight(line, " \n"), "…"))
	}
	return strings.Join(lines, "\n")
}

// TestReadme_RecordingRuns runs the commands of the recordings in one directory, with the output that
// they show.
func TestReadme_RecordingRuns(t *testing.T) {
	t.Parallel()
	recording := steps(t, "README.md")
	require.NotEmpty(t, recording)
	dir := t.TempDir()
	out, err := goCommand(t, root, "build", "-o", filepath.Join(dir, "bin", "sellside"), "./cmd/sellside")
	require.NoError(t, err, out)
	rows, err := os.ReadFile(filepath.Join(root, "examples", "stock.csv"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stock.csv"), rows, 0o600))
	address := startSandbox(t, filepath.Join(dir, "bin", "sellside"), []string{"sandbox"})
	for _, s := range recording {
		var errors strings.Builder
		cmd := exec.CommandContext(t.Context(), "sh", "-c", s.command)
		cmd.Dir, cmd.Stderr = dir, &errors
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
			"SELLSIDE_BASE_URL="+address["baseURL"], "SELLSIDE_API_KEY="+address["apiKey"],
			"SELLSIDE_TOKEN="+address["token"], "XDG_STATE_HOME="+dir)
		output, err := cmd.Output()
		require.NoError(t, err, "%s\n%s", s.command, errors.String())
		assert.Equal(t, withoutTimes(s.output), withoutTimes(string(output)), s.command)
	}
}
