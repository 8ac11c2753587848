// Package redsync takes RedLocks over several servers.
package redsync

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	redigopool "github.com/go-redsync/redsync/v4/redis/redigo"
	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

type cluster struct {
	servers []*Server
	clients []*redis.Client
	locks   *redsync.Redsync
}

func newCluster(t *testing.T, size int) *cluster {
	c := &cluster{}
	var pools []redsyncredis.Pool
	for range size {
		server := NewServer(t)
		client := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, DialerRetries: 1})
		t.Cleanup(func() { client.Close() })
		c.servers = append(c.servers, server)
		c.clients = append(c.clients, client)
		pools = append(pools, goredis.NewPool(client))
	}
	c.locks = redsync.New(pools...)
	return c
}

func (c *cluster) holders(name string) int {
	count := 0
	for _, client := range c.clients {
		count += int(client.Exists(ctx, name).Val())
	}
	return count
}

func TestLockIsOnEveryServerUntilUnlocked(t *testing.T) {
	c := newCluster(t, 3)
	mutex := c.locks.NewMutex("order", redsync.WithExpiry(20*time.Second))
	NoError(t, mutex.Lock())
	Equal(t, c.holders("order"), 3)
	if ttl := Must(c.clients[0].PTTL(ctx, "order").Result()); ttl < 19*time.Second || ttl > 20*time.Second {
		t.Errorf("the lock lives %v", ttl)
	}
	var taken *redsync.ErrTaken
	if err := c.locks.NewMutex("order", redsync.WithTries(1)).Lock(); !errors.As(err, &taken) {
		t.Errorf("a second lock: %v", err)
	}
	Equal(t, Must(mutex.Extend()), true)
	Equal(t, Must(mutex.Unlock()), true)
	Equal(t, c.holders("order"), 0)
	if unlocked, err := mutex.Unlock(); unlocked || err == nil {
		t.Errorf("unlocked twice: %v, %v", unlocked, err)
	}
}

func TestTwoOfThreeServersAreEnough(t *testing.T) {
	c := newCluster(t, 3)
	c.servers[1].Kill(t)
	mutex := c.locks.NewMutex("order", redsync.WithExpiry(20*time.Second))
	NoError(t, mutex.Lock())
	Equal(t, c.holders("order"), 2)
	Equal(t, Must(mutex.Extend()), true)
	Equal(t, Must(mutex.Unlock()), true)
	Equal(t, c.holders("order"), 0)
}

func TestOneOfThreeServersIsNotEnoughAndIsReleased(t *testing.T) {
	c := newCluster(t, 3)
	c.servers[0].Kill(t)
	c.servers[2].Kill(t)
	if err := c.locks.NewMutex("order", redsync.WithTries(2), redsync.WithRetryDelay(10*time.Millisecond)).Lock(); err == nil {
		t.Error("locked by a minority")
	}
	Equal(t, c.holders("order"), 0)
	c.servers[0].Start(t)
	NoError(t, c.locks.NewMutex("order").Lock())
}

func TestAnExpiredLockIsNotTakenFromItsNextOwner(t *testing.T) {
	c := newCluster(t, 3)
	first := c.locks.NewMutex("order", redsync.WithExpiry(100*time.Millisecond))
	NoError(t, first.Lock())
	second := c.locks.NewMutex("order", redsync.WithRetryDelay(20*time.Millisecond), redsync.WithTries(100))
	NoError(t, second.Lock())
	if unlocked, _ := first.Unlock(); unlocked {
		t.Error("the first owner unlocked what is no longer his")
	}
	// The third server may still have held the former lock when the other two no longer did.
	if holders := c.holders("order"); holders < 2 {
		t.Errorf("only %d servers hold the lock", holders)
	}
	Equal(t, Must(second.Unlock()), true)
}

func TestFiftyBuyersNeverOversell(t *testing.T) {
	c := newCluster(t, 3)
	const stock, buyers = 20, 50
	c.clients[0].Set(ctx, "stock", stock, 0)
	var wg sync.WaitGroup
	var mutex sync.Mutex
	sold := 0
	for range buyers {
		wg.Go(func() {
			lock := c.locks.NewMutex("lock", redsync.WithTries(10000), redsync.WithRetryDelay(2*time.Millisecond))
			if err := lock.Lock(); err != nil {
				t.Error(err)
				return
			}
			defer lock.Unlock()
			if left := Must(c.clients[0].Get(ctx, "stock").Int()); left > 0 {
				c.clients[0].Set(ctx, "stock", left-1, 0)
				mutex.Lock()
				sold++
				mutex.Unlock()
			}
		})
	}
	wg.Wait()
	Equal(t, sold, stock)
	Equal(t, Must(c.clients[0].Get(ctx, "stock").Int()), 0)
}

func TestRedigoPoolsLockTheSameWay(t *testing.T) {
	var pools []redsyncredis.Pool
	for range 3 {
		server := NewServer(t)
		pools = append(pools, redigopool.NewPool(&redigo.Pool{
			MaxIdle: 3, Dial: func() (redigo.Conn, error) { return redigo.Dial("tcp", server.Addr) }}))
	}
	locks := redsync.New(pools...)
	for n := range 5 {
		mutex := locks.NewMutex(fmt.Sprint("lock ", n%2))
		NoError(t, mutex.Lock())
		Equal(t, Must(mutex.Unlock()), true)
	}
}
