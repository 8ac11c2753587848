package goredis

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

func TestScriptRunFallsBackFromEvalshaToEval(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.ScriptFlush(ctx).Result()), "OK")
		compareAndDelete := redis.NewScript(
			`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`)
		ErrorText(t, compareAndDelete.EvalSha(ctx, rdb, []string{"lock"}, "me").Err(),
			"NOSCRIPT No matching script. Please use EVAL.")
		rdb.Set(ctx, "lock", "me", 0)
		Equal(t, Must(compareAndDelete.Run(ctx, rdb, []string{"lock"}, "another").Int()), 0)
		Equal(t, Must(compareAndDelete.Exists(ctx, rdb).Result()), []bool{true})
		Equal(t, Must(compareAndDelete.EvalSha(ctx, rdb, []string{"lock"}, "me").Int()), 1)
		Equal(t, Must(compareAndDelete.Run(ctx, rdb, []string{"lock"}, "me").Int()), 0)
	})
}

func TestScriptRepliesBecomeGoValues(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		eval := func(script string, args ...any) any {
			value, err := rdb.Eval(ctx, script, []string{"k"}, args...).Result()
			if err != nil {
				return err
			}
			return value
		}
		Equal(t, eval("return 3.99"), int64(3))
		Equal(t, eval("return {1, 'two', {3, '4'}, nil, 5}"), []any{int64(1), "two", []any{int64(3), "4"}})
		Equal(t, eval("return redis.status_reply('FINE')"), "FINE")
		Equal(t, eval("return nil"), redis.Nil)
		Equal(t, eval("return false"), redis.Nil)
		Equal(t, eval("return true"), int64(1))
		Equal(t, eval("return {}"), []any{})
		Equal(t, eval("return cjson.encode({1, 'a', cjson.null})"), `[1,"a",null]`)
		Equal(t, eval("return math.max(1, '2')"), int64(2))
		Equal(t, eval("return 4/2 .. ''"), "2")
		Equal(t, eval("return #ARGV", "a", "b", "c"), int64(3))
		ErrorText(t, eval("return redis.error_reply('MY own')").(error), "MY own")
		ErrorBegins(t, eval("return redis.call('incr', KEYS[1], 1)").(error),
			"ERR Wrong number of args calling Redis command from script")
		ErrorBegins(t, eval("return redis.call('nosuch')").(error), "ERR Unknown Redis command called from script")
	})
}

func TestReentrantLockScripts(t *testing.T) {
	acquire := redis.NewScript(Lua("acquire_or.lua"))
	release := redis.NewScript(Lua("release_assembled.lua"))
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		sub := rdb.Subscribe(ctx, "redisson_lock__channel:{lock}")
		defer sub.Close()
		Must(sub.Receive(ctx))
		lock, unlock := []string{"lock"}, []string{"lock", "redisson_lock__channel:{lock}"}
		Equal(t, acquire.Run(ctx, rdb, lock, 30000, "a:1").Err(), redis.Nil)
		Equal(t, acquire.Run(ctx, rdb, lock, 30000, "a:1").Err(), redis.Nil)
		Equal(t, Must(rdb.HGetAll(ctx, "lock").Result()), map[string]string{"a:1": "2"})
		if ttl := Must(acquire.Run(ctx, rdb, lock, 30000, "b:1").Int()); ttl <= 29000 || ttl > 30000 {
			t.Errorf("the other one's lock lives %d ms", ttl)
		}
		Equal(t, release.Run(ctx, rdb, unlock, 0, 30000, "b:1").Err(), redis.Nil)
		Equal(t, Must(release.Run(ctx, rdb, unlock, 0, 30000, "a:1").Int()), 0)
		Equal(t, Must(release.Run(ctx, rdb, unlock, 0, 30000, "a:1").Int()), 1)
		Equal(t, Must(sub.ReceiveMessage(ctx)).Payload, "0")
		Equal(t, Must(rdb.Exists(ctx, "lock").Result()), int64(0))
	})
}

// One script checks stock and buyers, takes an item and writes to the stream, with keys that the script creates itself.
func TestFlashSaleOf1000UsersSells100VouchersExactly(t *testing.T) {
	rdb := connect(t, &redis.Options{PoolSize: 50, PoolTimeout: seconds(60)})
	rdb.Set(ctx, "seckill:stock:7", 100, 0)
	script := redis.NewScript(Lua("seckill.lua"))
	var outcomes [3]atomic.Int64
	var wg sync.WaitGroup
	for user := range 1000 {
		wg.Go(func() {
			for attempt := range 2 {
				outcome, err := script.Run(ctx, rdb, nil, 7, user, user*10+attempt).Int()
				if err != nil {
					t.Error(err)
					return
				}
				outcomes[outcome].Add(1)
			}
		})
	}
	wg.Wait()
	Equal(t, outcomes[0].Load(), int64(100))
	Equal(t, outcomes[1].Load()+outcomes[2].Load(), int64(1900))
	Equal(t, Must(rdb.Get(ctx, "seckill:stock:7").Int()), 0)
	Equal(t, Must(rdb.SCard(ctx, "seckill:order:7").Result()), int64(100))
	orders := Must(rdb.XRange(ctx, "stream.orders", "-", "+").Result())
	Equal(t, len(orders), 100)
	buyers := map[any]bool{}
	for _, order := range orders {
		buyers[order.Values["userId"]] = true
	}
	Equal(t, len(buyers), 100)
}

