// Package rueidis runs rueidis, which multiplexes one RESP3 connection and caches on the client's side.
package rueidis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/rueidis"
)

var ctx = context.Background()

func connect(t testing.TB, options rueidis.ClientOption) rueidis.Client {
	t.Helper()
	if options.InitAddress == nil {
		options.InitAddress = []string{Addr()}
	}
	client, err := rueidis.NewClient(options)
	NoError(t, err)
	t.Cleanup(client.Close)
	NoError(t, client.Do(ctx, client.B().Flushall().Build()).Error())
	return client
}

func TestTypedReplies(t *testing.T) {
	c := connect(t, rueidis.ClientOption{})
	Equal(t, Must(c.Do(ctx, c.B().Set().Key("k").Value("v").ExSeconds(10).Build()).ToString()), "OK")
	Equal(t, Must(c.Do(ctx, c.B().Get().Key("k").Build()).ToString()), "v")
	Equal(t, rueidis.IsRedisNil(c.Do(ctx, c.B().Get().Key("none").Build()).Error()), true)
	c.Do(ctx, c.B().Hset().Key("h").FieldValue().FieldValue("a", "1").FieldValue("b", "2").Build())
	Equal(t, Must(c.Do(ctx, c.B().Hgetall().Key("h").Build()).AsStrMap()), map[string]string{"a": "1", "b": "2"})
	c.Do(ctx, c.B().Zadd().Key("z").ScoreMember().ScoreMember(1.5, "m").Build())
	Equal(t, Must(c.Do(ctx, c.B().Zrange().Key("z").Min("0").Max("-1").Withscores().Build()).AsZScores()),
		[]rueidis.ZScore{{Member: "m", Score: 1.5}})
	Equal(t, Must(c.Do(ctx, c.B().Zscore().Key("z").Member("m").Build()).ToFloat64()), 1.5)
	c.Do(ctx, c.B().Xadd().Key("s").Id("1-1").FieldValue().FieldValue("f", "v").Build())
	Equal(t, Must(c.Do(ctx, c.B().Xread().Count(10).Streams().Key("s").Id("0").Build()).AsXRead()),
		map[string][]rueidis.XRangeEntry{"s": {{ID: "1-1", FieldValues: map[string]string{"f": "v"}}}})
	ErrorText(t, c.Do(ctx, c.B().Incr().Key("h").Build()).Error(),
		"WRONGTYPE Operation against a key holding the wrong kind of value")
}

