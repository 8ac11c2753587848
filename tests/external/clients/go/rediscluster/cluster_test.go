package rediscluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func connect(t *testing.T, adjust func(*redis.ClusterOptions)) *redis.ClusterClient {
	t.Helper()
	Control(t, "fresh")
	// When a node does not answer, the client reads the topology again only after an interval, a minute by default.
	options := &redis.ClusterOptions{Addrs: ClusterAddrs(), MaxRedirects: 16, DialerRetries: 1, ClusterStateReloadInterval: time.Second}
	if adjust != nil {
		adjust(options)
	}
	cluster := redis.NewClusterClient(options)
	t.Cleanup(func() { cluster.Close() })
	return cluster
}

func single(t *testing.T, port string) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, MaxRetries: -1})
	t.Cleanup(func() { client.Close() })
	return client
}

func eachProtocol(t *testing.T, test func(t *testing.T, cluster *redis.ClusterClient)) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
			test(t, connect(t, func(options *redis.ClusterOptions) { options.Protocol = protocol }))
		})
	}
}

func TestKeysGoToTheirNodes(t *testing.T) {
	eachProtocol(t, func(t *testing.T, cluster *redis.ClusterClient) {
		for n := range 300 {
			NoError(t, cluster.Set(ctx, fmt.Sprintf("key:%d", n), n, 0).Err())
		}
		for n := range 300 {
			Equal(t, Must(cluster.Get(ctx, fmt.Sprintf("key:%d", n)).Int()), n)
		}
		var sum, nodes atomic.Int64
		NoError(t, cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			size, err := node.DBSize(ctx).Result()
			if size == 0 {
				return errors.New("a node without keys")
			}
			sum.Add(size)
			nodes.Add(1)
			return err
		}))
		Equal(t, sum.Load(), int64(300))
		Equal(t, nodes.Load(), int64(3))
		Equal(t, Must(cluster.DBSize(ctx).Result()), int64(300))
	})
}

func TestTopologyCommandsParse(t *testing.T) {
	cluster := connect(t, nil)
	// A node learned from gossip reports its shard only some moments later.
	Eventually(t, "three shards of two nodes", func() bool {
		shards := Must(cluster.ClusterShards(ctx).Result())
		return len(shards) == 3 && len(shards[0].Nodes) == 2 && len(shards[1].Nodes) == 2 && len(shards[2].Nodes) == 2
	})
	slots := Must(cluster.ClusterSlots(ctx).Result())
	covered := 0
	for _, part := range slots {
		covered += part.End - part.Start + 1
		Equal(t, len(part.Nodes), 2)
	}
	Equal(t, covered, 16384)
	if len(Must(cluster.ClusterLinks(ctx).Result())) != 10 {
		t.Errorf("got %v", cluster.ClusterLinks(ctx))
	}
}

func TestSeveralKeysNeedOneSlot(t *testing.T) {
	cluster := connect(t, nil)
	NoError(t, cluster.MSet(ctx, "{u}a", 1, "{u}b", 2).Err())
	Equal(t, Must(cluster.MGet(ctx, "{u}a", "{u}b", "{u}c").Result()), []any{"1", "2", nil})
	ErrorText(t, cluster.SInter(ctx, "a", "b").Err(), "CROSSSLOT Keys in request don't hash to the same slot")
}

func TestAPipelineOverAllNodes(t *testing.T) {
	eachProtocol(t, func(t *testing.T, cluster *redis.ClusterClient) {
		commands := Must(cluster.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for n := range 200 {
				pipe.IncrBy(ctx, fmt.Sprintf("p:%d", n), int64(n))
			}
			return nil
		}))
		for n, command := range commands {
			Equal(t, command.(*redis.IntCmd).Val(), int64(n))
		}
	})
}

func TestTransactionsWithHashTags(t *testing.T) {
	eachProtocol(t, func(t *testing.T, cluster *redis.ClusterClient) {
		commands := Must(cluster.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "{t}a", 1, 0)
			pipe.Incr(ctx, "{t}a")
			pipe.RPush(ctx, "{t}l", "x", "y")
			return nil
		}))
		Equal(t, commands[1].(*redis.IntCmd).Val(), int64(2))
		change := func(meanwhile func()) error {
			return cluster.Watch(ctx, func(tx *redis.Tx) error {
				value := Must(tx.Get(ctx, "{t}a").Int())
				meanwhile()
				_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, "{t}a", value+1, 0).Err() })
				return err
			}, "{t}a")
		}
		NoError(t, change(func() {}))
		Equal(t, cluster.Get(ctx, "{t}a").Val(), "3")
		Equal(t, change(func() { cluster.Set(ctx, "{t}a", 9, 0) }), redis.TxFailedErr)
	})
}

