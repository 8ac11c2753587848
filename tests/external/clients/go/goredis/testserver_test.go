package goredis

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

// testServer returns a server with test commands, and with these options, whose clock stands still. It skips the test on
// Redis, which has none.
func testServer(t *testing.T, words ...string) (*Server, *redis.Client) {
	t.Helper()
	help, _ := exec.Command(os.Getenv("REDIS_SERVER"), "--help").CombinedOutput()
	if !strings.Contains(string(help), "--test ") {
		t.Skip("this server has no TEST")
	}
	server := NewServer(t, append([]string{"--test-commands", "local"}, words...)...)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { rdb.Close() })
	NoError(t, rdb.Do(ctx, "TEST", "CLOCK", "FREEZE", "1700000000000").Err())
	return server, rdb
}

func advance(t *testing.T, rdb *redis.Client, duration string) {
	t.Helper()
	NoError(t, rdb.Do(ctx, "TEST", "CLOCK", "ADVANCE", duration).Err())
}

func TestAWatchdogKeepsALock(t *testing.T) {
	_, rdb := testServer(t)
	renew := redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], 30000) end return 0`)
	take := func(owner string) bool { return rdb.SetNX(ctx, "lock", owner, seconds(30)).Val() }
	Equal(t, take("ann"), true)
	for range 6 {
		advance(t, rdb, "10s")
		Equal(t, renew.Run(ctx, rdb, []string{"lock"}, "ann").Val(), any(int64(1)))
		Equal(t, take("bob"), false)
	}
	advance(t, rdb, "30s")
	Equal(t, take("bob"), true)
	Equal(t, renew.Run(ctx, rdb, []string{"lock"}, "ann").Val(), any(int64(0)))
}

func TestTimePassesForQueuesSessionsAndLimits(t *testing.T) {
	_, rdb := testServer(t)
	now := func() float64 { return float64(rdb.Time(ctx).Val().Unix()) }
	due := func() int {
		return len(rdb.ZRangeByScore(ctx, "delayed", &redis.ZRangeBy{Min: "-inf", Max: fmt.Sprint(int64(now()))}).Val())
	}
	allowed := func() (count int) {
		for range 150 {
			n := rdb.Incr(ctx, "rate").Val()
			if n == 1 {
				rdb.Expire(ctx, "rate", time.Minute)
			}
			if n <= 100 {
				count++
			}
		}
		return
	}
	rdb.ZAdd(ctx, "delayed", redis.Z{Score: now() + 3600, Member: "mail"})
	rdb.Set(ctx, "session", "ann", 30*time.Minute)
	Equal(t, allowed(), 100)
	Equal(t, due(), 0)
	advance(t, rdb, "29m")
	Equal(t, rdb.Exists(ctx, "session").Val(), int64(1))
	Equal(t, allowed(), 100)
	advance(t, rdb, "31m")
	Equal(t, due(), 1)
	Equal(t, rdb.Exists(ctx, "session").Val(), int64(0))
}

func TestPendingEntriesAreClaimedAfterAnHour(t *testing.T) {
	_, rdb := testServer(t)
	rdb.XGroupCreateMkStream(ctx, "orders", "workers", "0")
	id := rdb.XAdd(ctx, &redis.XAddArgs{Stream: "orders", Values: []any{"n", 1}}).Val()
	rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "workers", Consumer: "dies", Streams: []string{"orders", ">"}})
	claim := func() []redis.XMessage {
		args := &redis.XAutoClaimArgs{Stream: "orders", Group: "workers", Consumer: "lives", MinIdle: time.Hour, Start: "0"}
		messages, _, err := rdb.XAutoClaim(ctx, args).Result()
		NoError(t, err)
		return messages
	}
	advance(t, rdb, "59m")
	Equal(t, len(claim()), 0)
	advance(t, rdb, "1m")
	Equal(t, claim()[0].ID, id)
}

func TestACacheWithJitterExpiresKeyByKey(t *testing.T) {
	_, rdb := testServer(t)
	NoError(t, rdb.ConfigSet(ctx, "notify-keyspace-events", "Ex").Err())
	listener := rdb.PSubscribe(ctx, "__keyevent@*__:expired")
	defer listener.Close()
	Must(listener.Receive(ctx))
	for key, jitter := range map[string]int{"a": 7, "b": 3, "c": 5} {
		rdb.Set(ctx, key, "html", seconds(60+jitter))
	}
	advance(t, rdb, "2m")
	expired := ""
	for range 3 {
		expired += Must(listener.ReceiveMessage(ctx)).Payload
	}
	Equal(t, expired, "bca")
}

func TestEachTestBeginsWithTheSameData(t *testing.T) {
	_, rdb := testServer(t)
	rdb.Set(ctx, "stock:1", 100, 0)
	NoError(t, rdb.Do(ctx, "TEST", "SNAPSHOT", "SAVE", "shop").Err())
	for number := range 20 {
		NoError(t, rdb.Do(ctx, "TEST", "SNAPSHOT", "RESTORE", "shop").Err())
		Equal(t, rdb.Get(ctx, "stock:1").Val(), "100")
		if number%2 == 0 {
			rdb.FlushAll(ctx)
		} else {
			rdb.DecrBy(ctx, "stock:1", int64(number))
		}
	}
}

func TestWorkersShareAServerButNoData(t *testing.T) {
	server, _ := testServer(t)
	for worker := range 4 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			rdb := redis.NewClient(Must(redis.ParseURL(fmt.Sprintf("redis://world.t%d:any@%s/0", worker, server.Addr))))
			defer rdb.Close()
			for n := range 20 {
				NoError(t, rdb.FlushAll(ctx).Err())
				NoError(t, rdb.Set(ctx, "worker", worker*100+n, 0).Err())
				Equal(t, rdb.Get(ctx, "worker").Val(), fmt.Sprint(worker*100+n))
				Equal(t, rdb.DBSize(ctx).Val(), int64(1))
			}
		})
	}
}

func TestTheJournalShowsRoundTripsAndWhatWasSent(t *testing.T) {
	server, rdb := testServer(t)
	NoError(t, rdb.Do(ctx, "TEST", "JOURNAL", "START").Err())
	app := redis.NewClient(&redis.Options{Addr: server.Addr, ClientName: "app"})
	defer app.Close()
	// A pipeline may use its own connection, whose handshake also takes round trips.
	_, err := app.Pipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Ping(ctx).Err() })
	NoError(t, err)
	NoError(t, rdb.Do(ctx, "TEST", "JOURNAL", "CLEAR").Err())
	_, err = app.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.SetNX(ctx, "lock", "me", 0)
		pipe.Expire(ctx, "lock", seconds(30))
		return nil
	})
	NoError(t, err)
	NoError(t, rdb.Do(ctx, "TEST", "EXPECT", "ROUNDTRIPS", "AT-MOST", 1, "CLIENT", "app").Err())
	NoError(t, rdb.Do(ctx, "TEST", "EXPECT", "SEQUENCE", "COMMAND", "set", "THEN", "COMMAND", "expire").Err())
	err = rdb.Do(ctx, "TEST", "EXPECT", "COMMAND", "set", "NONE").Err()
	if err == nil || !strings.HasPrefix(err.Error(), "EXPECT wanted none of [COMMAND set], saw 1: | #") ||
		!strings.HasSuffix(err.Error(), " app: set lock me nx -> ok") {
		t.Fatal(err)
	}
}

func TestAWorkerIsAwaitedInsteadOfASleep(t *testing.T) {
	server, rdb := testServer(t)
	worker := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer worker.Close()
	popped := make(chan []string)
	go func() { popped <- worker.BLPop(ctx, 0, "jobs").Val() }()
	NoError(t, rdb.Do(ctx, "TEST", "AWAIT", "BLOCKED", 1, "KEY", "jobs").Err())
	NoError(t, rdb.RPush(ctx, "jobs", "job").Err())
	Equal(t, (<-popped)[1], "job")
	NoError(t, rdb.Do(ctx, "TEST", "AWAIT", "BLOCKED", 0).Err())
}
