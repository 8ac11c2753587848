package redistest

import (
	"bufio"
	"fmt"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// ClusterAddrs returns the addresses of the nodes of this suite's cluster.
func ClusterAddrs() []string {
	return strings.Split(os.Getenv("REDIS_CLUSTER"), ",")
}

// Control requests a change of the cluster (see ../../README.md) and returns the rest of the answer.
func Control(t testing.TB, words ...any) string {
	t.Helper()
	return controlAt(t, "REDIS_CLUSTER_CONTROL", words)
}

// ControlSentinels requests a change of the primary that has Sentinels, and returns the rest of the answer.
func ControlSentinels(t testing.TB, words ...any) string {
	t.Helper()
	return controlAt(t, "REDIS_SENTINELS_CONTROL", words)
}

func controlAt(t testing.TB, variable string, words []any) string {
	t.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", os.Getenv(variable)))
	NoError(t, err)
	defer conn.Close()
	NoError(t, conn.SetDeadline(time.Now().Add(90*time.Second)))
	fmt.Fprintln(conn, words...)
	line, err := bufio.NewReader(conn).ReadString('\n')
	NoError(t, err)
	verdict, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if verdict != "ok" {
		t.Fatal(line)
	}
	return rest
}

// Load increments counters, several at a time, until Stop. Counts returns what the servers acknowledged.
type Load struct {
	Keys    []string
	mutex   sync.Mutex
	counts  map[string]int64
	refused int
	trouble error
	done    chan struct{}
	tasks   sync.WaitGroup
}

// NoTrouble and AnyTrouble are arguments of NewLoad: no request may fail, or all may, because a primary dies.
func NoTrouble(error) bool  { return false }
func AnyTrouble(error) bool { return true }

// NewLoad starts the load. Expected errors are only counted; others end the test.
func NewLoad(isExpected func(error) bool, increment func(key string) error) *Load {
	load := &Load{counts: map[string]int64{}, done: make(chan struct{})}
	for n := range 60 {
		load.Keys = append(load.Keys, fmt.Sprintf("load:%d", n))
	}
	for seed := range 4 {
		chance := rand.New(rand.NewSource(int64(seed)))
		load.tasks.Go(func() {
			for load.runs() {
				key := load.Keys[chance.Intn(len(load.Keys))]
				load.note(key, increment(key), isExpected)
			}
		})
	}
	return load
}

func (load *Load) runs() bool {
	select {
	case <-load.done:
		return false
	default:
		return true
	}
}

func (load *Load) note(key string, err error, isExpected func(error) bool) {
	load.mutex.Lock()
	defer load.mutex.Unlock()
	if err == nil {
		load.counts[key]++
	} else if isExpected(err) {
		load.refused++
	} else if load.trouble == nil {
		load.trouble = err
	}
}

// Refused returns how many increments failed as expected.
func (load *Load) Refused() int {
	load.mutex.Lock()
	defer load.mutex.Unlock()
	return load.refused
}

// Counts returns how often each key was incremented.
func (load *Load) Counts() map[string]int64 {
	load.mutex.Lock()
	defer load.mutex.Unlock()
	counts := map[string]int64{}
	for key, count := range load.counts {
		counts[key] = count
	}
	return counts
}

// GoesOn waits until every key was incremented several more times.
func (load *Load) GoesOn(t testing.TB) {
	t.Helper()
	load.GoesOnWithin(t, 30*time.Second)
}

// GoesOnWithin is GoesOn with another time limit.
func (load *Load) GoesOnWithin(t testing.TB, limit time.Duration) {
	t.Helper()
	before := load.Counts()
	deadline := time.Now().Add(limit)
	for !load.allAbove(before) {
		if time.Now().After(deadline) {
			t.Fatal("the load does not go on")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (load *Load) allAbove(before map[string]int64) bool {
	counts := load.Counts()
	for _, key := range load.Keys {
		if counts[key] < before[key]+2 {
			return false
		}
	}
	return true
}

// Stop ends the load. It also ends the test if there was an unexpected error.
func (load *Load) Stop(t testing.TB) {
	t.Helper()
	close(load.done)
	load.tasks.Wait()
	NoError(t, load.trouble)
}
