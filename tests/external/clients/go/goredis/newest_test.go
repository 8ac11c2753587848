package goredis

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

// newest runs a test of commands of Redis 8.2 to 8.10 with RESP2 and RESP3, against a server that emulates 8.10, or a
// real one. It skips the test if a real server is older.
func newest(t *testing.T, test func(t *testing.T, rdb *redis.Client)) {
	var words []string
	help, _ := exec.Command(os.Getenv("REDIS_SERVER"), "--help").CombinedOutput()
	if strings.Contains(string(help), "--test ") {
		words = []string{"--emulate", "redis:8.10"}
	}
	server := NewServer(t, words...)
	for name, protocol := range map[string]int{"RESP2": 2, "RESP3": 3} {
		t.Run(name, func(t *testing.T) {
			rdb := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: protocol})
			defer rdb.Close()
			if Must(rdb.Command(ctx).Result())["lmovem"] == nil {
				t.Skip("this server is older than Redis 8.10")
			}
			NoError(t, rdb.FlushAll(ctx).Err())
			test(t, rdb)
		})
	}
}

func TestSetComparesBeforeItWrites(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		rdb.Set(ctx, "key", "one", 0)
		Equal(t, rdb.SetIFEQ(ctx, "key", "two", "other", 0).Err(), error(redis.Nil))
		NoError(t, rdb.SetIFEQ(ctx, "key", "two", "one", 0).Err())
		Equal(t, rdb.SetIFNE(ctx, "key", "three", "two", 0).Err(), error(redis.Nil))
		NoError(t, rdb.SetIFNE(ctx, "key", "three", "one", 100*time.Second).Err())
		Equal(t, rdb.TTL(ctx, "key").Val(), 100*time.Second)
		digest := Must(rdb.Digest(ctx, "key").Result())
		Equal(t, rdb.SetIFDNE(ctx, "key", "four", digest, 0).Err(), error(redis.Nil))
		Equal(t, Must(rdb.SetIFDEQGet(ctx, "key", "four", digest, 0).Result()), "three")
		Equal(t, Must(rdb.SetIFEQGet(ctx, "key", "five", "four", 0).Result()), "four")
	})
}

func TestDelExComparesBeforeItDeletes(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		rdb.Set(ctx, "key", "value", 0)
		digest := Must(rdb.Digest(ctx, "key").Result())
		Equal(t, Must(rdb.DelExArgs(ctx, "key", redis.DelExArgs{Mode: "IFEQ", MatchValue: "other"}).Result()), int64(0))
		Equal(t, Must(rdb.DelExArgs(ctx, "key", redis.DelExArgs{Mode: "IFNE", MatchValue: "value"}).Result()), int64(0))
		Equal(t, Must(rdb.DelExArgs(ctx, "key", redis.DelExArgs{Mode: "IFDNE", MatchDigest: digest}).Result()), int64(0))
		Equal(t, Must(rdb.DelExArgs(ctx, "key", redis.DelExArgs{Mode: "IFDEQ", MatchDigest: digest}).Result()), int64(1))
		Equal(t, Must(rdb.DelExArgs(ctx, "key", redis.DelExArgs{}).Result()), int64(0))
		Equal(t, rdb.Digest(ctx, "key").Err(), error(redis.Nil))
	})
}

func TestMSetEXSetsAllKeysOrNone(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		lasting := &redis.ExpirationOption{Mode: redis.EX, Value: 100}
		Equal(t, Must(rdb.MSetEX(ctx, redis.MSetEXArgs{Expiration: lasting}, "a", "1", "b", "2").Result()), int64(1))
		Equal(t, rdb.TTL(ctx, "b").Val(), 100*time.Second)
		Equal(t, Must(rdb.MSetEX(ctx, redis.MSetEXArgs{Condition: redis.NX}, "b", "3", "c", "4").Result()), int64(0))
		Equal(t, Must(rdb.Exists(ctx, "c").Result()), int64(0))
		Equal(t, Must(rdb.MSetEX(ctx, redis.MSetEXArgs{Condition: redis.XX,
			Expiration: &redis.ExpirationOption{Mode: redis.KEEPTTL}}, "a", "5", "b", "6").Result()), int64(1))
		Equal(t, rdb.TTL(ctx, "a").Val(), 100*time.Second)
	})
}