func TestScriptsWithHashTags(t *testing.T) {
	cluster := connect(t, nil)
	swap := redis.NewScript("redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])")
	for _, tag := range []string{"a", "b", "c"} { // its node does not know the script yet
		NoError(t, cluster.Set(ctx, "{"+tag+"}1", tag, 0).Err())
		Equal(t, Must(swap.Run(ctx, cluster, []string{"{" + tag + "}1", "{" + tag + "}2"}).Text()), tag)
	}
	err := cluster.Eval(ctx, "return redis.call('GET', 'b')", []string{"a"}).Err()
	if err == nil || !strings.Contains(err.Error(), "Script attempted to access a non local key in a cluster node") {
		t.Errorf("got %v", err)
	}
	NoError(t, cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		return node.FunctionLoad(ctx, "#!lua name=lib\nredis.register_function('put', function(k, a) return redis.call('SET', k[1], a[1]) end)").Err()
	}))
	for n := range 20 {
		NoError(t, cluster.FCall(ctx, "put", []string{fmt.Sprintf("f%d", n)}, n).Err())
	}
	Equal(t, cluster.Get(ctx, "f7").Val(), "7")
}

func receive(t *testing.T, pubsub *redis.PubSub, want string) {
	t.Helper()
	select {
	case message := <-pubsub.Channel():
		Equal(t, message.Payload, want)
	case <-time.After(10 * time.Second):
		t.Fatal("no message " + want)
	}
}

func TestMessagesReachEveryNode(t *testing.T) {
	eachProtocol(t, func(t *testing.T, cluster *redis.ClusterClient) {
		pubsub := cluster.Subscribe(ctx, "news")
		defer pubsub.Close()
		Must(pubsub.Receive(ctx))
		for _, addr := range ClusterAddrs() {
			_, port, _ := strings.Cut(addr, ":")
			NoError(t, single(t, port).Publish(ctx, "news", addr).Err())
			receive(t, pubsub, addr)
		}
	})
}

func TestShardedMessages(t *testing.T) {
	eachProtocol(t, func(t *testing.T, cluster *redis.ClusterClient) {
		pubsub := cluster.SSubscribe(ctx, "shard")
		defer pubsub.Close()
		Must(pubsub.Receive(ctx))
		Equal(t, Must(cluster.SPublish(ctx, "shard", "one").Result()), int64(1))
		receive(t, pubsub, "one")
	})
}

// The server reports that the subscription ended, and the slot's new node.
func TestASubscriptionEndsWhenItsSlotMoves(t *testing.T) {
	cluster := connect(t, nil)
	owner := single(t, Control(t, "owner", "shard"))
	pubsub := owner.SSubscribe(ctx, "shard")
	defer pubsub.Close()
	Must(pubsub.Receive(ctx))
	Control(t, "move", "shard", 1)
	ended := Must(pubsub.ReceiveTimeout(ctx, 10*time.Second)).(*redis.Subscription)
	Equal(t, *ended, redis.Subscription{Kind: "sunsubscribe", Channel: "shard", Count: 0})
	Eventually(t, "the client knows the new owner", func() bool {
		return cluster.SPublish(ctx, "shard", "x").Err() == nil
	})
	ErrorBegins(t, owner.SPublish(ctx, "shard", "x").Err(), "MOVED ")
}

func TestReplicasAnswerReads(t *testing.T) {
	cluster := connect(t, func(options *redis.ClusterOptions) { options.ReadOnly = true })
	for n := range 30 {
		NoError(t, cluster.Set(ctx, fmt.Sprintf("r%d", n), n, 0).Err())
	}
	Control(t, "settle")
	NoError(t, cluster.ForEachShard(ctx, func(ctx context.Context, node *redis.Client) error { return node.ConfigResetStat(ctx).Err() }))
	for n := range 30 {
		Equal(t, Must(cluster.Get(ctx, fmt.Sprintf("r%d", n)).Int()), n)
	}
	var calls atomic.Int64
	NoError(t, cluster.ForEachSlave(ctx, func(ctx context.Context, node *redis.Client) error {
		_, rest, _ := strings.Cut(node.Info(ctx, "commandstats").Val(), "cmdstat_get:calls=")
		number, _, _ := strings.Cut(rest, ",")
		count, _ := strconv.Atoi(number)
		calls.Add(int64(count))
		return nil
	}))
	Equal(t, calls.Load(), int64(30))
}

