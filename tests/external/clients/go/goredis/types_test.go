package goredis

import (
	"math"
	"sort"
	"strings"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

func TestStrings(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.Set(ctx, "name", "虎哥", 0).Result()), "OK")
		Equal(t, Must(rdb.Get(ctx, "name").Result()), "虎哥")
		Equal(t, rdb.Get(ctx, "nothing").Err(), redis.Nil)
		Equal(t, Must(rdb.SetNX(ctx, "name", "x", 0).Result()), false)
		Equal(t, Must(rdb.SetXX(ctx, "name", "jack", seconds(10)).Result()), true)
		Equal(t, Must(rdb.TTL(ctx, "name").Result()), seconds(10))
		Equal(t, Must(rdb.SetArgs(ctx, "name", "rose", redis.SetArgs{Get: true, KeepTTL: true}).Result()), "jack")
		Equal(t, Must(rdb.GetEx(ctx, "name", 0).Result()), "rose")
		Equal(t, Must(rdb.GetDel(ctx, "name").Result()), "rose")
		Equal(t, Must(rdb.Append(ctx, "text", "Hello ").Result()), int64(6))
		Equal(t, Must(rdb.Append(ctx, "text", "World").Result()), int64(11))
		Equal(t, Must(rdb.SetRange(ctx, "text", 6, "Redis").Result()), int64(11))
		Equal(t, Must(rdb.GetRange(ctx, "text", -5, -1).Result()), "Redis")
		Equal(t, Must(rdb.StrLen(ctx, "text").Result()), int64(11))
		Equal(t, Must(rdb.MSet(ctx, "k1", "v1", "k2", 2).Result()), "OK")
		Equal(t, Must(rdb.MGet(ctx, "k1", "none", "k2").Result()), []any{"v1", nil, "2"})
		Equal(t, Must(rdb.MSetNX(ctx, "k2", "x", "k3", "y").Result()), false)
		Equal(t, Must(rdb.LCS(ctx, &redis.LCSQuery{Key1: "k1", Key2: "text"}).Result()).MatchString, "")
	})
}

func TestCounters(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.Incr(ctx, "n").Result()), int64(1))
		Equal(t, Must(rdb.IncrBy(ctx, "n", 41).Result()), int64(42))
		Equal(t, Must(rdb.DecrBy(ctx, "n", 50).Result()), int64(-8))
		Equal(t, Must(rdb.IncrByFloat(ctx, "f", 10.5).Result()), 10.5)
		Equal(t, Must(rdb.IncrByFloat(ctx, "f", -0.1).Result()), 10.4)
		rdb.Set(ctx, "max", math.MaxInt64, 0)
		ErrorText(t, rdb.Incr(ctx, "max").Err(), "ERR increment or decrement would overflow")
		rdb.Set(ctx, "text", "abc", 0)
		ErrorText(t, rdb.Incr(ctx, "text").Err(), "ERR value is not an integer or out of range")
		ErrorText(t, rdb.LPush(ctx, "text", "x").Err(),
			"WRONGTYPE Operation against a key holding the wrong kind of value")
	})
}

func TestBitsAndHyperLogLog(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		for _, day := range []int64{0, 3, 27} {
			Equal(t, Must(rdb.SetBit(ctx, "sign", day, 1).Result()), int64(0))
		}
		Equal(t, Must(rdb.BitCount(ctx, "sign", nil).Result()), int64(3))
		Equal(t, Must(rdb.BitCount(ctx, "sign", &redis.BitCount{Start: 3, End: 27, Unit: "BIT"}).Result()), int64(2))
		Equal(t, Must(rdb.BitPos(ctx, "sign", 0).Result()), int64(1))
		Equal(t, Must(rdb.BitField(ctx, "sign", "GET", "u4", 0, "INCRBY", "u8", 8, 255).Result()), []int64{9, 255})
		Equal(t, Must(rdb.BitOpNot(ctx, "not", "sign").Result()), int64(4))
		Equal(t, Must(rdb.PFAdd(ctx, "uv", "a", "b", "c").Result()), int64(1))
		rdb.PFAdd(ctx, "uv2", "c", "d")
		Equal(t, Must(rdb.PFCount(ctx, "uv", "uv2").Result()), int64(4))
		Equal(t, Must(rdb.PFMerge(ctx, "all", "uv", "uv2").Result()), "OK")
		Equal(t, Must(rdb.PFCount(ctx, "all").Result()), int64(4))
	})
}

