package recovery_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// quirksVariable selects the responses of the sandboxes in a run of this test binary: as the
// document shows them, as a live service sends them (quirksOnly), or so that they also do not show
// which batch made a listing, and when (vagueOrigin).
const (
	quirksVariable = "SELLSIDE_TEST_QUIRKS"
	quirksOnly     = "quirks"
	vagueOrigin    = "vague-origin"
)

var withQuirks = os.Getenv(quirksVariable)

// The tests run once more with quirks, which change forms and no values.
func TestRerun_KeepsVerdictsWithQuirks(t *testing.T) {
	runAgain(t, quirksOnly, "^Test")
}

// Without the origin of listings Recover often cannot tell, but it never misses a batch.
func TestRerun_NeverMissesABatchOfVagueOrigin(t *testing.T) {
	runAgain(t, vagueOrigin, "^TestRecover_NeverMissesABatch")
}

func runAgain(t *testing.T, quirks, tests string) {
	t.Helper()
	if withQuirks != "" {
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", tests)
	again.Env = append(os.Environ(), quirksVariable+"="+quirks)
	out, err := again.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
