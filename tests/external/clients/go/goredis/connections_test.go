package goredis

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// blocked returns how many clients wait for a key.
func blocked(rdb *redis.Client) int {
	n := 0
	for line := range strings.Lines(rdb.Info(ctx, "clients").Val()) {
		if count, found := strings.CutPrefix(strings.TrimSpace(line), "blocked_clients:"); found {
			n = int(count[0] - '0')
		}
	}
	return n
}

func TestBlockingPopsWakeAtOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		wakes := func(what string, wait func() any, push func() error, want any) {
			t.Helper()
			got := make(chan any, 1)
			go func() { got <- wait() }()
			Eventually(t, what+" blocks", func() bool { return blocked(rdb) == 1 })
			start := time.Now()
			NoError(t, push())
			Equal(t, <-got, want)
			if waited := time.Since(start); waited > seconds(2) {
				t.Errorf("%s woke after %v", what, waited)
			}
		}
		wakes("BRPOP", func() any { return rdb.BRPop(ctx, 0, "none", "q").Val() },
			func() error { return rdb.LPush(ctx, "q", "job").Err() }, []string{"q", "job"})
		wakes("BLMOVE", func() any { return rdb.BLMove(ctx, "q", "backup", "RIGHT", "LEFT", seconds(5)).Val() },
			func() error { return rdb.LPush(ctx, "q", "job2").Err() }, "job2")
		wakes("BZPOPMIN", func() any { return rdb.BZPopMin(ctx, seconds(5), "z").Val() },
			func() error { return rdb.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "m"}).Err() },
			&redis.ZWithKey{Key: "z", Z: redis.Z{Score: 1.5, Member: "m"}})
		wakes("BLMPOP", func() any { _, popped, _ := rdb.BLMPop(ctx, seconds(5), "left", 10, "q", "r").Result(); return popped },
			func() error { return rdb.RPush(ctx, "r", "1", "2", "3").Err() }, []string{"1", "2", "3"})
		wakes("BZMPOP", func() any { _, popped, _ := rdb.BZMPop(ctx, seconds(5), "max", 1, "z").Result(); return popped },
			func() error { return rdb.ZAdd(ctx, "z", redis.Z{Score: 2, Member: "b"}).Err() },
			[]redis.Z{{Score: 2, Member: "b"}})
	})
}

func TestBlockingPopGivesUpAfterItsTimeout(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		start := time.Now()
		Equal(t, rdb.BLPop(ctx, seconds(1), "empty").Err(), redis.Nil)
		if waited := time.Since(start); waited < 950*time.Millisecond || waited > seconds(3) {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestACancelledContextEndsABlockingPop(t *testing.T) {
	rdb := connect(t, &redis.Options{ContextTimeoutEnabled: true})
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	err := rdb.BLPop(short, seconds(10), "empty").Err()
	var timeout net.Error
	if !errors.Is(err, context.DeadlineExceeded) && (!errors.As(err, &timeout) || !timeout.Timeout()) {
		t.Errorf("got %v", err)
	}
	Eventually(t, "the server has noticed", func() bool { return blocked(rdb) == 0 })
	Equal(t, Must(rdb.Ping(ctx).Result()), "PONG")
}

func TestThePoolIsSharedAndBounded(t *testing.T) {
	rdb := connect(t, &redis.Options{PoolSize: 5, PoolTimeout: seconds(30)})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 20 {
				if err := rdb.Incr(ctx, "n").Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	Equal(t, Must(rdb.Get(ctx, "n").Int()), 2000)
	if stats := rdb.PoolStats(); stats.TotalConns > 5 || stats.Timeouts != 0 {
		t.Errorf("pool: %+v", stats)
	}
}

// pingHook counts connections, PINGs and pipelines of two PINGs; hooks also see the handshake's own commands.
type pingHook struct{ dials, pings, pipelines atomic.Int64 }

func (h *pingHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		h.dials.Add(1)
		return next(ctx, network, addr)
	}
}

func (h *pingHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.String() == "ping: PONG" {
			h.pings.Add(1)
		}
		return err
	}
}

func (h *pingHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if len(cmds) == 2 && cmds[1].String() == "ping: PONG" {
			h.pipelines.Add(1)
		}
		return err
	}
}

func TestHooksSeeDialsCommandsAndPipelines(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: Addr()})
	defer rdb.Close()
	var hook pingHook
	rdb.AddHook(&hook)
	Equal(t, Must(rdb.Ping(ctx).Result()), "PONG")
	Must(rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error { pipe.Ping(ctx); pipe.Ping(ctx); return nil }))
	Equal(t, hook.pings.Load(), int64(1))
	Equal(t, hook.pipelines.Load(), int64(1))
	if hook.dials.Load() == 0 {
		t.Error("no dial was seen")
	}
}

