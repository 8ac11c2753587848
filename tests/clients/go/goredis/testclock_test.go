package goredis

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

// What programs do with time, tested on a server whose clock stands still until the test moves it (docs/test_server.md): no
// test sleeps. Each logs how long it took.

// Takes the jobs that are due by the clock of the server, as queues with delays do.
var takeDue = redis.NewScript(`
local now = redis.call('TIME')
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now[1] * 1000 + math.floor(now[2] / 1000))
if #due > 0 then redis.call('ZREM', KEYS[1], unpack(due)) end
return due`)

// So many calls a minute, counted from the first.
var allow = redis.NewScript(`
local calls = redis.call('INCR', KEYS[1])
if calls == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return calls <= tonumber(ARGV[1])`)

// timed is a client of a server whose clock stands still.
type timed struct {
	*redis.Client
	t testing.TB
}

func frozen(t *testing.T) timed {
	rdb := timed{redis.NewClient(&redis.Options{Addr: TestAddr(t)}), t}
	rdb.test("RESET")
	rdb.test("CLOCK", "FREEZE")
	begin := time.Now()
	t.Cleanup(func() {
		t.Logf("%v", time.Since(begin))
		rdb.test("RESET")
		rdb.Close()
	})
	return rdb
}

func (rdb timed) test(words ...any) {
	rdb.t.Helper()
	NoError(rdb.t, rdb.Do(ctx, append([]any{"TEST"}, words...)...).Err())
}

func (rdb timed) advance(duration string) {
	rdb.t.Helper()
	rdb.test("CLOCK", "ADVANCE", duration)
}

func (rdb timed) now() time.Time { return Must(rdb.Time(ctx).Result()) }

func TestClockLockOf30SecondsWithAWatchdogEvery10(t *testing.T) {
	rdb := frozen(t)
	call := func(script, holder string) any {
		reply, err := rdb.Eval(ctx, Lua(script), []string{"lock:order"}, 30_000, holder).Result()
		if err != redis.Nil {
			NoError(t, err)
		}
		return reply
	}
	Equal(t, call("acquire_hset.lua", "uuid:1"), nil)
	for range 6 {
		rdb.advance("10s")
		Equal(t, rdb.PTTL(ctx, "lock:order").Val(), seconds(20))
		Equal(t, call("renew.lua", "uuid:1"), int64(1))
	}
	Equal(t, call("acquire_hset.lua", "uuid:2"), int64(30_000))
	rdb.advance("29999ms")
	Equal(t, call("acquire_hset.lua", "uuid:2"), int64(1))
	rdb.advance("2ms")
	Equal(t, call("renew.lua", "uuid:1"), int64(0))
	Equal(t, call("acquire_hset.lua", "uuid:2"), nil)
}

func TestClockDelayedQueue(t *testing.T) {
	rdb := frozen(t)
	due := func(delay time.Duration, job string) redis.Z {
		return redis.Z{Score: float64(rdb.now().Add(delay).UnixMilli()), Member: job}
	}
	take := func() []string { return Must(takeDue.Run(ctx, rdb, []string{"delayed"}).StringSlice()) }
	rdb.ZAdd(ctx, "delayed", due(time.Minute, "mail"), due(time.Hour, "report"), due(time.Minute, "invoice"))
	Equal(t, take(), []string{})
	rdb.advance("59999ms")
	Equal(t, take(), []string{})
	rdb.advance("1ms")
	Equal(t, take(), []string{"invoice", "mail"})
	rdb.advance("59m")
	Equal(t, take(), []string{"report"})
	Equal(t, rdb.ZCard(ctx, "delayed").Val(), int64(0))
}

