package clients.jedis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static redis.clients.jedis.resps.StreamEntryDeletionResult.DELETED;
import static redis.clients.jedis.resps.StreamEntryDeletionResult.NOT_DELETED_UNACKNOWLEDGED_OR_STILL_REFERENCED;
import static redis.clients.jedis.resps.StreamEntryDeletionResult.NOT_FOUND;

import clients.support.OwnServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HashImport;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.args.HotkeysMetric;
import redis.clients.jedis.args.ListDirection;
import redis.clients.jedis.args.ListMoveOrder;
import redis.clients.jedis.args.StreamDeletionPolicy;
import redis.clients.jedis.args.XNackMode;
import redis.clients.jedis.params.HotkeysParams;
import redis.clients.jedis.params.IncrexFloatParams;
import redis.clients.jedis.params.IncrexParams;
import redis.clients.jedis.params.LMoveMParams;
import redis.clients.jedis.params.MSetExParams;
import redis.clients.jedis.params.SUnionCardParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.XAddParams;
import redis.clients.jedis.params.XCfgSetParams;
import redis.clients.jedis.params.XReadGroupParams;
import redis.clients.jedis.resps.HotkeysInfo;
import redis.clients.jedis.resps.StreamEntry;
import redis.clients.jedis.util.CompareCondition;

/** Commands of Redis 8.2 to 8.10, against a server that emulates 8.10, or a real one. */
class NewestTest {
  private static OwnServer server;
  private static boolean isNew;

