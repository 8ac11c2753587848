package redissentinel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

const (
	// The old primary accepts writes until a Sentinel makes it a replica, which may be ten seconds after a manual
	// failover.
	byHand      = 20 * time.Second
	afterACrash = 10 * time.Second
)

var ctx = context.Background()

// kind is one of the two clients that go-redis has for Sentinels.
type kind struct {
	name string
	make func(*redis.FailoverOptions) redis.UniversalClient
}

var (
	failoverClient = kind{"FailoverClient", func(options *redis.FailoverOptions) redis.UniversalClient {
		return redis.NewFailoverClient(options)
	}}
	clusterClient = kind{"FailoverClusterClient", func(options *redis.FailoverOptions) redis.UniversalClient {
		return redis.NewFailoverClusterClient(options)
	}}
)

func eachKind(t *testing.T, test func(t *testing.T, client kind, sentinels []string)) {
	for _, client := range []kind{failoverClient, clusterClient} {
		t.Run(client.name, func(t *testing.T) { test(t, client, fresh(t)) })
	}
}

// fresh returns the addresses of the Sentinels of a new primary with two replicas.
func fresh(t *testing.T) []string {
	t.Helper()
	return strings.Split(ControlSentinels(t, "fresh"), ",")
}

func (k kind) connect(t *testing.T, sentinels []string, adjust func(*redis.FailoverOptions)) redis.UniversalClient {
	t.Helper()
	// A new attempt should ask the Sentinels again instead of dialing the dead primary five times.
	options := &redis.FailoverOptions{MasterName: "mymaster", SentinelAddrs: sentinels, DialerRetries: 1}
	if adjust != nil {
		adjust(options)
	}
	client := k.make(options)
	t.Cleanup(func() { client.Close() })
	return client
}

func ofReplicas(options *redis.FailoverOptions) { options.ReplicaOnly = true }

func asker(t *testing.T, addr string) *redis.SentinelClient {
	t.Helper()
	client := redis.NewSentinelClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { client.Close() })
	return client
}

func single(t *testing.T, port string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, MaxRetries: -1})
	t.Cleanup(func() { client.Close() })
	return client
}

// isOutage returns whether the error is one that clients report while there is no primary, or when a connection to the
// old one ends.
func isOutage(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || redis.HasErrorPrefix(err, "READONLY ")
}

// keep writes values that both replicas receive before a failover.
func keep(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	var copies *redis.Cmd
	Must(client.Pipelined(ctx, func(pipe redis.Pipeliner) error { // sends WAIT over the connection of the writes
		for n := range 100 {
			pipe.Set(ctx, fmt.Sprintf("kept:%d", n), n, 0)
		}
		copies = pipe.Do(ctx, "WAIT", 2, 2000)
		return nil
	}))
	if copies.Val() != int64(2) {
		t.Fatalf("%v replicas have the values", copies.Val())
	}
}

func checkKept(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	for n := range 100 {
		Equal(t, Must(client.Get(ctx, fmt.Sprintf("kept:%d", n)).Int()), n)
	}
}

// waitUntilWritesReachThePrimary waits until the client's writes are at the primary that the Sentinels name.
func waitUntilWritesReachThePrimary(t *testing.T, client redis.UniversalClient, limit time.Duration) {
	t.Helper()
	step := 0
	EventuallyWithin(t, limit, "writes are at the new primary", func() bool {
		step++
		text := fmt.Sprintf("step-%d", step)
		err := client.Set(ctx, "moved", text, 0).Err()
		if err != nil && !isOutage(err) {
			t.Fatal(err)
		}
		return err == nil && ControlSentinels(t, "get", "moved") == text
	})
}

func receive(t *testing.T, messages <-chan *redis.Message) *redis.Message {
	t.Helper()
	select {
	case message := <-messages:
		return message
	case <-time.After(10 * time.Second):
		t.Fatal("no message")
		return nil
	}
}

