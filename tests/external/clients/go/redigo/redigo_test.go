// Package redigo runs redigo as its users do.
package redigo

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/gomodule/redigo/redis"
)

func connect(t testing.TB, options ...redis.DialOption) redis.Conn {
	t.Helper()
	conn, err := redis.Dial("tcp", Addr(), options...)
	NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	Must(conn.Do("FLUSHALL"))
	return conn
}

func TestRepliesConvertToGoTypes(t *testing.T) {
	conn := connect(t)
	Equal(t, Must(redis.String(conn.Do("SET", "k", 42))), "OK")
	Equal(t, Must(redis.Int(conn.Do("GET", "k"))), 42)
	_, err := redis.String(conn.Do("GET", "none"))
	Equal(t, err, redis.ErrNil)
	Must(conn.Do("HSET", redis.Args{}.Add("h").AddFlat(map[string]int{"a": 1, "b": 2})...))
	Equal(t, Must(redis.IntMap(conn.Do("HGETALL", "h"))), map[string]int{"a": 1, "b": 2})
	Must(conn.Do("ZADD", "z", 1.5, "m", 3, "n"))
	Equal(t, Must(redis.Float64Map(conn.Do("ZRANGE", "z", 0, -1, "WITHSCORES"))), map[string]float64{"m": 1.5, "n": 3})
	Must(conn.Do("GEOADD", "g", 13.361389, 38.115556, "Palermo"))
	positions := Must(redis.Positions(conn.Do("GEOPOS", "g", "Palermo", "none")))
	if len(positions) != 2 || positions[0] == nil || positions[1] != nil {
		t.Errorf("positions %v", positions)
	}
	var thing struct {
		A int `redis:"a"`
		B int `redis:"b"`
	}
	NoError(t, redis.ScanStruct(Must(redis.Values(conn.Do("HGETALL", "h"))), &thing))
	Equal(t, thing.B, 2)
	_, err = conn.Do("INCR", "h")
	Equal(t, err, error(redis.Error("WRONGTYPE Operation against a key holding the wrong kind of value")))
}

func TestPipelinedSendsAndTransactions(t *testing.T) {
	conn := connect(t)
	for i := range 1000 {
		NoError(t, conn.Send("RPUSH", "l", i))
	}
	NoError(t, conn.Flush())
	for i := range 1000 {
		Equal(t, Must(redis.Int(conn.Receive())), i+1)
	}
	conn.Send("MULTI")
	conn.Send("INCR", "a")
	conn.Send("LPUSH", "a", "wrong type")
	conn.Send("INCR", "a")
	replies := Must(redis.Values(conn.Do("EXEC")))
	Equal(t, replies, []any{int64(1), redis.Error("WRONGTYPE Operation against a key holding the wrong kind of value"), int64(2)})
	Must(conn.Do("MULTI"))
	_, err := conn.Do("INCR")
	Equal(t, err, error(redis.Error("ERR wrong number of arguments for 'incr' command")))
	_, err = conn.Do("EXEC")
	Equal(t, err, error(redis.Error("EXECABORT Transaction discarded because of previous errors.")))
}

func TestWatchedKeyChangedByAnother(t *testing.T) {
	conn, other := connect(t), connect(t)
	Must(conn.Do("WATCH", "balance"))
	Must(other.Do("SET", "balance", 1))
	Must(conn.Do("MULTI"))
	Equal(t, Must(redis.String(conn.Do("SET", "balance", 2))), "QUEUED")
	Equal(t, Must(conn.Do("EXEC")), nil)
}

