package sandboxtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// asFirst makes the test binary a process that starts one sandbox and prints how long that took.
const asFirst = "SELLSIDE_TEST_AS_FIRST"

func TestMain(m *testing.M) {
	if os.Getenv(asFirst) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	tb := &printer{}
	begin := time.Now()
	sandboxtest.New(tb)
	fmt.Print(time.Since(begin))
	tb.end()
}

// BenchmarkNew starts a sandbox that is not the first of its process.
func BenchmarkNew(b *testing.B) {
	sandboxtest.New(b)
	for b.Loop() {
		tb := &printer{}
		sandboxtest.New(tb)
		b.StopTimer()
		tb.end()
		b.StartTimer()
	}
}

// BenchmarkFirst starts the first sandbox of a process, which reads the document and the catalog.
func BenchmarkFirst(b *testing.B) {
	var sum time.Duration
	for b.Loop() {
		process := exec.CommandContext(b.Context(), os.Args[0])
		process.Env = append(os.Environ(), asFirst+"=1")
		out, err := process.Output()
		require.NoError(b, err)
		took, err := time.ParseDuration(string(out))
		require.NoError(b, err)
		sum += took
	}
	b.ReportMetric(float64(sum.Milliseconds())/float64(b.N), "ms/first")
}

// BenchmarkThirtyListings creates thirty listings one by one over a socket, and waits for each:
// about 100 ms.
func BenchmarkThirtyListings(b *testing.B) {
	c := sandboxtest.New(b).Client()
	for b.Loop() {
		makeThirty(b, c)
	}
}
