package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Servers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.params.GetExParams;
import redis.clients.jedis.params.XAutoClaimParams;
import redis.clients.jedis.params.XPendingParams;
import redis.clients.jedis.params.XReadGroupParams;
import redis.clients.jedis.resps.StreamEntry;

/**
 * What programs do with time, tested on a server whose clock stands still until the test moves it (docs/test_server.md): no
 * test sleeps. Each prints how long it took.
 */
@EnabledIfEnvironmentVariable(named = Servers.TEST_SERVER, matches = ".+")
class TestClockTest {
  private static final int HOUR_MS = 3_600_000;
  /** Takes the jobs that are due by the clock of the server, as queues with delays do. */
  private static final String TAKE_DUE = """
      local now = redis.call('TIME')
      local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now[1] * 1000 + math.floor(now[2] / 1000))
      if #due > 0 then redis.call('ZREM', KEYS[1], unpack(due)) end
      return due""";
  /** So many calls a minute, counted from the first. */
  private static final String ALLOW = """
      local calls = redis.call('INCR', KEYS[1])
      if calls == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
      return calls <= tonumber(ARGV[1])""";

  private Jedis jedis;
  private long begin;

  @BeforeEach
  void freeze() {
    jedis = new Jedis(Servers.HOST, Servers.testPort());
    test("RESET");
    test("CLOCK", "FREEZE");
    begin = System.nanoTime();
  }

  @AfterEach
  void reset(TestInfo info) {
    System.out.printf("%s: %.1f ms%n", info.getDisplayName(), (System.nanoTime() - begin) / 1e6);
    test("RESET");
    jedis.close();
  }

  private void test(String... words) {
    jedis.sendCommand(() -> "TEST".getBytes(), words);
  }

  private void advance(String duration) {
    test("CLOCK", "ADVANCE", duration);
  }

  private long nowMs() {
    List<String> time = jedis.time();
    return Long.parseLong(time.get(0)) * 1000 + Long.parseLong(time.get(1)) / 1000;
  }

  private Object onLock(String script, String holder) {
    return jedis.eval(Lua.read(script), List.of("lock:order"), List.of("30000", holder));
  }

  @Test
  void lockOf30SecondsWithAWatchdogEvery10() {
    assertNull(onLock("acquire_hset.lua", "uuid:1"));
    for (int i = 0; i < 6; i++) {
      advance("10s");
      assertEquals(20_000, jedis.pttl("lock:order"));
      assertEquals(1L, onLock("renew.lua", "uuid:1"));
    }
    assertEquals(30_000L, onLock("acquire_hset.lua", "uuid:2"));
    advance("29999ms");
    assertEquals(1L, onLock("acquire_hset.lua", "uuid:2"));
    advance("2ms");
    assertEquals(0L, onLock("renew.lua", "uuid:1"));
    assertNull(onLock("acquire_hset.lua", "uuid:2"));
  }

  @Test
  void delayedQueue() {
    double now = nowMs();
    jedis.zadd("delayed", Map.of("mail", now + 60_000, "report", now + HOUR_MS, "invoice", now + 60_000));
    assertEquals(List.of(), jedis.eval(TAKE_DUE, 1, "delayed"));
    advance("59999ms");
    assertEquals(List.of(), jedis.eval(TAKE_DUE, 1, "delayed"));
    advance("1ms");
    assertEquals(List.of("invoice", "mail"), jedis.eval(TAKE_DUE, 1, "delayed"));
    advance("59m");
    assertEquals(List.of("report"), jedis.eval(TAKE_DUE, 1, "delayed"));
    assertEquals(0, jedis.zcard("delayed"));
  }

  private List<StreamEntry> claim() {
    return jedis.xautoclaim("orders", "workers", "alive", HOUR_MS, new StreamEntryID(0, 0), new XAutoClaimParams()).getValue();
  }

  @Test
  void pendingEntriesAreClaimedAfterAnHour() {
    jedis.xgroupCreate("orders", "workers", new StreamEntryID(0, 0), true);
    StreamEntryID entry = jedis.xadd("orders", StreamEntryID.NEW_ENTRY, Map.of("item", "1"));
    assertEquals(new StreamEntryID(nowMs(), 0), entry);
    jedis.xreadGroup("workers", "dead", new XReadGroupParams(), Map.of("orders", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY));
    advance("59m");
    assertEquals(List.of(), claim());
    advance("1m");
    var pending = jedis.xpending("orders", "workers", XPendingParams.xPendingParams("-", "+", 10));
    assertEquals(HOUR_MS, pending.get(0).getIdleTime());
    List<StreamEntry> claimed = claim();
    assertEquals(1, claimed.size());
    assertEquals(entry, claimed.get(0).getID());
    assertEquals(Map.of("item", "1"), claimed.get(0).getFields());
    assertEquals(1, jedis.xack("orders", "workers", entry));
  }

  private long allowed(int calls) {
    List<Response<Object>> replies = new ArrayList<>();
    try (Pipeline pipeline = jedis.pipelined()) {
      for (int i = 0; i < calls; i++) replies.add(pipeline.eval(ALLOW, List.of("calls:alice"), List.of("100", "60")));
    }
    return replies.stream().filter(reply -> Long.valueOf(1).equals(reply.get())).count();
  }

  @Test
  void rateLimiterOf100AMinute() {
    assertEquals(40, allowed(40));
    advance("30s");
    assertEquals(60, allowed(70));
    advance("29999ms");
    assertEquals(0, allowed(1));
    advance("2ms");
    assertEquals(100, allowed(101));
  }

  @Test
  void sessionExpires30MinutesAfterItsLastUse() {
    jedis.setex("session:1", 1800, "alice");
    for (int i = 0; i < 3; i++) {
      advance("29m");
      assertEquals("alice", jedis.getEx("session:1", GetExParams.getExParams().ex(1800)));
    }
    advance("1799999ms");
    assertEquals("alice", jedis.get("session:1"));
    advance("2ms");
    assertNull(jedis.get("session:1"));
  }

  @Test
  void cacheWithJitterExpiresLittleByLittle() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    int[] jitters = new Random(seed).ints(200, 0, 60).toArray();
    try (Pipeline pipeline = jedis.pipelined()) {
      for (int i = 0; i < jitters.length; i++) pipeline.setex("cache:" + i, 600 + jitters[i], "value");
    }
    advance("599999ms");
    assertEquals(200, jedis.dbSize());
    advance("2ms");
    for (int second = 0; second < 60; second += 5) {
      int passed = second;
      assertEquals(Arrays.stream(jitters).filter(jitter -> jitter > passed).count(), jedis.dbSize());
      advance("5s");
    }
    assertTrue(jedis.keys("*").isEmpty());
  }
}