func TestClockPendingEntriesAreClaimedAfterAnHour(t *testing.T) {
	rdb := frozen(t)
	NoError(t, rdb.XGroupCreateMkStream(ctx, "orders", "workers", "0").Err())
	entry := Must(rdb.XAdd(ctx, &redis.XAddArgs{Stream: "orders", Values: []string{"item", "1"}}).Result())
	Equal(t, entry, fmt.Sprintf("%d-0", rdb.now().UnixMilli()))
	NoError(t, rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "workers", Consumer: "dead", Streams: []string{"orders", ">"}}).Err())
	claim := func() []redis.XMessage {
		claimed, _, err := rdb.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: "orders", Group: "workers", Consumer: "alive", MinIdle: time.Hour, Start: "0"}).Result()
		NoError(t, err)
		return claimed
	}
	rdb.advance("59m")
	Equal(t, len(claim()), 0)
	rdb.advance("1m")
	pending := Must(rdb.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: "orders", Group: "workers", Start: "-", End: "+", Count: 10}).Result())
	Equal(t, pending[0].Idle, time.Hour)
	claimed := claim()
	Equal(t, len(claimed), 1)
	Equal(t, claimed[0].ID, entry)
	Equal(t, claimed[0].Values, map[string]any{"item": "1"})
	Equal(t, rdb.XAck(ctx, "orders", "workers", entry).Val(), int64(1))
}

func TestClockRateLimiterOf100AMinute(t *testing.T) {
	rdb := frozen(t)
	allowed := func(calls int) int {
		pipeline := rdb.Pipeline()
		replies := make([]*redis.Cmd, calls)
		for i := range replies {
			replies[i] = allow.Eval(ctx, pipeline, []string{"calls:alice"}, 100, 60)
		}
		pipeline.Exec(ctx) // a refusal is a nil, which Exec counts as an error
		return len(slices.DeleteFunc(replies, func(reply *redis.Cmd) bool { return reply.Val() != int64(1) }))
	}
	Equal(t, allowed(40), 40)
	rdb.advance("30s")
	Equal(t, allowed(70), 60)
	rdb.advance("29999ms")
	Equal(t, allowed(1), 0)
	rdb.advance("2ms")
	Equal(t, allowed(101), 100)
}

func TestClockSessionExpires30MinutesAfterItsLastUse(t *testing.T) {
	rdb := frozen(t)
	NoError(t, rdb.Set(ctx, "session:1", "alice", seconds(1800)).Err())
	for range 3 {
		rdb.advance("29m")
		Equal(t, Must(rdb.GetEx(ctx, "session:1", seconds(1800)).Result()), "alice")
	}
	rdb.advance("1799999ms")
	Equal(t, Must(rdb.Get(ctx, "session:1").Result()), "alice")
	rdb.advance("2ms")
	Equal(t, rdb.Get(ctx, "session:1").Err(), redis.Nil)
}

func TestClockSessionEndIsTold(t *testing.T) {
	rdb := frozen(t)
	NoError(t, rdb.ConfigSet(ctx, "notify-keyspace-events", "Ex").Err())
	listener := rdb.Subscribe(ctx, "__keyevent@0__:expired")
	defer listener.Close()
	Must(listener.Receive(ctx))
	NoError(t, rdb.Set(ctx, "session:1", "alice", seconds(1800)).Err())
	rdb.advance("30m")
	Equal(t, Must(listener.ReceiveMessage(ctx)).Payload, "session:1")
}

func TestClockCacheWithJitterExpiresLittleByLittle(t *testing.T) {
	rdb := frozen(t)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewSource(seed))
	var jitters [200]int
	pipeline := rdb.Pipeline()
	for i := range jitters {
		jitters[i] = chance.Intn(60)
		pipeline.Set(ctx, fmt.Sprintf("cache:%d", i), "value", seconds(600+jitters[i]))
	}
	Must(pipeline.Exec(ctx))
	rdb.advance("599999ms")
	Equal(t, rdb.DBSize(ctx).Val(), int64(200))
	rdb.advance("2ms")
	for second := 0; second < 60; second += 5 {
		left := len(slices.DeleteFunc(slices.Clone(jitters[:]), func(jitter int) bool { return jitter <= second }))
		Equal(t, rdb.DBSize(ctx).Val(), int64(left))
		rdb.advance("5s")
	}
	Equal(t, rdb.DBSize(ctx).Val(), int64(0))
}
