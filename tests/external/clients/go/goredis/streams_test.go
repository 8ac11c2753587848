package goredis

import (
	"fmt"
	"sync"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

func TestStreamEntriesAndRanges(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		for i, id := range []string{"1-1", "1-2", "2-0"} {
			Equal(t, Must(rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: id, Values: []any{"n", i}}).Result()), id)
		}
		ErrorText(t, rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: "1-0", Values: []any{"n", 0}}).Err(),
			"ERR The ID specified in XADD is equal or smaller than the target stream top item")
		Equal(t, Must(rdb.XLen(ctx, "s").Result()), int64(3))
		Equal(t, Must(rdb.XRangeN(ctx, "s", "(1-1", "+", 1).Result()),
			[]redis.XMessage{{ID: "1-2", Values: map[string]any{"n": "1"}}})
		Equal(t, Must(rdb.XRevRange(ctx, "s", "+", "-").Result())[0].ID, "2-0")
		Equal(t, Must(rdb.XTrimMaxLen(ctx, "s", 2).Result()), int64(1))
		Equal(t, Must(rdb.XDel(ctx, "s", "1-2", "9-9").Result()), int64(1))
		info := Must(rdb.XInfoStream(ctx, "s").Result())
		Equal(t, info.LastGeneratedID, "2-0")
		Equal(t, info.EntriesAdded, int64(3))
		Equal(t, info.FirstEntry.ID, "2-0")
	})
}

func TestXReadBlocksUntilAnEntryArrives(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, rdb.XRead(ctx, &redis.XReadArgs{Streams: []string{"s", "$"}, Block: 20 * time.Millisecond}).Err(), redis.Nil)
		got := make(chan []redis.XStream, 1)
		go func() {
			got <- rdb.XRead(ctx, &redis.XReadArgs{Streams: []string{"s", "other", "$", "0"}, Block: seconds(5)}).Val()
		}()
		Eventually(t, "the reader blocks", func() bool { return blocked(rdb) == 1 })
		rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: "5-0", Values: map[string]any{"foo": "bar"}})
		Equal(t, <-got, []redis.XStream{{Stream: "s",
			Messages: []redis.XMessage{{ID: "5-0", Values: map[string]any{"foo": "bar"}}}}})
	})
}

func TestConsumerGroupRecoversPendingEntries(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.XGroupCreateMkStream(ctx, "stream.orders", "g1", "0").Result()), "OK")
		ErrorText(t, rdb.XGroupCreateMkStream(ctx, "stream.orders", "g1", "0").Err(),
			"BUSYGROUP Consumer Group name already exists")
		read := func(consumer, from string) []redis.XMessage {
			streams := Must(rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g1", Consumer: consumer,
				Streams: []string{"stream.orders", from}, Count: 1, Block: -1}).Result())
			return streams[0].Messages
		}
		rdb.XAdd(ctx, &redis.XAddArgs{Stream: "stream.orders", ID: "1-0", Values: []string{"userId", "1001", "voucherId", "7"}})
		rdb.XAdd(ctx, &redis.XAddArgs{Stream: "stream.orders", ID: "2-0", Values: []string{"userId", "1002", "voucherId", "7"}})
		Equal(t, read("c1", ">")[0].ID, "1-0")
		// Acknowledging another stream, as the tutorial does, changes nothing: the entry is delivered again each time.
		Equal(t, Must(rdb.XAck(ctx, "s1", "g1", "1-0").Result()), int64(0))
		Equal(t, read("c1", "0")[0].Values, map[string]any{"userId": "1001", "voucherId": "7"})
		Equal(t, Must(rdb.XAck(ctx, "stream.orders", "g1", "1-0").Result()), int64(1))
		Equal(t, Must(rdb.XAck(ctx, "stream.orders", "g1", "1-0").Result()), int64(0))
		Equal(t, read("c1", "0"), []redis.XMessage{})
		Equal(t, read("c2", ">")[0].ID, "2-0")
		Equal(t, rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g1", Consumer: "c1",
			Streams: []string{"stream.orders", ">"}, Block: 20 * time.Millisecond}).Err(), redis.Nil)

		pending := Must(rdb.XPending(ctx, "stream.orders", "g1").Result())
		Equal(t, pending, &redis.XPending{Count: 1, Lower: "2-0", Higher: "2-0", Consumers: map[string]int64{"c2": 1}})
		Equal(t, Must(rdb.XClaim(ctx, &redis.XClaimArgs{Stream: "stream.orders", Group: "g1", Consumer: "c1",
			MinIdle: time.Hour, Messages: []string{"2-0"}}).Result()), []redis.XMessage{})
		claimed, next, err := rdb.XAutoClaim(ctx, &redis.XAutoClaimArgs{Stream: "stream.orders", Group: "g1",
			Consumer: "c1", Start: "0"}).Result()
		NoError(t, err)
		Equal(t, next, "0-0")
		Equal(t, claimed[0].ID, "2-0")
		rows := Must(rdb.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: "stream.orders", Group: "g1", Start: "-", End: "+",
			Count: 10}).Result())
		Equal(t, rows[0].Consumer, "c1")
		Equal(t, rows[0].RetryCount, int64(2))
		rdb.XAck(ctx, "stream.orders", "g1", "2-0")
		Equal(t, Must(rdb.XPending(ctx, "stream.orders", "g1").Result()).Count, int64(0))
	})
}