func portsOf(nodes []map[string]string) []string {
	var ports []string
	for _, node := range nodes {
		ports = append(ports, node["port"])
	}
	slices.Sort(ports)
	return ports
}

func TestDiscovery(t *testing.T) {
	sentinels := fresh(t)
	sentinel := asker(t, sentinels[0])
	primary, replicas := ControlSentinels(t, "primary"), strings.Fields(ControlSentinels(t, "replicas"))
	slices.Sort(replicas)
	Equal(t, Must(sentinel.GetMasterAddrByName(ctx, "mymaster").Result()), []string{"127.0.0.1", primary})
	Equal(t, portsOf(Must(sentinel.Replicas(ctx, "mymaster").Result())), replicas)
	Equal(t, len(Must(sentinel.Sentinels(ctx, "mymaster").Result())), 2)
	told := Must(sentinel.Master(ctx, "mymaster").Result())
	Equal(t, []string{told["port"], told["flags"], told["num-slaves"], told["num-other-sentinels"], told["quorum"]},
		[]string{primary, "master", "2", "2", "2"})
	Equal(t, len(Must(sentinel.Masters(ctx).Result())), 1)
	Equal(t, Must(sentinel.CkQuorum(ctx, "mymaster").Result()),
		"OK 3 usable Sentinels. Quorum and failover authorization can be reached")
	Equal(t, sentinel.GetMasterAddrByName(ctx, "nobody").Err(), redis.Nil)
	ErrorText(t, sentinel.Replicas(ctx, "nobody").Err(), "ERR No such master with that name")
	for _, kind := range []kind{failoverClient, clusterClient} {
		stranger := kind.connect(t, sentinels, func(options *redis.FailoverOptions) { options.MasterName = "nobody" })
		ErrorBegins(t, stranger.Ping(ctx).Err(), "redis: all sentinels specified in configuration are unreachable")
		// One living Sentinel suffices to find the primary.
		client := kind.connect(t, []string{"127.0.0.1:1", sentinels[2]}, nil)
		NoError(t, client.Set(ctx, kind.name, "found", 0).Err())
		Equal(t, ControlSentinels(t, "get", kind.name), "found")
	}
}

func TestReadsOfReplicas(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
			sentinels := fresh(t)
			primary := failoverClient.connect(t, sentinels, func(options *redis.FailoverOptions) { options.Protocol = protocol })
			replica := failoverClient.connect(t, sentinels, func(options *redis.FailoverOptions) {
				options.Protocol, options.ReplicaOnly = protocol, true
			})
			keep(t, primary)
			checkKept(t, replica)
			Equal(t, Must(primary.Do(ctx, "ROLE").Slice())[0], "master")
			Equal(t, Must(replica.Do(ctx, "ROLE").Slice())[0], "slave")
			ErrorText(t, replica.Set(ctx, "key", "other", 0).Err(), "READONLY You can't write against a read only replica.")
		})
	}
}

// The cluster-style client sends writes to the primary and reads to the replicas.
func TestReadsOfReplicasBesideWrites(t *testing.T) {
	sentinels := fresh(t)
	client := clusterClient.connect(t, sentinels, ofReplicas)
	keep(t, client)
	nodes := append(strings.Fields(ControlSentinels(t, "replicas")), ControlSentinels(t, "primary"))
	for _, port := range nodes {
		NoError(t, single(t, port).ConfigResetStat(ctx).Err())
	}
	checkKept(t, client)
	var calls []int
	for _, port := range nodes {
		_, rest, _ := strings.Cut(single(t, port).Info(ctx, "commandstats").Val(), "cmdstat_get:calls=")
		number, _, _ := strings.Cut(rest, ",")
		count, _ := strconv.Atoi(number)
		calls = append(calls, count)
	}
	Equal(t, calls[0]+calls[1], 100)
	Equal(t, calls[2], 0)
}

