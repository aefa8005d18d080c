package logbuffer_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/logbuffer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader is the other end of a log. It reads what gets a token of go, and then fails with err.
type reader struct {
	bytes.Buffer
	ready chan struct{} // nil if it reads at once
	err   error
}

func (r *reader) Write(p []byte) (int, error) {
	if r.ready != nil {
		<-r.ready
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.Buffer.Write(p)
}

func write(t *testing.T, w *logbuffer.Writer, record string) {
	t.Helper()
	n, err := w.Write([]byte(record))
	require.NoError(t, err)
	require.Len(t, record, n)
}

func TestWriter_PassesRecordsOnInOrder(t *testing.T) {
	var to reader
	w := logbuffer.New(&to)
	var want strings.Builder
	for n := range 1000 {
		write(t, w, fmt.Sprintf("record %d\n", n))
		fmt.Fprintf(&want, "record %d\n", n)
	}
	w.Close(time.Minute)
	assert.Equal(t, want.String(), to.String())
	write(t, w, "after Close\n")
}

func TestWriter_DropsAndCountsWhatIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &reader{ready: make(chan struct{})}
		w := logbuffer.New(to)
		record := strings.Repeat("x", 1023) + "\n"
		write(t, w, record)
		synctest.Wait() // it is being written
		for range 256 + 10 {
			write(t, w, record)
		}
		close(to.ready)
		w.Close(time.Minute)
		assert.Equal(t, strings.Repeat(record, 257)+"level=WARN msg=\"log records dropped\" count=10\n", to.String())
	})
}

func TestWriter_CloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &reader{ready: make(chan struct{})}
		w := logbuffer.New(to)
		write(t, w, "record\n")
		start := time.Now()
		w.Close(time.Second)
		assert.Equal(t, time.Second, time.Since(start))
		close(to.ready)
	})
}

func TestWriter_CountsWhatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &reader{err: errors.New("closed")}
		w := logbuffer.New(to)
		for range 3 {
			write(t, w, "lost\n")
			synctest.Wait()
		}
		to.err = nil
		write(t, w, "read\n")
		w.Close(time.Minute)
		assert.Equal(t, "read\nlevel=WARN msg=\"log records dropped\" count=3\n", to.String())
	})
}