func TestHashes(t *testing.T) {
	type user struct {
		Name string  `redis:"name"`
		Age  int     `redis:"age"`
		Rate float64 `redis:"rate"`
		VIP  bool    `redis:"vip"`
	}
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.HSet(ctx, "user:1", user{"Jack", 21, 0.5, true}).Result()), int64(4))
		var back user
		NoError(t, rdb.HGetAll(ctx, "user:1").Scan(&back))
		Equal(t, back, user{"Jack", 21, 0.5, true})
		Equal(t, Must(rdb.HGetAll(ctx, "none").Result()), map[string]string{})
		Equal(t, Must(rdb.HMGet(ctx, "user:1", "age", "none").Result()), []any{"21", nil})
		Equal(t, Must(rdb.HIncrBy(ctx, "user:1", "age", 1).Result()), int64(22))
		Equal(t, Must(rdb.HIncrByFloat(ctx, "user:1", "rate", 0.25).Result()), 0.75)
		Equal(t, Must(rdb.HSetNX(ctx, "user:1", "name", "x").Result()), false)
		Equal(t, Must(rdb.HExists(ctx, "user:1", "vip").Result()), true)
		Equal(t, Must(rdb.HDel(ctx, "user:1", "vip", "none").Result()), int64(1))
		Equal(t, Must(rdb.HLen(ctx, "user:1").Result()), int64(3))
		keys := Must(rdb.HKeys(ctx, "user:1").Result())
		sort.Strings(keys)
		Equal(t, keys, []string{"age", "name", "rate"})
		pairs := Must(rdb.HRandFieldWithValues(ctx, "user:1", 3).Result())
		Equal(t, len(pairs), 3)
	})
}

func TestLists(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.RPush(ctx, "l", "a", "b", "c", "b").Result()), int64(4))
		Equal(t, Must(rdb.LPush(ctx, "l", "z").Result()), int64(5))
		Equal(t, Must(rdb.LRange(ctx, "l", 0, -1).Result()), []string{"z", "a", "b", "c", "b"})
		Equal(t, Must(rdb.LPosCount(ctx, "l", "b", 0, redis.LPosArgs{}).Result()), []int64{2, 4})
		Equal(t, Must(rdb.LInsertBefore(ctx, "l", "c", "x").Result()), int64(6))
		Equal(t, Must(rdb.LRem(ctx, "l", -1, "b").Result()), int64(1))
		Equal(t, Must(rdb.LSet(ctx, "l", 0, "first").Result()), "OK")
		ErrorText(t, rdb.LSet(ctx, "l", 99, "x").Err(), "ERR index out of range")
		ErrorText(t, rdb.LSet(ctx, "none", 0, "x").Err(), "ERR no such key")
		Equal(t, Must(rdb.LPopCount(ctx, "l", 2).Result()), []string{"first", "a"})
		Equal(t, rdb.LPopCount(ctx, "none", 2).Err(), redis.Nil)
		Equal(t, Must(rdb.LMove(ctx, "l", "m", "RIGHT", "LEFT").Result()), "c")
		key, popped, err := rdb.LMPop(ctx, "left", 2, "none", "l").Result()
		NoError(t, err)
		Equal(t, key, "l")
		Equal(t, popped, []string{"b", "x"})
		Equal(t, Must(rdb.LTrim(ctx, "m", 1, -1).Result()), "OK")
		Equal(t, Must(rdb.Exists(ctx, "l", "m").Result()), int64(0))
	})
}

func TestSets(t *testing.T) {
	sorted := func(members []string) []string { sort.Strings(members); return members }
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.SAdd(ctx, "a", "java", "redis", "go").Result()), int64(3))
		rdb.SAdd(ctx, "b", "redis", "rust")
		Equal(t, Must(rdb.SInter(ctx, "a", "b").Result()), []string{"redis"})
		Equal(t, Must(rdb.SInterCard(ctx, 1, "a", "b").Result()), int64(1))
		Equal(t, sorted(Must(rdb.SDiff(ctx, "a", "b").Result())), []string{"go", "java"})
		Equal(t, Must(rdb.SUnionStore(ctx, "u", "a", "b").Result()), int64(4))
		Equal(t, Must(rdb.SMembersMap(ctx, "b").Result()), map[string]struct{}{"redis": {}, "rust": {}})
		Equal(t, Must(rdb.SIsMember(ctx, "a", "go").Result()), true)
		Equal(t, Must(rdb.SMIsMember(ctx, "a", "go", "c").Result()), []bool{true, false})
		Equal(t, Must(rdb.SMove(ctx, "a", "b", "go").Result()), true)
		Equal(t, len(Must(rdb.SRandMemberN(ctx, "u", -10).Result())), 10)
		Equal(t, sorted(Must(rdb.SPopN(ctx, "u", 10).Result())), []string{"go", "java", "redis", "rust"})
		Equal(t, rdb.SPop(ctx, "u").Err(), redis.Nil)
	})
}