func TestTransactions(t *testing.T) {
	eachKind(t, func(t *testing.T, kind kind, sentinels []string) {
		client := kind.connect(t, sentinels, nil)
		commands := Must(client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "{t}a", 1, 0)
			pipe.Incr(ctx, "{t}a")
			return nil
		}))
		Equal(t, commands[1].(*redis.IntCmd).Val(), int64(2))
		change := func(meanwhile func()) error {
			return client.Watch(ctx, func(tx *redis.Tx) error {
				value := Must(tx.Get(ctx, "{t}a").Int())
				meanwhile()
				_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, "{t}a", value+1, 0).Err() })
				return err
			}, "{t}a")
		}
		NoError(t, change(func() {}))
		Equal(t, client.Get(ctx, "{t}a").Val(), "3")
		Equal(t, change(func() { client.Set(ctx, "{t}a", 9, 0) }), redis.TxFailedErr)
		Equal(t, ControlSentinels(t, "get", "{t}a"), "9")
	})
}

func TestMessagesByWayOfAReplica(t *testing.T) {
	sentinels := fresh(t)
	pubsub := failoverClient.connect(t, sentinels, ofReplicas).Subscribe(ctx, "news")
	defer pubsub.Close()
	Must(pubsub.Receive(ctx))
	primary := failoverClient.connect(t, sentinels, nil)
	Equal(t, Must(primary.Publish(ctx, "news", "hello").Result()), int64(0)) // the subscriber is not at the primary
	Equal(t, receive(t, pubsub.Channel()).Payload, "hello")
}

func TestAFailoverByHandUnderLoad(t *testing.T) {
	OnlyAll(t)
	eachKind(t, func(t *testing.T, kind kind, sentinels []string) {
		old := ControlSentinels(t, "primary")
		client := kind.connect(t, sentinels, nil)
		keep(t, client)
		events := asker(t, sentinels[1]).Subscribe(ctx, "+switch-master")
		defer events.Close()
		Must(events.Receive(ctx))
		load := NewLoad(isOutage, func(key string) error { return client.Incr(ctx, key).Err() })
		load.GoesOn(t)
		now := ControlSentinels(t, "failover")
		waitUntilWritesReachThePrimary(t, client, byHand)
		Equal(t, ControlSentinels(t, "primary"), now)
		load.GoesOn(t)
		load.Stop(t)
		Equal(t, receive(t, events.Channel()).Payload, fmt.Sprintf("mymaster 127.0.0.1 %s 127.0.0.1 %s", old, now))
		checkKept(t, client)
	})
}

func TestAPrimaryDiesUnderLoad(t *testing.T) {
	eachKind(t, func(t *testing.T, kind kind, sentinels []string) {
		client := kind.connect(t, sentinels, nil)
		keep(t, client)
		load := NewLoad(isOutage, func(key string) error { return client.Incr(ctx, key).Err() })
		load.GoesOn(t)
		dead := ControlSentinels(t, "kill")
		load.GoesOnWithin(t, afterACrash)
		load.Stop(t)
		if now := ControlSentinels(t, "primary"); now == dead || load.Refused() == 0 {
			t.Errorf("the primary is %s after %s, and %d increments were refused", now, dead, load.Refused())
		}
		waitUntilWritesReachThePrimary(t, client, afterACrash)
		checkKept(t, client)
	})
}

func TestASubscriptionOutlivesItsPrimary(t *testing.T) {
	OnlyAll(t)
	client := failoverClient.connect(t, fresh(t), nil)
	pubsub := client.Subscribe(ctx, "news")
	defer pubsub.Close()
	Must(pubsub.Receive(ctx))
	messages := pubsub.Channel()
	ControlSentinels(t, "kill")
	EventuallyWithin(t, afterACrash+10*time.Second, "the subscriber is at the new primary", func() bool {
		receivers, err := client.Publish(ctx, "news", "hello").Result()
		return err == nil && receivers == 1
	})
	Equal(t, receive(t, messages).Payload, "hello")
}
