package goredis

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	. "clients/redistest"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/redis/go-redis/v9/push"
)

const (
	usualTimeout = 200 * time.Millisecond // the timeout of the clients
	slowReply    = 600 * time.Millisecond // how long the server delays GET slow
)

// announced records the announcements that a client has handled.
type announced struct {
	mutex sync.Mutex
	names []string
	err   error
}

func (seen *announced) PreHook(_ context.Context, _ push.NotificationHandlerContext, _ string, words []interface{}) ([]interface{}, bool) {
	return words, true
}

func (seen *announced) PostHook(_ context.Context, _ push.NotificationHandlerContext, name string, _ []interface{}, result error) {
	seen.mutex.Lock()
	defer seen.mutex.Unlock()
	seen.names = append(seen.names, name)
	if result != nil {
		seen.err = result
	}
}

func announcingServer(t *testing.T, words ...string) (*Server, *redis.Client) {
	t.Helper()
	server, admin := testServer(t, words...)
	NoError(t, admin.Do(ctx, "TEST", "CLOCK", "REAL").Err())
	NoError(t, admin.Do(ctx, "TEST", "FAULT", "ADD", "slow", "WHEN", "KEY", "slow", "DO", "DELAY", slowReply.Milliseconds()).Err())
	return server, admin
}

func connectAnnounced(t *testing.T, server *Server, mode maintnotifications.Mode, endpoint maintnotifications.EndpointType) (*redis.Client, *announced) {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: 3, MaxRetries: -1, PoolSize: 1, ClientName: "app",
		ReadTimeout: usualTimeout, MaintNotificationsConfig: &maintnotifications.Config{Mode: mode, EndpointType: endpoint,
			RelaxedTimeout: 10 * time.Second, PostHandoffRelaxedDuration: time.Second}})
	t.Cleanup(func() { rdb.Close() })
	seen := &announced{}
	if manager := rdb.GetMaintNotificationsManager(); manager != nil {
		manager.AddNotificationHook(seen)
	}
	return rdb, seen
}

func announce(t *testing.T, admin *redis.Client, words ...any) {
	t.Helper()
	Equal(t, Must(admin.Do(ctx, append([]any{"TEST", "PUSH", "app", "SUBSCRIBED"}, words...)...).Result()), any(int64(1)))
}

func isTimeout(err error) bool {
	trouble, ok := err.(net.Error)
	return ok && trouble.Timeout()
}

func TestWithoutTheDirectiveAnnouncementsAreRefusedAsByRedis(t *testing.T) {
	server, admin := announcingServer(t)
	demanding, _ := connectAnnounced(t, server, maintnotifications.ModeEnabled, maintnotifications.EndpointTypeNone)
	ErrorText(t, demanding.Ping(ctx).Err(),
		"ERR unknown subcommand 'maint_notifications'. Try CLIENT HELP.")
	NoError(t, admin.ConfigSet(ctx, "test-maint-notifications", "yes").Err()) // for connections from now on
	NoError(t, demanding.Ping(ctx).Err())
}

func TestEveryEndpointTypeIsAccepted(t *testing.T) {
	server, admin := announcingServer(t, "--test-maint-notifications", "yes")
	for _, endpoint := range []maintnotifications.EndpointType{maintnotifications.EndpointTypeAuto,
		maintnotifications.EndpointTypeInternalIP, maintnotifications.EndpointTypeInternalFQDN,
		maintnotifications.EndpointTypeExternalIP, maintnotifications.EndpointTypeExternalFQDN,
		maintnotifications.EndpointTypeNone} {
		rdb, _ := connectAnnounced(t, server, maintnotifications.ModeEnabled, endpoint)
		NoError(t, rdb.Ping(ctx).Err())
		announce(t, admin, "MIGRATING", 1, 10, "[1]")
		rdb.Close()
	}
}

func TestTimeoutsAreLongerDuringMaintenance(t *testing.T) {
	server, admin := announcingServer(t, "--test-maint-notifications", "yes")
	for _, words := range [][][]any{
		{{"MIGRATING", 1, 10, "[1]"}, {"MIGRATED", 2, "[1]"}},
		{{"FAILING_OVER", 3, 10, "[1]"}, {"FAILED_OVER", 4, "[1]"}},
		{{"SMIGRATING", 5, "0-99"}, {"SMIGRATED", 6, "a:1", "b:2", "0-99"}},
	} {
		rdb, seen := connectAnnounced(t, server, maintnotifications.ModeEnabled, maintnotifications.EndpointTypeAuto)
		if err := rdb.Get(ctx, "slow").Err(); !isTimeout(err) {
			t.Errorf("before %v: %v", words[0], err)
		}
		NoError(t, rdb.Ping(ctx).Err())
		announce(t, admin, words[0]...)
		NoError(t, rdb.Ping(ctx).Err()) // reads the announcement
		Equal(t, rdb.Get(ctx, "slow").Err(), error(redis.Nil))
		announce(t, admin, words[1]...)
		NoError(t, rdb.Ping(ctx).Err())
		if err := rdb.Get(ctx, "slow").Err(); !isTimeout(err) {
			t.Errorf("after %v: %v", words[1], err)
		}
		NoError(t, seen.err)
		Equal(t, len(seen.names), 2)
		rdb.Close()
	}
}

func TestMovingTakesTheClientToAnotherServer(t *testing.T) {
	server, admin := announcingServer(t, "--test-maint-notifications", "yes")
	other, otherAdmin := announcingServer(t, "--test-maint-notifications", "yes")
	NoError(t, admin.Set(ctx, "where", "old", 0).Err())
	NoError(t, otherAdmin.Set(ctx, "where", "new", 0).Err())
	rdb, seen := connectAnnounced(t, server, maintnotifications.ModeEnabled, maintnotifications.EndpointTypeAuto)
	Equal(t, rdb.Get(ctx, "where").Val(), "old")
	announce(t, admin, "MOVING", 1, 15, other.Addr)
	Eventually(t, "the other server", func() bool { return rdb.Get(ctx, "where").Val() == "new" })
	NoError(t, seen.err)
	Equal(t, rdb.Get(ctx, "slow").Err(), error(redis.Nil)) // the timeout is also longer
	announce(t, otherAdmin, "MIGRATED", 2, "[1]")
}

func TestMovingWithoutAnEndpointReconnectsToTheSameServer(t *testing.T) {
	server, admin := announcingServer(t, "--test-maint-notifications", "yes")
	rdb, _ := connectAnnounced(t, server, maintnotifications.ModeEnabled, maintnotifications.EndpointTypeNone)
	before := Must(rdb.ClientID(ctx).Result())
	announce(t, admin, "MOVING", 1, 2)
	Eventually(t, "a new connection", func() bool { return rdb.ClientID(ctx).Val() > before })
}