func TestSortedSets(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.ZAdd(ctx, "rank", redis.Z{Score: 85, Member: "Jack"}, redis.Z{Score: 89.5, Member: "Lucy"},
			redis.Z{Score: math.Inf(1), Member: "Top"}).Result()), int64(3))
		Equal(t, Must(rdb.ZRangeWithScores(ctx, "rank", 0, -1).Result()), []redis.Z{
			{Score: 85, Member: "Jack"}, {Score: 89.5, Member: "Lucy"}, {Score: math.Inf(1), Member: "Top"}})
		Equal(t, Must(rdb.ZScore(ctx, "rank", "Lucy").Result()), 89.5)
		Equal(t, rdb.ZScore(ctx, "rank", "nobody").Err(), redis.Nil)
		Equal(t, Must(rdb.ZMScore(ctx, "rank", "Jack", "nobody").Result()), []float64{85, 0})
		Equal(t, Must(rdb.ZIncrBy(ctx, "rank", 2.25, "Jack").Result()), 87.25)
		Equal(t, Must(rdb.ZAddArgsIncr(ctx, "rank", redis.ZAddArgs{XX: true, Members: []redis.Z{{Score: 1, Member: "Jack"}}}).Result()), 88.25)
		Equal(t, Must(rdb.ZRevRank(ctx, "rank", "Top").Result()), int64(0))
		Equal(t, rdb.ZRank(ctx, "rank", "nobody").Err(), redis.Nil)
		Equal(t, Must(rdb.ZCount(ctx, "rank", "(88.25", "+inf").Result()), int64(2))
		Equal(t, Must(rdb.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "rank", Start: "100", Stop: "-inf", ByScore: true, Rev: true,
			Offset: 0, Count: 1}).Result()), []string{"Lucy"})
		Equal(t, Must(rdb.ZPopMax(ctx, "rank").Result()), []redis.Z{{Score: math.Inf(1), Member: "Top"}})
		rdb.ZAdd(ctx, "rank2", redis.Z{Score: 1, Member: "Lucy"})
		Equal(t, Must(rdb.ZUnionWithScores(ctx, redis.ZStore{Keys: []string{"rank", "rank2"}, Weights: []float64{1, 10},
			Aggregate: "MAX"}).Result()), []redis.Z{{Score: 88.25, Member: "Jack"}, {Score: 89.5, Member: "Lucy"}})
		Equal(t, Must(rdb.ZInterStore(ctx, "both", &redis.ZStore{Keys: []string{"rank", "rank2"}}).Result()), int64(1))
		key, popped, err := rdb.ZMPop(ctx, "min", 5, "none", "both").Result()
		NoError(t, err)
		Equal(t, key, "both")
		Equal(t, popped, []redis.Z{{Score: 90.5, Member: "Lucy"}})
		rdb.ZAdd(ctx, "lex", redis.Z{Member: "a"}, redis.Z{Member: "b"}, redis.Z{Member: "c"})
		Equal(t, Must(rdb.ZRangeByLex(ctx, "lex", &redis.ZRangeBy{Min: "(a", Max: "+"}).Result()), []string{"b", "c"})
		Equal(t, Must(rdb.ZLexCount(ctx, "lex", "-", "(c").Result()), int64(2))
		Equal(t, Must(rdb.ZRemRangeByRank(ctx, "lex", 0, -1).Result()), int64(3))
		random := Must(rdb.ZRandMemberWithScores(ctx, "rank", 10).Result())
		Equal(t, len(random), 2)
	})
}

func TestGeo(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		Equal(t, Must(rdb.GeoAdd(ctx, "Sicily", &redis.GeoLocation{Name: "Palermo", Longitude: 13.361389, Latitude: 38.115556},
			&redis.GeoLocation{Name: "Catania", Longitude: 15.087269, Latitude: 37.502669}).Result()), int64(2))
		Equal(t, Must(rdb.GeoDist(ctx, "Sicily", "Palermo", "Catania", "km").Result()), 166.2742)
		Equal(t, Must(rdb.GeoHash(ctx, "Sicily", "Palermo", "Catania").Result()), []string{"sqc8b49rny0", "sqdtr74hyu0"})
		found := Must(rdb.GeoSearchLocation(ctx, "Sicily", &redis.GeoSearchLocationQuery{
			GeoSearchQuery: redis.GeoSearchQuery{Longitude: 15, Latitude: 37, Radius: 200, RadiusUnit: "km", Sort: "ASC"},
			WithCoord:      true, WithDist: true, WithHash: true}).Result())
		Equal(t, len(found), 2)
		Equal(t, found[0].Name, "Catania")
		Equal(t, found[0].Dist, 56.4413)
		Equal(t, found[1].GeoHash, int64(3479099956230698))
		positions := Must(rdb.GeoPos(ctx, "Sicily", "Palermo", "nowhere").Result())
		if positions[1] != nil || math.Abs(positions[0].Longitude-13.361389) > 1e-5 {
			t.Errorf("GEOPOS: %v", positions)
		}
	})
}

