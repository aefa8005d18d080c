package limit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db/dbtest"
	"github.com/sellside-sdk/sellside-go/bulk/internal/limit"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// childService is the environment variable that makes the test binary a process that calls a
// service: its value is the address and the database, with a space between.
const childService = "SELLSIDE_TEST_SERVICE"

// shared is the quota of the processes.
var shared = quota.Quota{
	RequestsPerSecond: 40, RequestsPerDay: 10_000,
	ItemsPerWindow: 30, ItemsWindow: 700 * time.Millisecond, ItemsPerDay: 100_000,
}

// runChild calls a service from four goroutines, 12 times each, and never hides a failure.
func runChild(value string) {
	address, database, _ := strings.Cut(value, " ")
	if err := callService(address, database); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func callService(address, database string) error {
	d, err := openDatabase(database)
	if err != nil {
		return err
	}
	l := limit.New(d, limit.Config{Account: "a", Quota: shared, AttemptTimeout: 10 * time.Second})
	var calls sync.WaitGroup
	failed := make(chan error, 100)
	for g := range 4 {
		calls.Go(func() {
			for i := range 12 {
				items := (g + i) % 4
				release, err := l.Acquire(context.Background(), items)
				if err != nil {
					failed <- err
					return
				}
				response, err := http.Post(address+"/"+strconv.Itoa(items), "", nil) //nolint:noctx // a child is killed
				if err != nil {
					failed <- err
					return
				}
				_ = response.Body.Close()
				release(quota.Sent)
			}
		})
	}
	calls.Wait()
	if err := l.Close(context.Background()); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return d.Close()
	}
}

// service counts strictly: no span of a window's length may have more arrivals than its limit.
type service struct {
	mu       sync.Mutex
	arrivals []arrival
	victim   int           // Arrivals of the process that will be killed.
	held     chan struct{} // Closed when one of them has arrived that gets no response.
}

type arrival struct {
	at    time.Time
	items int
}

func (s *service) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	items, _ := strconv.Atoi(path.Base(r.URL.Path))
	s.mu.Lock()
	s.arrivals = append(s.arrivals, arrival{time.Now(), items})
	if strings.HasPrefix(r.URL.Path, "/victim") {
		s.victim++
	}
	hold := s.victim == 10
	if hold {
		s.victim++
	}
	s.mu.Unlock()
	if hold {
		close(s.held)
		<-r.Context().Done()
	}
}

// worst returns the largest sum of a span of length per.
func (s *service) worst(per time.Duration, count func(arrival) int) (worst int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.arrivals, func(a, b arrival) int { return a.at.Compare(b.at) })
	sum, first := 0, 0
	for _, a := range s.arrivals {
		for ; a.at.Sub(s.arrivals[first].at) >= per; first++ {
			sum -= count(s.arrivals[first])
		}
		sum += count(a)
		worst = max(worst, sum)
	}
	return worst
}

func startChild(t *testing.T, address, database string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env = append(os.Environ(), childService+"="+address+" "+database)
	cmd.Stderr = os.Stderr
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd
}

func TestLimiter_SharesAnAccountOfProcesses(t *testing.T) {
	for name, database := range dbtest.Shared(t) {
		t.Run(name, func(t *testing.T) {
			svc := &service{held: make(chan struct{})}
			srv := httptest.NewServer(svc)
			defer srv.Close()
			began := time.Now()
			victim := startChild(t, srv.URL+"/victim", database)
			others := []*exec.Cmd{startChild(t, srv.URL, database), startChild(t, srv.URL, database)}
			<-svc.held
			require.NoError(t, victim.Process.Kill()) // its places stay charged
			_ = victim.Wait()
			others = append(others, startChild(t, srv.URL, database))
			for _, cmd := range others {
				require.NoError(t, cmd.Wait())
			}
			took := time.Since(began)
			items := svc.worst(shared.ItemsWindow, func(a arrival) int { return a.items })
			requests := svc.worst(time.Second, func(arrival) int { return 1 })
			assert.LessOrEqual(t, items, shared.ItemsPerWindow)
			assert.LessOrEqual(t, requests, shared.RequestsPerSecond)
			t.Logf("%d requests of 4 processes in %s: at most %d requests in a second, %d items in a window",
				len(svc.arrivals), took, requests, items)
		})
	}
}
