package clients.jedis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import clients.support.OwnServer;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.XAutoClaimParams;
import redis.clients.jedis.params.XReadGroupParams;

/** The features of a test server: time that the test moves, snapshots, worlds. No test sleeps. */
class TestServerTest {
  private static final long HOUR_MS = 3_600_000;
  private static final String RENEW =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], 30000) end return 0";

  private static OwnServer server;
  private static Jedis jedis;

  @BeforeAll
  static void startServer() throws IOException {
    Process help = new ProcessBuilder(System.getenv("REDIS_SERVER"), "--help").redirectErrorStream(true).start();
    String usage = new String(help.getInputStream().readAllBytes(), UTF_8);
    assumeTrue(usage.contains("--test "), "this server has no TEST");
    server = OwnServer.start("--test-commands", "local");
    jedis = new Jedis(server.host(), server.port());
  }

  @AfterAll
  static void stopServer() {
    if (server != null) {
      jedis.close();
      server.close();
    }
  }

  @BeforeEach
  void freeze() {
    test("RESET", "DATA", "CONFIG", "SNAPSHOTS");
    test("CLOCK", "FREEZE", "1700000000000");
  }

  private static Object test(String... words) {
    return jedis.sendCommand(() -> "TEST".getBytes(UTF_8), words);
  }

  private static void advance(String duration) {
    test("CLOCK", "ADVANCE", duration);
  }

  private static boolean take(String owner) {
    return jedis.set("lock", owner, SetParams.setParams().nx().px(30_000)) != null;
  }

  private static boolean renew(String owner) {
    return jedis.eval(RENEW, List.of("lock"), List.of(owner)).equals(1L);
  }

  @Test
  void aWatchdogKeepsALock() {
    assertTrue(take("ann"));
    for (int tick = 0; tick < 6; tick++) {
      advance("10s");
      assertTrue(renew("ann"));
      assertFalse(take("bob"));
    }
    advance("30s");
    assertTrue(take("bob"));
    assertFalse(renew("ann"));
  }

  @Test
  void aDelayedQueueDeliversInTime() {
    jedis.zadd("delayed", Long.parseLong(jedis.time().get(0)) + 3600, "mail");
    assertEquals(List.of(), jedis.zrangeByScore("delayed", "-inf", jedis.time().get(0)));
    advance("1h");
    assertEquals(List.of("mail"), jedis.zrangeByScore("delayed", "-inf", jedis.time().get(0)));
  }

  private static List<StreamEntryID> claim() {
    var how = XAutoClaimParams.xAutoClaimParams();
    return jedis.xautoclaim("orders", "workers", "lives", HOUR_MS, new StreamEntryID(0, 0), how).getValue().stream()
        .map(entry -> entry.getID())
        .toList();
  }

  @Test
  void pendingEntriesAreClaimedAfterAnHour() {
    jedis.xgroupCreate("orders", "workers", new StreamEntryID(0, 0), true);
    StreamEntryID id = jedis.xadd("orders", StreamEntryID.NEW_ENTRY, Map.of("n", "1"));
    jedis.xreadGroup(
        "workers",
        "dies",
        XReadGroupParams.xReadGroupParams(),
        Map.of("orders", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY));
    advance("59m");
    assertEquals(List.of(), claim());
    advance("1m");
    assertEquals(List.of(id), claim());
  }

  private static boolean isAllowed() {
    long count = jedis.incr("rate");
    if (count == 1) {
      jedis.expire("rate", 60);
    }
    return count <= 100;
  }

  @Test
  void aRateLimiterAllowsAHundredAMinute() {
    assertEquals(100, IntStream.range(0, 150).filter(n -> isAllowed()).count());
    advance("59s");
    assertFalse(isAllowed());
    advance("1s");
    assertEquals(100, IntStream.range(0, 150).filter(n -> isAllowed()).count());
  }

  @Test
  void aSessionAndACacheExpire() {
    jedis.setex("session", 1800, "ann");
    jedis.setex("page", 67, "html");
    advance("67s");
    assertEquals(1, jedis.exists("session", "page"));
    advance("30m");
    assertNull(jedis.get("session"));
  }

  @Test
  void eachTestBeginsWithTheSameData() {
    jedis.set("stock:1", "100");
    test("SNAPSHOT", "SAVE", "shop");
    for (int number = 0; number < 20; number++) {
      test("SNAPSHOT", "RESTORE", "shop");
      assertEquals("100", jedis.get("stock:1"));
      jedis.flushAll();
    }
  }

  @Test
  void workersShareAServerButNoData() {
    for (int worker = 0; worker < 4; worker++) {
      URI url = URI.create(server.address().replace("://", "://world.w" + worker + ":any@"));
      try (Jedis own = new Jedis(url)) {
        assertEquals(0, own.dbSize());
        own.set("worker", "w" + worker);
        assertEquals("w" + worker, own.get("worker"));
      }
    }
    assertEquals(0, jedis.dbSize());
  }
}
