// Package goredis runs go-redis v9 as its users do.
package goredis

import (
	"context"
	"fmt"
	"testing"
	"time"

	"clients/redistest"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

// connect returns a client of an emptied server.
func connect(t testing.TB, options *redis.Options) *redis.Client {
	t.Helper()
	if options.Addr == "" {
		options.Addr = redistest.Addr()
	}
	rdb := redis.NewClient(options)
	t.Cleanup(func() { rdb.Close() })
	redistest.NoError(t, rdb.FlushAll(ctx).Err())
	return rdb
}

func eachProtocol(t *testing.T, test func(t *testing.T, rdb *redis.Client)) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
			test(t, connect(t, &redis.Options{Protocol: protocol}))
		})
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
