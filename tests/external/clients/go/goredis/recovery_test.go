package goredis

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

// These tests show how go-redis recovers from each fault: what the program sees, and how often INCR runs. The table of
// docs/testing/client_recovery.md has the same results. The clock of the server stands still, so that no delay ends by
// itself.

// shortTimeout is for tests that wait until it ends; go-redis waits 5 s.
const shortTimeout = 400 * time.Millisecond

// faults creates a fault for INCR, over its own client.
type faults struct {
	t       *testing.T
	control *redis.Client
}

func newFaults(t *testing.T) faults {
	t.Helper()
	f := faults{t, redis.NewClient(&redis.Options{Addr: TestAddr(t), PoolSize: 1})}
	t.Cleanup(func() {
		f.test("RESET")
		f.control.Close()
	})
	f.test("RESET")
	f.test("CLOCK", "FREEZE")
	return f
}

func (f faults) test(words ...any) any {
	f.t.Helper()
	reply, err := f.control.Do(ctx, append([]any{"TEST"}, words...)...).Result()
	NoError(f.t, err)
	return reply
}

func (f faults) make(action string) {
	f.t.Helper()
	words := []any{"FAULT", "ADD", "fault", "WHEN", "COMMAND", "INCR", "DO"}
	for _, word := range strings.Split(action, " ") {
		words = append(words, word)
	}
	f.test(append(words, "TIMES", 1)...)
}

// refuse ends the connection of the client, and refuses further connections.
func (f faults) refuse(client *redis.Client, more ...any) {
	f.t.Helper()
	own := id(client)
	f.test(append([]any{"FAULT", "ADD", "fault", "DO", "REFUSE"}, more...)...)
	Equal(f.t, f.test("DROP", "ID", own), any(int64(1)))
}

func (f faults) hits() any { return f.test("FAULT", "HITS", "fault") }

func (f faults) ran() int64 {
	n, err := f.control.Get(ctx, "n").Int64()
	if !errors.Is(err, redis.Nil) {
		NoError(f.t, err)
	}
	return n
}

// worksAgain removes the fault, and checks that the next INCR runs once.
func (f faults) worksAgain(client *redis.Client, ran int64) {
	f.t.Helper()
	Equal(f.t, f.ran(), ran)
	f.test("FAULT", "CLEAR")
	Equal(f.t, Must(client.Incr(ctx, "n").Result()), ran+1)
	Equal(f.t, f.ran(), ran+1)
}

func id(client *redis.Client) int64 { return Must(client.ClientID(ctx).Result()) }

// program returns a client with the default settings of go-redis, except for the given ones.
func program(t *testing.T, options *redis.Options) *redis.Client {
	t.Helper()
	options.Addr = TestAddr(t)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	NoError(t, client.Ping(ctx).Err())
	return client
}

func TestRecoveryRetriesAfterSomeErrors(t *testing.T) {
	for _, name := range []string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS"} {
		t.Run(name, func(t *testing.T) {
			f := newFaults(t)
			client := program(t, &redis.Options{})
			f.make("ERROR " + name)
			Equal(t, Must(client.Incr(ctx, "n").Result()), int64(1))
			Equal(t, f.hits(), any(int64(1)))
			f.worksAgain(client, 1)
		})
	}
}

func TestRecoveryReturnsOtherErrors(t *testing.T) {
	for _, words := range []string{"OOM", "BUSY", "MISCONF", "NOSCRIPT", "MOVED 1 127.0.0.1:1", "ASK 1 127.0.0.1:1"} {
		name, _, _ := strings.Cut(words, " ")
		t.Run(name, func(t *testing.T) {
			f := newFaults(t)
			client := program(t, &redis.Options{})
			own := id(client)
			f.make("ERROR " + words)
			ErrorBegins(t, client.Incr(ctx, "n").Err(), name+" ")
			Equal(t, id(client), own)
			f.worksAgain(client, 0)
		})
	}
}

func TestRecoveryBelievesAMadeUpReply(t *testing.T) {
	f := newFaults(t)
	client := program(t, &redis.Options{})
	f.make("REPLY :41\r\n")
	Equal(t, Must(client.Incr(ctx, "n").Result()), int64(41))
	f.worksAgain(client, 0)
}

