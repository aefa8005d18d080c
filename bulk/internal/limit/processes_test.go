package limit_test

import (
	"context"
	"encoding/json"
	"flag"
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
// service: its value is a caller as JSON.
const childService = "SELLSIDE_TEST_SERVICE"

// caller is what a process calls, from how many goroutines, and how often each.
type caller struct {
	Address, Database string
	Quota             quota.Quota
	Goroutines, Calls int
}

// shared is the quota of the processes.
var shared = quota.Quota{
	RequestsPerSecond: 40, RequestsPerDay: 10_000,
	ItemsPerWindow: 30, ItemsWindow: 700 * time.Millisecond, ItemsPerDay: 100_000,
}

// runChild calls a service, and never hides a failure.
func runChild(value string) {
	var c caller
	err := json.Unmarshal([]byte(value), &c)
	if err == nil {
		err = c.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (c caller) run() error {
	d, err := openDatabase(c.Database)
	if err != nil {
		return err
	}
	l := limit.New(d, limit.Config{Account: "a", Quota: c.Quota, AttemptTimeout: 10 * time.Second})
	var calls sync.WaitGroup
	failed := make(chan error, c.Goroutines)
	for g := range c.Goroutines {
		calls.Go(func() {
			for i := range c.Calls {
				items := (g + i) % 4
				release, err := l.Acquire(context.Background(), items)
				if err != nil {
					failed <- err
					return
				}
				response, err := http.Post(c.Address+"/"+strconv.Itoa(items), "", nil) //nolint:noctx // a child is killed
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

func (c caller) start(t *testing.T) *exec.Cmd {
	t.Helper()
	value, err := json.Marshal(c)
	require.NoError(t, err)
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env = append(os.Environ(), childService+"="+string(value))
	cmd.Stderr = os.Stderr
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
			other := caller{Address: srv.URL, Database: database, Quota: shared, Goroutines: 4, Calls: 12}
			first := other
			first.Address += "/victim"
			victim := first.start(t)
			others := []*exec.Cmd{other.start(t), other.start(t)}
			<-svc.held
			require.NoError(t, victim.Process.Kill()) // its places stay charged
			_ = victim.Wait()
			others = append(others, other.start(t))
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

var (
	manyCalls = flag.Int("limit-calls", 4, "calls of each of 32 goroutines in TestLimiter_IsAsFastWithManyProcesses")
	slowdown  = flag.Bool("limit-compare", false, "fail if many processes take 5 % longer than one; needs a machine with nothing else to do")
)

// TestLimiter_IsAsFastWithManyProcesses makes the same calls from one process and from 8. make limit
// compares how long they take.
func TestLimiter_IsAsFastWithManyProcesses(t *testing.T) {
	const goroutines, many = 32, 8
	q := quota.Quota{
		RequestsPerSecond: 40, RequestsPerDay: 1_000_000,
		ItemsPerWindow: 100, ItemsWindow: 3 * time.Second, ItemsPerDay: 1_000_000,
	}
	for engine := range dbtest.Shared(t) {
		t.Run(engine, func(t *testing.T) {
			took := map[int]time.Duration{}
			for _, processes := range []int{1, many} {
				database := dbtest.Shared(t)[engine]
				svc := &service{}
				srv := httptest.NewServer(svc)
				c := caller{
					Address: srv.URL, Database: database, Quota: q, Goroutines: goroutines / processes, Calls: *manyCalls,
				}
				var running []*exec.Cmd
				for range processes {
					running = append(running, c.start(t))
				}
				for _, cmd := range running {
					require.NoError(t, cmd.Wait())
				}
				srv.Close()
				require.Len(t, svc.arrivals, goroutines**manyCalls)
				items := svc.worst(q.ItemsWindow, func(a arrival) int { return a.items })
				requests := svc.worst(time.Second, func(arrival) int { return 1 })
				assert.LessOrEqual(t, items, q.ItemsPerWindow)
				assert.LessOrEqual(t, requests, q.RequestsPerSecond)
				took[processes] = svc.arrivals[len(svc.arrivals)-1].at.Sub(svc.arrivals[0].at)
				t.Logf("%d calls of %d processes in %s: at most %d requests in a second, %d items in a window",
					len(svc.arrivals), processes, took[processes].Round(time.Millisecond), requests, items)
			}
			t.Logf("%d processes took %d %% of the time of one", many, 100*took[many]/took[1])
			if *slowdown {
				assert.LessOrEqual(t, 100*took[many], 105*took[1])
			}
		})
	}
}
