package goredis

import (
	"sync"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

func TestSubscribersReceiveInOrder(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.Publish(ctx, "order_channel", "nobody listens").Result()), int64(0))
		sub := rdb.Subscribe(ctx, "order_channel", "other")
		defer sub.Close()
		Equal(t, Must(sub.Receive(ctx)), any(&redis.Subscription{Kind: "subscribe", Channel: "order_channel", Count: 1}))
		Equal(t, Must(sub.Receive(ctx)), any(&redis.Subscription{Kind: "subscribe", Channel: "other", Count: 2}))
		for i := range 100 {
			Equal(t, Must(rdb.Publish(ctx, "order_channel", key("New order", i)).Result()), int64(1))
		}
		for i := range 100 {
			Equal(t, Must(sub.ReceiveMessage(ctx)).Payload, key("New order", i))
		}
		NoError(t, sub.Ping(ctx, "still there"))
		Equal(t, Must(sub.Receive(ctx)), any(&redis.Pong{Payload: "still there"}))
		NoError(t, sub.Unsubscribe(ctx, "other"))
		Equal(t, Must(sub.Receive(ctx)), any(&redis.Subscription{Kind: "unsubscribe", Channel: "other", Count: 1}))
	})
}

func TestPatternsNameTheChannel(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		sub := rdb.PSubscribe(ctx, "order.*")
		defer sub.Close()
		Must(sub.Receive(ctx))
		rdb.Publish(ctx, "order.created", "12345")
		Equal(t, Must(sub.ReceiveMessage(ctx)),
			&redis.Message{Channel: "order.created", Pattern: "order.*", Payload: "12345"})
		Equal(t, Must(rdb.PubSubNumPat(ctx).Result()), int64(1))
	})
}

func TestPubSubIntrospection(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		sub := rdb.Subscribe(ctx, "news")
		defer sub.Close()
		Must(sub.Receive(ctx))
		Equal(t, Must(rdb.PubSubChannels(ctx, "n*").Result()), []string{"news"})
		Equal(t, Must(rdb.PubSubNumSub(ctx, "news", "none").Result()), map[string]int64{"news": 1, "none": 0})
		sub.Close()
		Eventually(t, "the subscription is gone", func() bool { return len(rdb.PubSubChannels(ctx, "*").Val()) == 0 })
	})
}

func TestShardedPubSub(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		sub := rdb.SSubscribe(ctx, "shard")
		defer sub.Close()
		Equal(t, Must(sub.Receive(ctx)), any(&redis.Subscription{Kind: "ssubscribe", Channel: "shard", Count: 1}))
		Equal(t, Must(rdb.SPublish(ctx, "shard", "hello").Result()), int64(1))
		Equal(t, Must(sub.ReceiveMessage(ctx)).Payload, "hello")
		Equal(t, Must(rdb.PubSubShardNumSub(ctx, "shard").Result()), map[string]int64{"shard": 1})
		Equal(t, Must(rdb.Publish(ctx, "shard", "not for shards").Result()), int64(0))
	})
}

func TestChannelsOfManySubscribersEachGetEveryMessage(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	const subscribers, messages = 20, 50
	var ready, done sync.WaitGroup
	ready.Add(subscribers)
	for range subscribers {
		done.Go(func() {
			sub := rdb.Subscribe(ctx, "broadcast")
			defer sub.Close()
			if _, err := sub.Receive(ctx); err != nil {
				t.Error(err)
			}
			ready.Done()
			for i := range messages {
				select {
				case message := <-sub.Channel():
					Equal(t, message.Payload, key("m", i))
				case <-time.After(seconds(5)):
					t.Error("no message")
					return
				}
			}
		})
	}
	ready.Wait()
	for i := range messages {
		Equal(t, Must(rdb.Publish(ctx, "broadcast", key("m", i)).Result()), int64(subscribers))
	}
	done.Wait()
}

func TestExpiredKeysAreAnnounced(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		before := Must(rdb.ConfigGet(ctx, "notify-keyspace-events").Result())["notify-keyspace-events"]
		Equal(t, Must(rdb.ConfigSet(ctx, "notify-keyspace-events", "Exg").Result()), "OK")
		defer rdb.ConfigSet(ctx, "notify-keyspace-events", before)
		sub := rdb.PSubscribe(ctx, "__keyevent@0__:*")
		defer sub.Close()
		Must(sub.Receive(ctx))
		rdb.Set(ctx, "session:1", "x", 20*time.Millisecond)
		Equal(t, Must(sub.ReceiveMessage(ctx)).Channel, "__keyevent@0__:expire")
		Equal(t, Must(sub.ReceiveMessage(ctx)),
			&redis.Message{Channel: "__keyevent@0__:expired", Pattern: "__keyevent@0__:*", Payload: "session:1"})
		rdb.Set(ctx, "session:2", "x", 0)
		rdb.Del(ctx, "session:2")
		Equal(t, Must(sub.ReceiveMessage(ctx)).Channel, "__keyevent@0__:del")
	})
}