func TestRecoveryReplacesAConnectionThatSpeaksNoRESP(t *testing.T) {
	f := newFaults(t)
	client := program(t, &redis.Options{})
	own := id(client)
	f.make("REPLY nonsense\r\n")
	ErrorBegins(t, client.Incr(ctx, "n").Err(), "redis: can't parse")
	if id(client) == own {
		t.Error("the connection is the same")
	}
	f.worksAgain(client, 0)
}

func TestRecoveryWaitsForADelayThatEndsInTime(t *testing.T) {
	for _, action := range []string{"DELAY", "DELAY-REPLY"} {
		t.Run(action, func(t *testing.T) {
			f := newFaults(t)
			client := program(t, &redis.Options{})
			f.make(action + " 1h")
			reply := make(chan *redis.IntCmd, 1)
			go func() { reply <- client.Incr(ctx, "n") }()
			Eventually(t, "INCR is delayed", func() bool { return f.hits() == any(int64(1)) })
			f.test("CLOCK", "ADVANCE", "1h")
			Equal(t, Must((<-reply).Result()), int64(1))
			f.worksAgain(client, 1)
		})
	}
}

func TestRecoveryRetriesAfterATimeout(t *testing.T) {
	for action, runs := range map[string]int64{
		"DELAY 1h":       1, // the first one is dropped with its connection
		"DELAY-REPLY 1h": 2,
		"TRICKLE 1":      2,
		"SILENCE":        2,
	} {
		t.Run(action, func(t *testing.T) {
			f := newFaults(t)
			client := program(t, &redis.Options{ReadTimeout: shortTimeout})
			own := id(client)
			f.make(action)
			Equal(t, Must(client.Incr(ctx, "n").Result()), runs)
			Equal(t, f.hits(), any(int64(1)))
			if id(client) == own {
				t.Error("the connection is the same")
			}
			f.worksAgain(client, runs)
		})
	}
}

func TestRecoveryRetriesWhenTheConnectionEnds(t *testing.T) {
	for action, runs := range map[string]int64{"CLOSE": 1, "CLOSE-AFTER": 2, "CUT 2": 2} {
		t.Run(action, func(t *testing.T) {
			f := newFaults(t)
			client := program(t, &redis.Options{})
			f.make(action)
			Equal(t, Must(client.Incr(ctx, "n").Result()), runs)
			Equal(t, f.hits(), any(int64(1)))
			f.worksAgain(client, runs)
		})
	}
}

func TestRecoveryWithoutRetriesReturnsTheErrorOfALostReply(t *testing.T) {
	f := newFaults(t)
	client := program(t, &redis.Options{MaxRetries: -1})
	f.make("CLOSE-AFTER")
	Equal(t, client.Incr(ctx, "n").Err(), io.EOF)
	f.worksAgain(client, 1)
}

func TestRecoveryReturnsAnErrorWhenAllRetriesAreRefused(t *testing.T) {
	// The client's error depends on whether it has written when the server closes.
	closed := func(err error) bool {
		return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	}
	refused := func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
	for _, test := range []struct {
		name  string
		words []any
		fails func(error) bool
	}{
		{"REFUSE", nil, closed},
		{"REFUSE LISTEN", []any{"LISTEN"}, refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFaults(t)
			client := program(t, &redis.Options{DialerRetryTimeout: time.Millisecond}) // go-redis pauses for 100 ms
			f.refuse(client, test.words...)
			if err := client.Incr(ctx, "n").Err(); !test.fails(err) {
				t.Errorf("got the error %v", err)
			}
			if test.words == nil && f.hits().(int64) < 2 {
				t.Error("go-redis did not retry")
			}
			f.worksAgain(client, 0)
		})
	}
}

func TestRecoveryDoesNotSeeOneRefusal(t *testing.T) {
	f := newFaults(t)
	client := program(t, &redis.Options{})
	f.refuse(client, "TIMES", 1)
	Equal(t, Must(client.Incr(ctx, "n").Result()), int64(1))
	Equal(t, f.hits(), any(int64(1)))
	f.worksAgain(client, 1)
}
