package goredis

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

func TestCacheMissIsRebuiltByOneOf100Readers(t *testing.T) {
	rdb := connect(t, &redis.Options{PoolSize: 20, PoolTimeout: seconds(30)})
	var rebuilt atomic.Int64
	var read func() string
	read = func() string {
		if value, err := rdb.Get(ctx, "cache:shop:1").Result(); err == nil {
			return value
		}
		if !rdb.SetNX(ctx, "lock:shop:1", 1, seconds(10)).Val() {
			time.Sleep(10 * time.Millisecond)
			return read()
		}
		defer rdb.Del(ctx, "lock:shop:1")
		if value, err := rdb.Get(ctx, "cache:shop:1").Result(); err == nil {
			return value
		}
		rebuilt.Add(1)
		time.Sleep(20 * time.Millisecond) // the database
		rdb.Set(ctx, "cache:shop:1", "103茶餐厅", seconds(1800))
		return "103茶餐厅"
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { Equal(t, read(), "103茶餐厅") })
	}
	wg.Wait()
	Equal(t, rebuilt.Load(), int64(1))
}

func TestAnEmptyStringIsNotAMiss(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	rdb.Set(ctx, "cache:shop:404", "", seconds(120))
	Equal(t, Must(rdb.Get(ctx, "cache:shop:404").Result()), "")
	Equal(t, rdb.Get(ctx, "cache:shop:405").Err(), redis.Nil)
}

func TestIDWorkerGives30000DistinctIDs(t *testing.T) {
	rdb := connect(t, &redis.Options{PoolSize: 30, PoolTimeout: seconds(30)})
	next := func() int64 {
		now := time.Now()
		count := Must(rdb.Incr(ctx, "icr:order:"+now.Format("2006:01:02")).Result())
		return (now.Unix()-1640995200)<<32 | count
	}
	var ids sync.Map
	var wg sync.WaitGroup
	for range 300 {
		wg.Go(func() {
			last := int64(0)
			for range 100 {
				id := next()
				if id <= last {
					t.Errorf("%d follows %d", id, last)
				}
				last = id
				if _, twice := ids.LoadOrStore(id, true); twice {
					t.Errorf("%d came twice", id)
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, counter := range Must(rdb.Keys(ctx, "icr:order:*").Result()) { // two of them around midnight
		total += Must(rdb.Get(ctx, counter).Int())
	}
	Equal(t, total, 30000)
}

func TestRateLimitOpensAgain(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	allowed := func() bool {
		n := Must(rdb.Incr(ctx, "limit:user:1").Result())
		if n == 1 {
			rdb.PExpire(ctx, "limit:user:1", 300*time.Millisecond)
		}
		return n <= 5
	}
	for range 5 {
		Equal(t, allowed(), true)
	}
	Equal(t, allowed(), false)
	Eventually(t, "the window is over", func() bool { return rdb.Exists(ctx, "limit:user:1").Val() == 0 })
	Equal(t, allowed(), true)
}

func TestSessionLivesAsLongAsItIsUsed(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	rdb.HSet(ctx, "login:token:t", "id", "1", "nickName", "虎哥", "icon", "")
	rdb.PExpire(ctx, "login:token:t", 200*time.Millisecond)
	for range 5 {
		time.Sleep(60 * time.Millisecond)
		Equal(t, Must(rdb.HGetAll(ctx, "login:token:t").Result())["nickName"], "虎哥")
		Equal(t, Must(rdb.PExpire(ctx, "login:token:t", 200*time.Millisecond).Result()), true)
	}
	Eventually(t, "the session is over", func() bool { return len(rdb.HGetAll(ctx, "login:token:t").Val()) == 0 })
}

func TestQueueOfTwoConsumersLosesNothing(t *testing.T) {
	rdb := connect(t, &redis.Options{})
	var mutex sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				popped := rdb.BRPop(ctx, seconds(5), "my_queue").Val()
				if len(popped) == 0 || popped[1] == "end" {
					return
				}
				mutex.Lock()
				seen[popped[1]] = true
				mutex.Unlock()
			}
		})
	}
	for i := range 500 {
		rdb.LPush(ctx, "my_queue", fmt.Sprint(i))
	}
	rdb.LPush(ctx, "my_queue", "end", "end")
	wg.Wait()
	Equal(t, len(seen), 500)
}