func TestASlotThatMovesAsks(t *testing.T) {
	cluster := connect(t, nil)
	var keys []string
	for n := range 20 {
		keys = append(keys, fmt.Sprintf("{ask}%d", n))
		NoError(t, cluster.Set(ctx, keys[n], n, 0).Err())
	}
	source := single(t, Control(t, "owner", "{ask}"))
	target := Control(t, "open", "{ask}")
	Equal(t, Control(t, "carry", "{ask}", target, 10), "10")
	for n, key := range keys {
		Equal(t, Must(cluster.Get(ctx, key).Int()), n)
	}
	NoError(t, cluster.Set(ctx, "{ask}new", "at the target", 0).Err())
	Equal(t, cluster.Get(ctx, "{ask}new").Val(), "at the target")
	// The pipeline's commands are redirected with ASK, so it must go to both nodes.
	for n, command := range Must(cluster.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys {
			pipe.Get(ctx, key)
		}
		return nil
	})) {
		Equal(t, command.(*redis.StringCmd).Val(), strconv.Itoa(n))
	}
	ErrorBegins(t, source.Get(ctx, "{ask}new").Err(), "ASK ")
	ErrorText(t, source.MGet(ctx, keys...).Err(), "TRYAGAIN Multiple keys request during rehashing of slot")
	Control(t, "close", "{ask}", target)
	Equal(t, len(Must(cluster.MGet(ctx, keys...).Result())), 20)
	ErrorBegins(t, source.Get(ctx, "{ask}new").Err(), "MOVED ")
}

func TestSlotsMoveAndPrimariesChangeUnderLoad(t *testing.T) {
	cluster := connect(t, nil)
	load := NewLoad(NoTrouble, func(key string) error { return cluster.Incr(ctx, key).Err() })
	load.GoesOn(t)
	for _, key := range load.Keys[:3] {
		Control(t, "move", key, 20)
	}
	Control(t, "failover", load.Keys[0])
	load.GoesOn(t)
	load.Stop(t)
	for key, count := range load.Counts() {
		Equal(t, Must(cluster.Get(ctx, key).Int64()), count)
	}
}

func TestAPrimaryDiesUnderLoad(t *testing.T) {
	cluster := connect(t, nil)
	for n := range 100 {
		NoError(t, cluster.Set(ctx, fmt.Sprintf("kept:%d", n), n, 0).Err())
	}
	Control(t, "settle")
	load := NewLoad(AnyTrouble, func(key string) error { return cluster.Incr(ctx, key).Err() })
	load.GoesOn(t)
	dead := Control(t, "kill", load.Keys[0])
	if owner := Control(t, "owner", load.Keys[0]); owner == dead {
		t.Error("the dead primary still owns its slots")
	}
	load.GoesOn(t)
	Control(t, "heal")
	load.GoesOn(t)
	load.Stop(t)
	for n := range 100 {
		Equal(t, Must(cluster.Get(ctx, fmt.Sprintf("kept:%d", n)).Int()), n)
	}
	if !strings.Contains(single(t, dead).Info(ctx, "replication").Val(), "role:slave") {
		t.Error("the dead primary did not come back as a replica")
	}
}

func TestABlockedClientIsSentOnWhenItsSlotMoves(t *testing.T) {
	cluster := connect(t, nil)
	owner := single(t, Control(t, "owner", "{wait}queue"))
	var got []string
	var waits sync.WaitGroup
	waits.Go(func() { got = cluster.BLPop(ctx, 30*time.Second, "{wait}queue").Val() })
	Eventually(t, "the client blocks", func() bool {
		return strings.Contains(owner.Info(ctx, "clients").Val(), "blocked_clients:1")
	})
	Control(t, "move", "{wait}queue", 1)
	NoError(t, cluster.RPush(ctx, "{wait}queue", "job").Err())
	waits.Wait()
	Equal(t, got, []string{"{wait}queue", "job"})
}