  @BeforeAll
  static void startServer() throws IOException {
    Process help = new ProcessBuilder(System.getenv("REDIS_SERVER"), "--help").redirectErrorStream(true).start();
    String usage = new String(help.getInputStream().readAllBytes(), UTF_8);
    server = usage.contains("--test ") ? OwnServer.start("--emulate", "redis:8.10") : OwnServer.start();
    try (RedisClient jedis = connect(RedisProtocol.RESP2)) {
      isNew = jedis.info("server").matches("(?s).*redis_version:8\\.[1-9]\\d\\..*");
    }
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static RedisClient connect(RedisProtocol protocol) {
    return RedisClient.builder()
        .hostAndPort(server.host(), server.port())
        .clientConfig(DefaultJedisClientConfig.builder().protocol(protocol).build())
        .build();
  }

  /** Returns a client of an empty server; skips the test if a real server is older than 8.10. */
  private static RedisClient fresh(RedisProtocol protocol) {
    assumeTrue(isNew, "this server is older than Redis 8.10");
    RedisClient jedis = connect(protocol);
    jedis.flushAll();
    return jedis;
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void setComparesBeforeItWrites(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      jedis.set("key", "one");
      assertNull(jedis.set("key", "two", new SetParams().condition(CompareCondition.valueEq("other"))));
      assertEquals("OK", jedis.set("key", "two", new SetParams().condition(CompareCondition.valueEq("one"))));
      assertNull(jedis.set("key", "three", new SetParams().condition(CompareCondition.valueNe("two"))));
      assertEquals("OK", jedis.set("key", "three", new SetParams().condition(CompareCondition.valueNe("one")).ex(100)));
      assertEquals(100, jedis.ttl("key"));
      String digest = jedis.digestKey("key");
      assertEquals(16, digest.length());
      assertNull(jedis.set("key", "four", new SetParams().condition(CompareCondition.digestNe(digest))));
      assertEquals("three", jedis.setGet("key", "four", new SetParams().condition(CompareCondition.digestEq(digest))));
      assertNull(jedis.digestKey("absent"));
    }
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void delexComparesBeforeItDeletes(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      jedis.set("key", "value");
      assertEquals(0, jedis.delex("key", CompareCondition.valueEq("other")));
      assertEquals(0, jedis.delex("key", CompareCondition.valueNe("value")));
      assertEquals(0, jedis.delex("key", CompareCondition.digestNe(jedis.digestKey("key"))));
      assertEquals(1, jedis.delex("key", CompareCondition.digestEq(jedis.digestKey("key"))));
      assertEquals(0, jedis.delex("key", CompareCondition.valueEq("value")));
    }
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void msetexSetsAllKeysOrNone(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      assertTrue(jedis.msetex(new MSetExParams().ex(100), "a", "1", "b", "2"));
      assertEquals(100, jedis.ttl("b"));
      assertEquals(false, jedis.msetex(new MSetExParams().nx(), "b", "3", "c", "4"));
      assertNull(jedis.get("c"));
      assertTrue(jedis.msetex(new MSetExParams().xx().keepTtl(), "a", "5", "b", "6"));
      assertEquals(100, jedis.ttl("a"));
    }
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void increxStaysInItsBounds(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      assertEquals(List.of(1L, 1L), jedis.increx("n"));
      assertEquals(List.of(6L, 5L), jedis.increx("n", 5, new IncrexParams().ubound(10)));
      assertEquals(List.of(10L, 4L), jedis.increx("n", 5, new IncrexParams().ubound(10).saturate()));
      assertEquals(List.of(10L, 0L), jedis.increx("n", 5, new IncrexParams().ubound(10)));
      assertEquals(List.of(9L, -1L), jedis.increx("n", -1, new IncrexParams().lbound(0).ex(100)));
      jedis.increx("n", 1, new IncrexParams().ex(500).enx());
      assertEquals(100, jedis.ttl("n"));
      assertEquals(List.of(1.5, 1.5), jedis.increx("f", 1.5, new IncrexFloatParams()));
    }
  }

  private static long pending(RedisClient jedis) {
    return jedis.xpending("s", "g").getTotal();
  }

  private static void readAll(RedisClient jedis, String consumer) {
    jedis.xreadGroup("g", consumer, new XReadGroupParams(), Map.of("s", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY));
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void streamEntriesAreDeletedWithTheirReferences(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      jedis.xgroupCreate("s", "g", StreamEntryID.XGROUP_LAST_ENTRY, true);
      StreamEntryID[] ids = new StreamEntryID[4];
      for (int n = 0; n < ids.length; n++) {
        ids[n] = jedis.xadd("s", StreamEntryID.NEW_ENTRY, Map.of("n", "" + n));
      }
      readAll(jedis, "c");
      assertEquals(List.of(DELETED, NOT_FOUND),
          jedis.xdelex("s", StreamDeletionPolicy.KEEP_REFERENCES, ids[0], new StreamEntryID(9, 9)));
      assertEquals(4, pending(jedis));
      assertEquals(List.of(DELETED), jedis.xdelex("s", StreamDeletionPolicy.DELETE_REFERENCES, ids[1]));
      assertEquals(List.of(NOT_DELETED_UNACKNOWLEDGED_OR_STILL_REFERENCED),
          jedis.xdelex("s", StreamDeletionPolicy.ACKNOWLEDGED, ids[2]));
      assertEquals(List.of(DELETED, DELETED),
          jedis.xackdel("s", "g", StreamDeletionPolicy.DELETE_REFERENCES, ids[2], ids[3]));
      assertEquals(1, pending(jedis));
      assertEquals(0, jedis.xlen("s"));
    }
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void xaddIsIdempotentAndTrimsWithReferences(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      Map<String, String> fields = Map.of("n", "1");
      StreamEntryID first = jedis.xadd("s", fields, new XAddParams().idmp("producer", "1"));
      assertEquals(first, jedis.xadd("s", fields, new XAddParams().idmp("producer", "1")));
      StreamEntryID second = jedis.xadd("s", fields, new XAddParams().idmpAuto("producer"));
      assertEquals(second, jedis.xadd("s", fields, new XAddParams().idmpAuto("producer")));
      assertEquals(2, jedis.xlen("s"));
      jedis.xcfgset("s", new XCfgSetParams().idmpDuration(60).idmpMaxsize(10));
      jedis.xgroupCreate("s", "g", new StreamEntryID(0, 0), false);
      readAll(jedis, "c");
      jedis.xadd("s", fields,
          new XAddParams().maxLen(2).exactTrimming().trimmingMode(StreamDeletionPolicy.KEEP_REFERENCES));
      assertEquals(2, pending(jedis));
      jedis.xadd("s", fields,
          new XAddParams().maxLen(1).exactTrimming().trimmingMode(StreamDeletionPolicy.DELETE_REFERENCES));
      assertEquals(1, pending(jedis));
    }
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void aConsumerClaimsIdleEntriesWithNewOnes(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      jedis.xgroupCreate("s", "g", StreamEntryID.XGROUP_LAST_ENTRY, true);
      StreamEntryID first = jedis.xadd("s", StreamEntryID.NEW_ENTRY, Map.of("n", "1"));
      readAll(jedis, "dies");
      StreamEntryID second = jedis.xadd("s", StreamEntryID.NEW_ENTRY, Map.of("n", "2"));
      List<StreamEntry> read = jedis.xreadGroup("g", "lives", new XReadGroupParams().claim(0),
          Map.of("s", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY)).get(0).getValue();
      assertEquals(List.of(first, second), read.stream().map(StreamEntry::getID).toList());
      assertEquals(1, read.get(0).getDeliveredCount());
      assertEquals(List.of(true, false), read.stream().map(StreamEntry::isClaimed).toList());
      assertEquals(2, jedis.xnack("s", "g", XNackMode.FAIL, first, second));
    }
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void hotKeys(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol)) {
      assertEquals("OK",
          jedis.hotkeysStart(new HotkeysParams().metrics(HotkeysMetric.CPU, HotkeysMetric.NET).count(10)));
      for (int n = 0; n < 50; n++) {
        jedis.set("hot", "x".repeat(100));
      }
      jedis.hotkeysStop();
      HotkeysInfo report = jedis.hotkeysGet();
      assertEquals(false, report.isTrackingActive());
      assertTrue(report.getByNetBytes().get("hot") > 5000);
      assertTrue(report.getByCpuTimeUs().containsKey("hot"));
      assertEquals("OK", jedis.hotkeysReset());
    }
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void listsSetsAndHashes(RedisProtocol protocol) {
    try (RedisClient jedis = fresh(protocol); HashImport people = HashImport.of("name", "age")) {
      jedis.rpush("from", "a", "b", "c", "d");
      assertEquals(List.of("a", "b", "c"), jedis.lmovem("from", "to", ListDirection.LEFT, ListDirection.RIGHT,
          new LMoveMParams().count(3, ListMoveOrder.values()[0])));
      assertNull(jedis.lmovem("from", "to", ListDirection.LEFT, ListDirection.RIGHT,
          new LMoveMParams().exactly(2, ListMoveOrder.values()[0])));
      jedis.sadd("s", "a", "b", "c");
      jedis.sadd("t", "c", "d");
      assertEquals(4, jedis.sunioncard("s", "t"));
      assertEquals(3, jedis.sunioncard("s", "t", new SUnionCardParams().limit(3)));
      jedis.himportSet("ann", people, "Ann", "30");
      assertEquals(Map.of("name", "Ann", "age", "30"), jedis.hgetAll("ann"));
    }
  }
}
