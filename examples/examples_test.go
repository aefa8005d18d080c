package examples

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// TestPrograms_RunAgainstSandbox builds the programs and runs them as a user would.
func TestPrograms_RunAgainstSandbox(t *testing.T) {
	bin := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin+"/", "./reprice", "./orders", "./sell").CombinedOutput()
	require.NoError(t, err, string(out))
	variant := sandbox.Catalog()[0].Variants[0].ID
	start := func(t *testing.T, market *sandboxtest.Market, dir, name string, args ...string) *exec.Cmd {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		cmd.Env = append(
			os.Environ(), "SELLSIDE_BASE_URL="+market.URL, "SELLSIDE_API_KEY="+market.APIKey(), "SELLSIDE_TOKEN="+market.Token(),
		)
		return cmd
	}

	t.Run("sell", func(t *testing.T) {
		t.Parallel()
		market := sandboxtest.New(t)
		require.NoError(t, market.Fail(sandbox.Fault{ // the batch is created, and its response is lost
			Operation: string(gen.OpCreateListingsBatch), Kind: sandbox.FaultStatus, Status: 504, Applied: true,
		}))

		out, err := start(t, market, t.TempDir(), "sell", variant, "162", "USD").Output()

		require.NoError(t, err)
		assert.Regexp(t, `\ACOMPLETED [0-9a-f-]{36} 162\n\z`, string(out))
		assert.Equal(t, 1, market.Counters().Of(string(gen.OpCreateListingsBatch)))
	})
	t.Run("reprice", func(t *testing.T) {
		t.Parallel()
		market := sandboxtest.New(t)
		_, err := market.AddListings(t.Context(), 3, sandbox.Listing{VariantID: variant, Amount: "500"})
		require.NoError(t, err)
		require.NoError(t, market.SetBook(t.Context(), variant, "USD", sandbox.Book{Asks: []string{"171"}, Bids: []string{"50"}}))

		out, err := start(t, market, t.TempDir(), "reprice", "-floor", "100").Output()

		require.NoError(t, err)
		assert.Regexp(t, `\A(COMPLETED [0-9a-f-]{36} 170\n){3}\z`, string(out))
	})
	t.Run("orders", func(t *testing.T) {
		t.Parallel()
		market := sandboxtest.New(t)
		sold := func() string {
			number, err := market.AddOrder(t.Context(), sandbox.Listing{VariantID: variant, Amount: "99"}, "CREATED")
			require.NoError(t, err)
			return number
		}
		dir := t.TempDir()
		for range 2 { // the second program reports only what is new
			number := sold()
			cmd := start(t, market, dir, "orders", "-every", "1ms")
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, err := bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "new "+number+" CREATED", strings.TrimSpace(line))
			assert.Eventually(t, func() bool {
				mark, _ := os.ReadFile(filepath.Join(dir, "orders.mark"))
				return strings.Contains(string(mark), number)
			}, 30*time.Second, 5*time.Millisecond)
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			_ = cmd.Wait() // it ends with 0 or, if the signal comes late, by it
			labels, err := filepath.Glob(filepath.Join(dir, number+"-*.pdf"))
			require.NoError(t, err)
			assert.NotEmpty(t, labels)
		}
	})
}