func TestPoolLendsAndTestsConnections(t *testing.T) {
	connect(t)
	pool := &redis.Pool{
		MaxIdle: 3, MaxActive: 5, Wait: true, IdleTimeout: time.Minute,
		Dial:            func() (redis.Conn, error) { return redis.Dial("tcp", Addr(), redis.DialDatabase(2)) },
		TestOnBorrow:    func(c redis.Conn, _ time.Time) error { _, err := c.Do("PING"); return err },
		MaxConnLifetime: time.Minute,
	}
	defer pool.Close()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			conn := pool.Get()
			defer conn.Close()
			if _, err := conn.Do("INCR", "n"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	conn := pool.Get()
	defer conn.Close()
	Equal(t, Must(redis.Int(conn.Do("GET", "n"))), 50)
	if active := pool.Stats().ActiveCount; active > 5 {
		t.Errorf("%d connections", active)
	}
}

func TestPoolDropsConnectionsThatTheServerClosed(t *testing.T) {
	server := NewServer(t)
	pool := &redis.Pool{
		MaxIdle:      2,
		Dial:         func() (redis.Conn, error) { return redis.Dial("tcp", server.Addr) },
		TestOnBorrow: func(c redis.Conn, _ time.Time) error { _, err := c.Do("PING"); return err },
	}
	defer pool.Close()
	use := func() error {
		conn := pool.Get()
		defer conn.Close()
		_, err := conn.Do("SET", "k", "v")
		return err
	}
	NoError(t, use())
	server.Kill(t)
	if use() == nil {
		t.Error("a dead server answers")
	}
	server.Start(t)
	NoError(t, use())
}

func TestPubSubConn(t *testing.T) {
	conn, publisher := connect(t), connect(t)
	sub := redis.PubSubConn{Conn: conn}
	NoError(t, sub.Subscribe("news"))
	NoError(t, sub.PSubscribe("order.*"))
	Equal(t, sub.Receive(), any(redis.Subscription{Kind: "subscribe", Channel: "news", Count: 1}))
	Equal(t, sub.Receive(), any(redis.Subscription{Kind: "psubscribe", Channel: "order.*", Count: 2}))
	Equal(t, Must(redis.Int(publisher.Do("PUBLISH", "news", "hello"))), 1)
	Equal(t, Must(redis.Int(publisher.Do("PUBLISH", "order.1", "New order: #12345"))), 1)
	Equal(t, sub.Receive(), any(redis.Message{Channel: "news", Data: []byte("hello")}))
	Equal(t, sub.Receive(), any(redis.Message{Channel: "order.1", Pattern: "order.*", Data: []byte("New order: #12345")}))
	NoError(t, sub.Ping("alive"))
	Equal(t, sub.Receive(), any(redis.Pong{Data: "alive"}))
	NoError(t, sub.Unsubscribe())
	Equal(t, sub.Receive(), any(redis.Subscription{Kind: "unsubscribe", Channel: "news", Count: 1}))
	NoError(t, sub.PUnsubscribe())
	Equal(t, sub.Receive(), any(redis.Subscription{Kind: "punsubscribe", Channel: "order.*", Count: 0}))
	Equal(t, Must(redis.String(conn.Do("ECHO", "back to commands"))), "back to commands")
}

func TestReadTimeoutsLeaveTheServerAlone(t *testing.T) {
	conn := connect(t)
	_, err := redis.DoWithTimeout(conn, 50*time.Millisecond, "BLPOP", "empty", 0)
	var timeout interface{ Timeout() bool }
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v", err)
	}
	Equal(t, Must(redis.String(connect(t).Do("PING"))), "PONG")
}

func TestScripts(t *testing.T) {
	conn := connect(t)
	Must(conn.Do("SCRIPT", "FLUSH"))
	renew := redis.NewScript(1, Lua("compare_and_expire.lua"))
	Must(conn.Do("SET", "lock", "me", "NX", "PX", 10000))
	err := renew.SendHash(conn, "lock", "me", 30000)
	NoError(t, err)
	NoError(t, conn.Flush())
	_, err = conn.Receive()
	Equal(t, err, error(redis.Error("NOSCRIPT No matching script. Please use EVAL.")))
	Equal(t, Must(redis.Int(renew.Do(conn, "lock", "another", 30000))), 0)
	Equal(t, Must(redis.Int(renew.Do(conn, "lock", "me", 30000))), 1)
	if ttl := Must(redis.Int(conn.Do("PTTL", "lock"))); ttl < 29000 || ttl > 30000 {
		t.Errorf("the lock lives %d ms", ttl)
	}
	NoError(t, renew.Load(conn))
	Equal(t, Must(redis.Ints(conn.Do("SCRIPT", "EXISTS", renew.Hash(), strings.Repeat("0", 40)))), []int{1, 0})
}

func TestLogAndVersionLinesThatTheTestServerOfRedigoLooksFor(t *testing.T) {
	version, err := exec.Command(os.Getenv("REDIS_SERVER"), "--version").Output()
	NoError(t, err)
	if !regexp.MustCompile(`v=(\d+)\.(\d+)\.`).Match(version) {
		t.Errorf("version line: %s", version)
	}
	log := NewServer(t, "--appendonly", "no", "--enable-debug-command", "local").Log(t)
	if !strings.Contains(log, " * Ready to accept connections") &&
		!strings.Contains(log, " * The server is now ready to accept connections on port") {
		t.Errorf("log: %s", log)
	}
}