func TestGroupInfo(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		rdb.XGroupCreateMkStream(ctx, "s", "g1", "$")
		rdb.XGroupCreate(ctx, "s", "g2", "0")
		Equal(t, Must(rdb.XGroupCreateConsumer(ctx, "s", "g1", "c").Result()), int64(1))
		for i := range 5 {
			rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: fmt.Sprintf("1-%d", i+1), Values: []any{"i", i}})
		}
		rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g1", Consumer: "c", Streams: []string{"s", ">"}, Count: 3})
		Equal(t, Must(rdb.XInfoGroups(ctx, "s").Result()), []redis.XInfoGroup{
			{Name: "g1", Consumers: 1, Pending: 3, LastDeliveredID: "1-3", EntriesRead: 3, Lag: 2},
			{Name: "g2", Consumers: 0, Pending: 0, LastDeliveredID: "0-0", EntriesRead: 0, Lag: 5}})
		consumers := Must(rdb.XInfoConsumers(ctx, "s", "g1").Result())
		Equal(t, consumers[0].Name, "c")
		Equal(t, consumers[0].Pending, int64(3))
		full := Must(rdb.XInfoStreamFull(ctx, "s", 10).Result())
		Equal(t, len(full.Entries), 5)
		Equal(t, len(full.Groups[0].Consumers[0].Pending), 3)
		Equal(t, Must(rdb.XGroupDelConsumer(ctx, "s", "g1", "c").Result()), int64(3))
		Equal(t, Must(rdb.XGroupSetID(ctx, "s", "g1", "0").Result()), "OK")
		Equal(t, Must(rdb.XGroupDestroy(ctx, "s", "g2").Result()), int64(1))
	})
}

func TestConsumersOfOneGroupShareTheWork(t *testing.T) {
	rdb := connect(t, &redis.Options{PoolSize: 20})
	rdb.XGroupCreateMkStream(ctx, "work", "g", "0")
	const entries, consumers = 300, 8
	var mutex sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for n := range consumers {
		wg.Go(func() {
			for {
				streams, err := rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: key("c", n),
					Streams: []string{"work", ">"}, Count: 10, Block: 300 * time.Millisecond}).Result()
				if err == redis.Nil {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, message := range streams[0].Messages {
					mutex.Lock()
					seen[message.ID]++
					mutex.Unlock()
					rdb.XAck(ctx, "work", "g", message.ID)
				}
			}
		})
	}
	for i := range entries {
		NoError(t, rdb.XAdd(ctx, &redis.XAddArgs{Stream: "work", Values: []any{"i", i}}).Err())
	}
	wg.Wait()
	Equal(t, len(seen), entries)
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s was delivered %d times", id, times)
		}
	}
	Equal(t, Must(rdb.XPending(ctx, "work", "g").Result()).Count, int64(0))
}