func TestHandshakeNamesTheClientAndSelectsTheDatabase(t *testing.T) {
	rdb := connect(t, &redis.Options{ClientName: "checkout", DB: 3})
	Equal(t, Must(rdb.ClientGetName(ctx).Result()), "checkout")
	info := Must(rdb.ClientInfo(ctx).Result())
	Equal(t, info.DB, 3)
	Equal(t, info.Name, "checkout")
	Equal(t, info.ID, Must(rdb.ClientID(ctx).Result()))
	rdb.Set(ctx, "only here", 1, 0)
	other := redis.NewClient(&redis.Options{Addr: Addr()})
	defer other.Close()
	Equal(t, Must(other.Exists(ctx, "only here").Result()), int64(0))
}

func TestHandshakeTellsTheLibrary(t *testing.T) {
	NeedsVersion(t, 7, 2)
	rdb := connect(t, &redis.Options{})
	info := Must(rdb.ClientInfo(ctx).Result())
	if !strings.HasPrefix(info.LibName, "go-redis") || info.LibVer != redis.Version() {
		t.Errorf("library %q, version %q", info.LibName, info.LibVer)
	}
}

func TestMaintenanceNotificationsAreRefusedNotIgnored(t *testing.T) {
	for mode, works := range map[maintnotifications.Mode]bool{
		maintnotifications.ModeDisabled: true, maintnotifications.ModeAuto: true, maintnotifications.ModeEnabled: false} {
		rdb := redis.NewClient(&redis.Options{Addr: Addr(), Protocol: 3, MaxRetries: -1,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: mode}})
		if err := rdb.Ping(ctx).Err(); (err == nil) != works {
			t.Errorf("mode %v: %v", mode, err)
		}
		rdb.Close()
	}
}

func TestPasswords(t *testing.T) {
	server := NewServer(t, "--requirepass", "secret 密码")
	for _, protocol := range []int{2, 3} {
		open := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: protocol})
		ErrorText(t, open.Get(ctx, "k").Err(), "NOAUTH Authentication required.")
		wrong := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: protocol, Password: "guess"})
		ErrorBegins(t, wrong.Get(ctx, "k").Err(), "WRONGPASS invalid username-password pair or user is disabled.")
		right := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: protocol, Password: "secret 密码"})
		Equal(t, Must(right.Set(ctx, "k", "v", 0).Result()), "OK")
		named := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: protocol, Username: "default",
			Password: "secret 密码"})
		Equal(t, Must(named.Get(ctx, "k").Result()), "v")
		for _, rdb := range []*redis.Client{open, wrong, right, named} {
			rdb.Close()
		}
	}
}

func TestTheClientReconnectsAfterACrash(t *testing.T) {
	server := NewServer(t, "--appendonly", "yes", "--appendfsync", "always")
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: 1, MaxRetryBackoff: time.Millisecond,
		DialerRetries: 1})
	defer rdb.Close()
	sub := rdb.Subscribe(ctx, "news")
	defer sub.Close()
	messages := sub.Channel()
	script := redis.NewScript("return redis.call('incr', KEYS[1])")
	for n := 1; n <= 3; n++ {
		Eventually(t, "the script counts", func() bool { return rdb.Ping(ctx).Err() == nil })
		Equal(t, Must(script.Run(ctx, rdb, []string{"n"}).Int()), n)
		Eventually(t, "the subscription is there again", func() bool { return rdb.Publish(ctx, "news", n).Val() == 1 })
		<-messages
		server.Kill(t)
		if rdb.Ping(ctx).Err() == nil {
			t.Error("a dead server answers")
		}
		server.Start(t)
	}
	Equal(t, Must(rdb.Get(ctx, "n").Int()), 3)
}

func TestUniversalClient(t *testing.T) {
	rdb := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{Addr()}, DB: 1})
	defer rdb.Close()
	Equal(t, Must(rdb.Set(ctx, "k", "v", 0).Result()), "OK")
	Equal(t, Must(rdb.Get(ctx, "k").Result()), "v")
}

func TestRingSpreadsKeysOverThreeServers(t *testing.T) {
	addrs := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		addrs[name] = NewServer(t).Addr
	}
	ring := redis.NewRing(&redis.RingOptions{Addrs: addrs})
	defer ring.Close()
	pipe := ring.Pipeline()
	for i := range 300 {
		pipe.Set(ctx, key("k", i), i, 0)
	}
	Must(pipe.Exec(ctx))
	var total, shards atomic.Int64
	NoError(t, ring.ForEachShard(ctx, func(ctx context.Context, shard *redis.Client) error {
		size, err := shard.DBSize(ctx).Result()
		total.Add(size)
		if size > 0 {
			shards.Add(1)
		}
		return err
	}))
	Equal(t, total.Load(), int64(300))
	Equal(t, shards.Load(), int64(3))
	Equal(t, Must(ring.Get(ctx, "k:299").Int()), 299)
}