func TestKeysAndExpiry(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		rdb.Set(ctx, "k", "v", 0)
		Equal(t, Must(rdb.TTL(ctx, "k").Result()), time.Duration(-1))
		Equal(t, Must(rdb.TTL(ctx, "none").Result()), time.Duration(-2))
		Equal(t, Must(rdb.ExpireNX(ctx, "k", seconds(100)).Result()), true)
		Equal(t, Must(rdb.ExpireLT(ctx, "k", seconds(200)).Result()), false)
		at := time.Now().Add(time.Hour).Truncate(time.Second)
		Equal(t, Must(rdb.ExpireAt(ctx, "k", at).Result()), true)
		Equal(t, Must(rdb.ExpireTime(ctx, "k").Result()), time.Duration(at.Unix())*time.Second)
		Equal(t, Must(rdb.Persist(ctx, "k").Result()), true)
		Equal(t, Must(rdb.Copy(ctx, "k", "copy", 1, false).Result()), int64(1))
		Equal(t, Must(rdb.Rename(ctx, "k", "k2").Result()), "OK")
		ErrorText(t, rdb.Rename(ctx, "k", "k3").Err(), "ERR no such key")
		Equal(t, Must(rdb.Move(ctx, "k2", 2).Result()), true)
		Equal(t, Must(rdb.DBSize(ctx).Result()), int64(0))
		rdb.RPush(ctx, "numbers", 3, 1, 2)
		Equal(t, Must(rdb.Sort(ctx, "numbers", &redis.Sort{Order: "DESC"}).Result()), []string{"3", "2", "1"})
		Equal(t, Must(rdb.Type(ctx, "numbers").Result()), "list")
		dump := Must(rdb.Dump(ctx, "numbers").Result())
		Equal(t, Must(rdb.Restore(ctx, "restored", 0, dump).Result()), "OK")
		ErrorText(t, rdb.Restore(ctx, "restored", 0, dump).Err(), "BUSYKEY Target key name already exists.")
		Equal(t, Must(rdb.LRange(ctx, "restored", 0, -1).Result()), []string{"3", "1", "2"})
		Equal(t, Must(rdb.Unlink(ctx, "numbers", "restored", "none").Result()), int64(2))
		rdb.Set(ctx, "short", "v", 30*time.Millisecond)
		Eventually(t, "the key has expired", func() bool { return rdb.Exists(ctx, "short").Val() == 0 })
	})
}

func TestBinaryAndBigValues(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		binary := "\xac\xed\x00\x05t\x00\r\n$-1\r\n"
		rdb.Set(ctx, binary, binary, 0)
		Equal(t, Must(rdb.Keys(ctx, "*").Result()), []string{binary})
		Equal(t, Must(rdb.Get(ctx, binary).Result()), binary)
		big := strings.Repeat("0123456789abcdef", 1<<20)
		rdb.Set(ctx, "big", big, 0)
		if Must(rdb.Get(ctx, "big").Result()) != big {
			t.Error("16 MiB came back different")
		}
	})
}

func TestScanIteratorsSeeEveryElementOnce(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		const count = 2000
		pipe := rdb.Pipeline()
		for i := range count {
			pipe.Set(ctx, key("key", i), i, 0)
			pipe.HSet(ctx, "hash", key("field", i), i)
			pipe.SAdd(ctx, "set", key("member", i))
			pipe.ZAdd(ctx, "zset", redis.Z{Score: float64(i), Member: key("member", i)})
		}
		Must(pipe.Exec(ctx))
		distinct := func(iterator *redis.ScanIterator) int {
			seen := map[string]bool{}
			for iterator.Next(ctx) {
				seen[iterator.Val()] = true
			}
			NoError(t, iterator.Err())
			return len(seen)
		}
		Equal(t, distinct(rdb.Scan(ctx, 0, "key:*", 100).Iterator()), count)
		Equal(t, distinct(rdb.ScanType(ctx, 0, "*", 10, "zset").Iterator()), 1)
		Equal(t, distinct(rdb.SScan(ctx, "set", 0, "", 100).Iterator()), count)
		Equal(t, distinct(rdb.SScan(ctx, "set", 0, "member:1??", 100).Iterator()), 100)
		fields := map[string]string{}
		for cursor := uint64(0); ; {
			page, next, err := rdb.HScan(ctx, "hash", cursor, "", 100).Result()
			NoError(t, err)
			for i := 0; i < len(page); i += 2 {
				fields[page[i]] = page[i+1]
			}
			if cursor = next; cursor == 0 {
				break
			}
		}
		Equal(t, len(fields), count)
		Equal(t, fields["field:1234"], "1234")
		zset, cursor, err := rdb.ZScan(ctx, "zset", 0, "member:7", 10000).Result()
		NoError(t, err)
		Equal(t, cursor, uint64(0))
		Equal(t, zset, []string{"member:7", "7"})
	})
}