func TestFlashSaleWithoutStockKeyComparesNil(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	err := rdb.Eval(ctx, Lua("seckill.lua"), nil, 7, 1, 1).Err()
	if err == nil || !strings.Contains(err.Error(), "attempt to compare nil with number") {
		t.Errorf("got %v", err)
	}
}

func TestWrongSnippetsAreRefused(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		ErrorBegins(t, rdb.Eval(ctx, "// KEYS[1] is the lock\nreturn 1", nil).Err(),
			"ERR Error compiling script (new function): user_script:1: unexpected symbol near '/")
		ErrorBegins(t, rdb.Eval(ctx, "local name = redis.call('get', 'name')\n# back\nreturn name", nil).Err(),
			"ERR Error compiling script (new function): user_script:2: unexpected symbol near '#'")
		ErrorBegins(t, rdb.Eval(ctx, "if tonumber(redis.call('GET', stock_key)) <= 0 then return 0 end", nil).Err(),
			"ERR user_script:1: Script attempted to access nonexistent global variable 'stock_key'")
		ErrorText(t, rdb.Do(ctx, "XGROUP", "DESTORY", "s", "g").Err(),
			"ERR unknown subcommand 'DESTORY'. Try XGROUP HELP.")
		ErrorText(t, rdb.Do(ctx, "SETNX", "seckill:order:1").Err(), "ERR wrong number of arguments for 'setnx' command")
		ErrorText(t, rdb.Do(ctx, "XGROUP", "CREATE", "orders:group1", "$", "MKSTREAM").Err(), "ERR The XGROUP subcommand"+
			" requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty"+
			" stream automatically.")
		ErrorText(t, rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g1", Consumer: "c1",
			Streams: []string{"s1", ">"}}).Err(),
			"NOGROUP No such key 's1' or consumer group 'g1' in XREADGROUP with GROUP option")
		ErrorText(t, rdb.Do(ctx, "SELECT", 16).Err(), "ERR DB index is out of range")
	})
}

func TestFunctions(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		defer rdb.FunctionFlush(ctx)
		library := "#!lua name=shop\nredis.register_function('take', function(keys, args)" +
			" return redis.call('DECRBY', keys[1], args[1]) end)\n" +
			"redis.register_function{function_name='stock', flags={'no-writes'}," +
			" callback=function(keys) return redis.call('GET', keys[1]) end}"
		Equal(t, Must(rdb.FunctionLoad(ctx, library).Result()), "shop")
		ErrorText(t, rdb.FunctionLoad(ctx, library).Err(), "ERR Library 'shop' already exists")
		rdb.Set(ctx, "n", 10, 0)
		Equal(t, Must(rdb.FCall(ctx, "take", []string{"n"}, 3).Int()), 7)
		Equal(t, Must(rdb.FCallRo(ctx, "stock", []string{"n"}).Text()), "7")
		list := Must(rdb.FunctionList(ctx, redis.FunctionListQuery{WithCode: true}).Result())
		Equal(t, len(list), 1)
		Equal(t, list[0].Engine, "LUA")
		Equal(t, list[0].Code, library)
		Equal(t, len(list[0].Functions), 2)
		dump := Must(rdb.FunctionDump(ctx).Result())
		rdb.FunctionFlush(ctx)
		Equal(t, Must(rdb.FunctionRestore(ctx, dump).Result()), "OK")
		Equal(t, Must(rdb.FCall(ctx, "take", []string{"n"}, 3).Int()), 4)
		Equal(t, len(Must(rdb.FunctionStats(ctx).Result()).Engines), 1)
	})
}

// The measurement of a script's time must not shorten what the server does afterwards.
func TestASleepRightAfterAScriptTakesItsTime(t *testing.T) {
	server := NewServer(t, "--enable-debug-command", "local", "--latency-monitor-threshold", "100")
	rdb := connect(t, &redis.Options{Addr: server.Addr, PoolSize: 1})
	NoError(t, rdb.Eval(ctx, "return 1", nil).Err())
	NoError(t, rdb.Do(ctx, "DEBUG", "SLEEP", 0.15).Err())
	events := Must(rdb.Latency(ctx).Result())
	if len(events) != 1 || events[0].Name != "command" || events[0].Max < 150*time.Millisecond {
		t.Errorf("slow events: %+v", events)
	}
}