func TestUnixSocket(t *testing.T) {
	server := NewServer(t, "--unixsocket", t.TempDir()+"/s", "--unixsocketperm", "700")
	probe := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer probe.Close()
	path := Must(probe.ConfigGet(ctx, "unixsocket").Result())["unixsocket"]
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: path})
	defer rdb.Close()
	Equal(t, Must(rdb.Echo(ctx, "through the file").Result()), "through the file")
}

func TestClientsCanBeKilledAndUnblocked(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	conn := rdb.Conn()
	defer conn.Close()
	id := Must(conn.ClientID(ctx).Result())
	waiting := make(chan error, 1)
	go func() { waiting <- conn.BLPop(ctx, 0, "never").Err() }()
	Eventually(t, "it blocks", func() bool { return blocked(rdb) == 1 })
	Equal(t, Must(rdb.ClientUnblockWithError(ctx, id).Result()), int64(1))
	ErrorText(t, <-waiting, "UNBLOCKED client unblocked via CLIENT UNBLOCK")
	Equal(t, Must(rdb.Do(ctx, "CLIENT", "KILL", "ID", id).Int()), 1)
	Equal(t, Must(rdb.Do(ctx, "CLIENT", "KILL", "ID", id).Int()), 0)
}

func TestServerIntrospection(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		commands := Must(rdb.Command(ctx).Result())
		Equal(t, commands["get"].Arity, int8(2))
		Equal(t, commands["get"].ReadOnly, true)
		Equal(t, commands["mset"].StepCount, int8(2))
		Equal(t, Must(rdb.CommandGetKeys(ctx, "mset", "a", 1, "b", 2).Result()), []string{"a", "b"})
		sections := rdb.InfoMap(ctx, "server", "keyspace")
		NoError(t, sections.Err())
		Equal(t, sections.Item("Server", "redis_mode"), "standalone")
		rdb.Set(ctx, "k", "12", 0)
		Equal(t, Must(rdb.ObjectEncoding(ctx, "k").Result()), "int")
		if used := Must(rdb.MemoryUsage(ctx, "k").Result()); used <= 0 || used > 200 {
			t.Errorf("a small key takes %d bytes", used)
		}
		if off := time.Since(Must(rdb.Time(ctx).Result())).Abs(); off > seconds(5) {
			t.Errorf("the clock is off by %v", off)
		}
		before := Must(rdb.ConfigGet(ctx, "slowlog-log-slower-than").Result())["slowlog-log-slower-than"]
		rdb.ConfigSet(ctx, "slowlog-log-slower-than", "0")
		rdb.Do(ctx, "SLOWLOG", "RESET")
		rdb.Get(ctx, "k")
		rdb.ConfigSet(ctx, "slowlog-log-slower-than", before)
		found := false
		for _, entry := range Must(rdb.SlowLogGet(ctx, 20).Result()) {
			found = found || strings.Join(entry.Args, " ") == "get k"
		}
		Equal(t, found, true)
	})
}

func TestMonitor(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	lines := make(chan string, 100)
	monitor := redis.NewClient(&redis.Options{Addr: Addr(), Protocol: 2, ReadTimeout: seconds(1)}).Monitor(ctx, lines)
	monitor.Start()
	defer monitor.Stop()
	Eventually(t, "the monitor is on", func() bool {
		rdb.Set(ctx, "qingshan", "26\"73\n", 0)
		select {
		case line := <-lines:
			return strings.Contains(line, `"set" "qingshan" "26\"73\n"`)
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
}

func TestScanIntoAStructAndMuchMore(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		type limits struct {
			MaxMemory int64  `redis:"maxmemory"`
			Policy    string `redis:"maxmemory-policy"`
		}
		values := Must(rdb.ConfigGet(ctx, "maxmemory*").Result())
		Equal(t, values["maxmemory"], "0")
		Equal(t, values["maxmemory-policy"], "noeviction")
		var into limits
		rdb.HSet(ctx, "limits", "maxmemory", 5, "maxmemory-policy", "allkeys-lru")
		NoError(t, rdb.HMGet(ctx, "limits", "maxmemory", "maxmemory-policy").Scan(&into))
		Equal(t, into, limits{5, "allkeys-lru"})
	})
}