func TestIncrEXStaysInItsBounds(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		step := func(args redis.IncrEXIntArgs) [2]int64 {
			result := Must(rdb.IncrEXInt(ctx, "n", args).Result())
			return [2]int64{result.Value, result.AppliedIncrement}
		}
		Equal(t, step(redis.IncrEXIntArgs{}), [2]int64{1, 1})
		Equal(t, step(redis.IncrEXIntArgs{By: 5, HasBy: true, UBound: 10, HasUBound: true}), [2]int64{6, 5})
		Equal(t, step(redis.IncrEXIntArgs{By: 5, HasBy: true, UBound: 10, HasUBound: true, Saturate: true}), [2]int64{10, 4})
		Equal(t, step(redis.IncrEXIntArgs{By: 5, HasBy: true, UBound: 10, HasUBound: true}), [2]int64{10, 0})
		Equal(t, step(redis.IncrEXIntArgs{By: -1, HasBy: true, HasLBound: true,
			Expiration: &redis.ExpirationOption{Mode: redis.EX, Value: 100}}), [2]int64{9, -1})
		step(redis.IncrEXIntArgs{Expiration: &redis.ExpirationOption{Mode: redis.EX, Value: 500}, ENX: true})
		Equal(t, rdb.TTL(ctx, "n").Val(), 100*time.Second)
		result := Must(rdb.IncrEXFloat(ctx, "f", redis.IncrEXFloatArgs{By: 1.5}).Result())
		Equal(t, [2]float64{result.Value, result.AppliedIncrement}, [2]float64{1.5, 1.5})
	})
}

func TestStreamEntriesAreDeletedWithTheirReferences(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		NoError(t, rdb.XGroupCreateMkStream(ctx, "s", "g", "$").Err())
		var ids []string
		for n := range 4 {
			ids = append(ids, Must(rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", Values: []any{"n", n}}).Result()))
		}
		pending := func() int64 { return Must(rdb.XPending(ctx, "s", "g").Result()).Count }
		NoError(t, rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"s", ">"}}).Err())
		Equal(t, Must(rdb.XDelEx(ctx, "s", "KEEPREF", ids[0], "9-9").Result()), []any{int64(1), int64(-1)})
		Equal(t, pending(), int64(4))
		Equal(t, Must(rdb.XDelEx(ctx, "s", "DELREF", ids[1]).Result()), []any{int64(1)})
		Equal(t, Must(rdb.XDelEx(ctx, "s", "ACKED", ids[2]).Result()), []any{int64(2)})
		Equal(t, Must(rdb.XAckDel(ctx, "s", "g", "DELREF", ids[2], ids[3]).Result()), []any{int64(1), int64(1)})
		Equal(t, pending(), int64(1))
		Equal(t, Must(rdb.XLen(ctx, "s").Result()), int64(0))
	})
}

func TestXAddIsIdempotentAndTrimsWithReferences(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		once := &redis.XAddArgs{Stream: "s", Values: []any{"n", 1}, ProducerID: "p", IdempotentID: "1"}
		Equal(t, Must(rdb.XAdd(ctx, once).Result()), Must(rdb.XAdd(ctx, once).Result()))
		automatic := &redis.XAddArgs{Stream: "s", Values: []any{"n", 2}, ProducerID: "p", IdempotentAuto: true}
		Equal(t, Must(rdb.XAdd(ctx, automatic).Result()), Must(rdb.XAdd(ctx, automatic).Result()))
		Equal(t, Must(rdb.XLen(ctx, "s").Result()), int64(2))
		NoError(t, rdb.XCfgSet(ctx, &redis.XCfgSetArgs{Stream: "s", Duration: 60, MaxSize: 10}).Err())
		NoError(t, rdb.XGroupCreate(ctx, "s", "g", "0").Err())
		NoError(t, rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"s", ">"}}).Err())
		NoError(t, rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", MaxLen: 2, Mode: "KEEPREF", Values: []any{"n", 3}}).Err())
		Equal(t, Must(rdb.XPending(ctx, "s", "g").Result()).Count, int64(2))
		NoError(t, rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", MaxLen: 1, Mode: "DELREF", Values: []any{"n", 4}}).Err())
		Equal(t, Must(rdb.XPending(ctx, "s", "g").Result()).Count, int64(1))
	})
}

