package client_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// withQuirks makes the sandboxes of a run of this test binary respond as a live service does.
const withQuirks = "SELLSIDE_TEST_QUIRKS"

func quirks(o *sandbox.Options) { o.Quirks = os.Getenv(withQuirks) != "" }

// The tests on the sandbox run once more with quirks, which change forms and no values.
func TestRerun_PassesWithQuirks(t *testing.T) {
	if os.Getenv(withQuirks) != "" {
		return
	}
	const tests = "^Test(OperationsSince|DownloadLabels|Sale|HTTP1_Writes|HTTP2_Writes)"
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", tests)
	again.Env = append(os.Environ(), withQuirks+"=1")
	out, err := again.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