func TestThousandGoroutinesShareAConnection(t *testing.T) {
	c := connect(t, rueidis.ClientOption{PipelineMultiplex: -1})
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			k, v := fmt.Sprint("k", i), fmt.Sprint(i)
			for _, reply := range c.DoMulti(ctx, c.B().Set().Key(k).Value(v).Build(), c.B().Get().Key(k).Build())[1:] {
				if got, err := reply.ToString(); err != nil || got != v {
					t.Errorf("%s is %q (%v)", k, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// cached reads through the client's cache. It returns the value and whether it came from the cache.
func cached(c rueidis.Client, key string) (string, bool) {
	reply := c.DoCache(ctx, c.B().Get().Key(key).Cache(), time.Minute)
	value, err := reply.ToString()
	if rueidis.IsRedisNil(err) {
		return "(nil)", reply.IsCacheHit()
	}
	return Must(value, err), reply.IsCacheHit()
}

func TestCachedValuesAreInvalidated(t *testing.T) {
	reader, writer := connect(t, rueidis.ClientOption{}), connect(t, rueidis.ClientOption{DisableCache: true})
	set := func(value string) { writer.Do(ctx, writer.B().Set().Key("shop:1").Value(value).Build()) }
	sees := func(want string) {
		t.Helper()
		Eventually(t, "the reader sees "+want, func() bool { value, _ := cached(reader, "shop:1"); return value == want })
		if _, hit := cached(reader, "shop:1"); !hit && want != "(nil)" { // the invalidation may come later than the expiry
			t.Errorf("%s was not cached", want)
		}
	}
	set("one")
	sees("one")
	set("two")
	sees("two")
	writer.Do(ctx, writer.B().Pexpire().Key("shop:1").Milliseconds(50).Build())
	sees("(nil)")
	set("three")
	sees("three")
	writer.Do(ctx, writer.B().Flushall().Build())
	sees("(nil)")
}

func TestInvalidationsOfMultipleCommandsAndTypes(t *testing.T) {
	reader, writer := connect(t, rueidis.ClientOption{}), connect(t, rueidis.ClientOption{DisableCache: true})
	writer.Do(ctx, writer.B().Mset().KeyValue().KeyValue("a", "1").KeyValue("b", "2").Build())
	writer.Do(ctx, writer.B().Hset().Key("h").FieldValue().FieldValue("f", "v").Build())
	both := func() (map[string]string, bool) {
		replies := reader.DoMultiCache(ctx,
			rueidis.CT(reader.B().Get().Key("a").Cache(), time.Minute),
			rueidis.CT(reader.B().Hget().Key("h").Field("f").Cache(), time.Minute))
		return map[string]string{"a": Must(replies[0].ToString()), "h": Must(replies[1].ToString())},
			replies[0].IsCacheHit() && replies[1].IsCacheHit()
	}
	both()
	values, hit := both()
	Equal(t, values, map[string]string{"a": "1", "h": "v"})
	Equal(t, hit, true)
	mget := Must(rueidis.MGetCache(reader, ctx, time.Minute, []string{"a", "b", "none"}))
	b := mget["b"]
	Equal(t, Must(b.ToString()), "2")
	writer.Do(ctx, writer.B().Eval().Script("redis.call('hset', KEYS[1], 'f', 'new') redis.call('incr', KEYS[2])").
		Numkeys(2).Key("h", "a").Build())
	Eventually(t, "both are new", func() bool { values, _ := both(); return values["a"] == "2" && values["h"] == "new" })
}

func TestBroadcastTrackingByPrefix(t *testing.T) {
	seen := make(chan string, 100)
	listener := connect(t, rueidis.ClientOption{
		ClientTrackingOptions: []string{"PREFIX", "cache:", "BCAST"},
		OnInvalidations: func(messages []rueidis.RedisMessage) {
			for _, message := range messages {
				key, _ := message.ToString()
				seen <- key
			}
		},
	})
	writer := connect(t, rueidis.ClientOption{DisableCache: true})
	NoError(t, listener.Do(ctx, listener.B().Ping().Build()).Error())
	writer.Do(ctx, writer.B().Set().Key("other:1").Value("x").Build())
	writer.Do(ctx, writer.B().Set().Key("cache:1").Value("x").Build())
	select {
	case key := <-seen:
		Equal(t, key, "cache:1")
	case <-time.After(5 * time.Second):
		t.Error("no invalidation")
	}
}

func TestReceiveMessagesUntilUnsubscribed(t *testing.T) {
	c := connect(t, rueidis.ClientOption{})
	received := make(chan string, 10)
	done := make(chan error, 1)
	go func() {
		done <- c.Receive(ctx, c.B().Subscribe().Channel("ch").Build(), func(m rueidis.PubSubMessage) { received <- m.Message })
	}()
	Eventually(t, "somebody listens", func() bool {
		return Must(c.Do(ctx, c.B().Publish().Channel("ch").Message("hello").Build()).ToInt64()) == 1
	})
	Equal(t, <-received, "hello")
	NoError(t, c.Do(ctx, c.B().Unsubscribe().Channel("ch").Build()).Error())
	NoError(t, <-done)
}

func TestDedicatedConnectionRunsATransaction(t *testing.T) {
	c := connect(t, rueidis.ClientOption{})
	NoError(t, c.Dedicated(func(d rueidis.DedicatedClient) error {
		d.Do(ctx, d.B().Watch().Key("n").Build())
		replies := d.DoMulti(ctx, d.B().Multi().Build(), d.B().Incr().Key("n").Build(), d.B().Exec().Build())
		Equal(t, Must(replies[1].ToString()), "QUEUED")
		Equal(t, Must(replies[2].AsIntSlice()), []int64{1})
		d.Do(ctx, d.B().Watch().Key("n").Build())
		c.Do(ctx, c.B().Incr().Key("n").Build())
		replies = d.DoMulti(ctx, d.B().Multi().Build(), d.B().Incr().Key("n").Build(), d.B().Exec().Build())
		Equal(t, rueidis.IsRedisNil(replies[2].Error()), true)
		return nil
	}))
}

func TestBlockingCommandsDoNotBlockTheOthers(t *testing.T) {
	c := connect(t, rueidis.ClientOption{})
	popped := make(chan []string, 1)
	go func() {
		popped <- Must(c.Do(ctx, c.B().Blpop().Key("q").Timeout(10).Build()).AsStrSlice())
	}()
	for i := range 100 {
		NoError(t, c.Do(ctx, c.B().Set().Key("k").Value(fmt.Sprint(i)).Build()).Error())
	}
	c.Do(ctx, c.B().Rpush().Key("q").Element("job").Build())
	Equal(t, <-popped, []string{"q", "job"})
}

func TestLuaScript(t *testing.T) {
	c := connect(t, rueidis.ClientOption{})
	c.Do(ctx, c.B().ScriptFlush().Build())
	script := rueidis.NewLuaScript("return {KEYS[1], ARGV[1], redis.call('incrby', KEYS[1], ARGV[1])}")
	for n := 1; n <= 2; n++ {
		values := Must(script.Exec(ctx, c, []string{"n"}, []string{"5"}).ToArray())
		Equal(t, Must(values[2].ToInt64()), int64(5*n))
	}
}

func TestRESP2WithoutCache(t *testing.T) {
	c := connect(t, rueidis.ClientOption{AlwaysRESP2: true, DisableCache: true})
	c.Do(ctx, c.B().Hset().Key("h").FieldValue().FieldValue("a", "1").Build())
	Equal(t, Must(c.Do(ctx, c.B().Hgetall().Key("h").Build()).AsStrMap()), map[string]string{"a": "1"})
}

func TestTheCacheIsEmptiedByAReconnect(t *testing.T) {
	server := NewServer(t, "--appendonly", "yes", "--appendfsync", "always")
	c := connect(t, rueidis.ClientOption{InitAddress: []string{server.Addr}})
	NoError(t, c.Do(ctx, c.B().Set().Key("k").Value("v").Build()).Error())
	cached(c, "k")
	_, hit := cached(c, "k")
	Equal(t, hit, true)
	server.Kill(t)
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := c.Do(short, c.B().Ping().Build()).Error(); err == nil || errors.Is(err, rueidis.Nil) {
		t.Errorf("a dead server answers: %v", err)
	}
	server.Start(t)
	Eventually(t, "it is connected again", func() bool { return c.Do(ctx, c.B().Ping().Build()).Error() == nil })
	value, hit := cached(c, "k")
	Equal(t, value, "v")
	Equal(t, hit, false)
}

func TestClientNameAndLibraryAreTold(t *testing.T) {
	c := connect(t, rueidis.ClientOption{ClientName: "billing", SelectDB: 4})
	info := Must(c.Do(ctx, c.B().Arbitrary("CLIENT", "INFO").Build()).ToString())
	for _, want := range []string{"name=billing", " db=4 ", " resp=3", "flags=t"} {
		if !strings.Contains(info, want) {
			t.Errorf("no %q in %s", want, info)
		}
	}
}