func TestXReadGroupClaimsIdleEntriesWithNewOnes(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		NoError(t, rdb.XGroupCreateMkStream(ctx, "s", "g", "$").Err())
		first := Must(rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", Values: []any{"n", 1}}).Result())
		NoError(t, rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "dies", Streams: []string{"s", ">"}}).Err())
		second := Must(rdb.XAdd(ctx, &redis.XAddArgs{Stream: "s", Values: []any{"n", 2}}).Result())
		time.Sleep(2 * time.Millisecond)
		read := Must(rdb.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "lives", Streams: []string{"s", ">"},
			Claim: time.Millisecond}).Result())
		Equal(t, len(read[0].Messages), 2)
		Equal(t, []string{read[0].Messages[0].ID, read[0].Messages[1].ID}, []string{first, second})
		Equal(t, read[0].Messages[0].DeliveredCount, int64(1))
		Equal(t, Must(rdb.XNack(ctx, &redis.XNackArgs{Stream: "s", Group: "g", Mode: redis.XNackModeFail,
			IDs: []string{first, second}}).Result()), int64(2))
	})
}

func TestHotKeys(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		NoError(t, rdb.HotKeysStart(ctx, &redis.HotKeysStartArgs{
			Metrics: []redis.HotKeysMetric{redis.HotKeysMetricCPU, redis.HotKeysMetricNET}, Count: 10}).Err())
		for range 50 {
			NoError(t, rdb.Set(ctx, "hot", strings.Repeat("x", 100), 0).Err())
		}
		NoError(t, rdb.HotKeysStop(ctx).Err())
		report := Must(rdb.HotKeysGet(ctx).Result())
		Equal(t, report.TrackingActive, false)
		Equal(t, report.ByNetBytes[0].Key, "hot")
		Equal(t, len(report.ByCPUTime), 1)
		NoError(t, rdb.HotKeysReset(ctx).Err())
	})
}

func TestListsSetsAndHashesOfRedis810(t *testing.T) {
	newest(t, func(t *testing.T, rdb *redis.Client) {
		rdb.RPush(ctx, "from", "a", "b", "c", "d")
		Equal(t, Must(rdb.LMoveM(ctx, "from", "to", "LEFT", "RIGHT", redis.LMoveMArgs{Count: 3}).Result()), []string{"a", "b", "c"})
		Equal(t, rdb.LMoveM(ctx, "from", "to", "LEFT", "RIGHT", redis.LMoveMArgs{Mode: redis.LMoveMExactly, Count: 2}).Val(),
			[]string(nil))
		rdb.SAdd(ctx, "s", "a", "b", "c")
		rdb.SAdd(ctx, "t", "c", "d")
		Equal(t, Must(rdb.SUnionCard(ctx, nil, "s", "t").Result()), int64(4))
		Equal(t, Must(rdb.SUnionCard(ctx, &redis.SUnionCardOptions{Limit: 3}, "s", "t").Result()), int64(3))
		Equal(t, Must(rdb.SDiffCard(ctx, nil, "s", "t").Result()), int64(2))
		NoError(t, rdb.HImportPrepare(ctx, "people", "name", "age").Err())
		NoError(t, rdb.HImportSet(ctx, "ann", "people", "Ann", 30).Err())
		Equal(t, Must(rdb.HGetAll(ctx, "ann").Result()), map[string]string{"name": "Ann", "age": "30"})
	})
}
