package goredis

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
)

func key(prefix string, n int) string { return fmt.Sprintf("%s:%d", prefix, n) }

func TestPipelineKeepsTheOrderOf20000Replies(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		const count = 20000
		pipe := rdb.Pipeline()
		for i := range count {
			pipe.Set(ctx, key("batch", i), i, 0)
		}
		Equal(t, len(Must(pipe.Exec(ctx))), count)
		for i := range count {
			pipe.Get(ctx, key("batch", i))
		}
		for i, reply := range Must(pipe.Exec(ctx)) {
			if got := reply.(*redis.StringCmd).Val(); got != strconv.Itoa(i) {
				t.Fatalf("reply %d is %q", i, got)
			}
		}
	})
}

func TestPipelineGoesOnAfterAnError(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		cmds, err := rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "text", "x", 0)
			pipe.Incr(ctx, "text")
			pipe.Get(ctx, "missing")
			pipe.Get(ctx, "text")
			return nil
		})
		ErrorText(t, err, "ERR value is not an integer or out of range")
		Equal(t, cmds[2].Err(), redis.Nil)
		Equal(t, cmds[3].(*redis.StringCmd).Val(), "x")
	})
}

func TestTransaction(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		var total *redis.IntCmd
		var members *redis.MapStringStringCmd
		_, err := rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.IncrBy(ctx, "account", 100)
			total = pipe.IncrBy(ctx, "account", -30)
			pipe.HSet(ctx, "h", "f", "v")
			members = pipe.HGetAll(ctx, "h")
			return nil
		})
		NoError(t, err)
		Equal(t, total.Val(), int64(70))
		Equal(t, members.Val(), map[string]string{"f": "v"})
	})
}

func TestTransactionDoesNotRollBackAWrongType(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		cmds, err := rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "k", "text", 0)
			pipe.LPush(ctx, "k", "x")
			pipe.Set(ctx, "after", "1", 0)
			return nil
		})
		ErrorText(t, err, "WRONGTYPE Operation against a key holding the wrong kind of value")
		ErrorText(t, cmds[1].Err(), "WRONGTYPE Operation against a key holding the wrong kind of value")
		Equal(t, Must(rdb.Get(ctx, "after").Result()), "1")
	})
}

func TestTransactionWithAnUnknownCommandIsAborted(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		_, err := rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "k", "1", 0)
			pipe.Do(ctx, "NOSUCH", "a")
			return nil
		})
		if err == nil {
			t.Fatal("no error")
		}
		Equal(t, Must(rdb.Exists(ctx, "k").Result()), int64(0))
	})
}

func TestWatchRetriesUntilEveryIncrementCounts(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		const clients, each = 20, 10
		increment := func(tx *redis.Tx) error {
			n, err := tx.Get(ctx, "counter").Int()
			if err != nil && err != redis.Nil {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Set(ctx, "counter", n+1, 0)
				return nil
			})
			return err
		}
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for range each {
					var err error = redis.TxFailedErr
					for errors.Is(err, redis.TxFailedErr) {
						err = rdb.Watch(ctx, increment, "counter")
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		Equal(t, Must(rdb.Get(ctx, "counter").Int()), clients*each)
	})
}

func TestWatchFailsWhenTheKeyChangedBetween(t *testing.T) {
	eachProtocol(t, func(t *testing.T, rdb *redis.Client) {
		err := rdb.Watch(ctx, func(tx *redis.Tx) error {
			rdb.Set(ctx, "watched", "by another", 0)
			_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Set(ctx, "watched", "mine", 0)
				return nil
			})
			return err
		}, "watched")
		Equal(t, err, redis.TxFailedErr)
		Equal(t, Must(rdb.Get(ctx, "watched").Result()), "by another")
	})
}
