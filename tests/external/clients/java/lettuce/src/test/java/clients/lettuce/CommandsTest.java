package clients.lettuce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.Consumer;
import io.lettuce.core.GeoArgs;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XAddArgs;
import io.lettuce.core.XGroupCreateArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The synchronous commands over RESP2 and over RESP3: the caller gets the same results. */
class CommandsTest extends OnSuiteServer {
  private void speak(ProtocolVersion protocol) {
    connection.close();
    client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
    connection = client.connect();
    redis = connection.sync();
  }

  @ParameterizedTest
  @EnumSource
  void stringsAndExpiry(ProtocolVersion protocol) {
    speak(protocol);
    assertNull(redis.get("missing"));
    assertEquals("OK", redis.set("name", "虎哥"));
    assertEquals("虎哥", redis.get("name"));
    assertEquals("OK", redis.set("lock", "me", SetArgs.Builder.nx().px(30_000)));
    assertNull(redis.set("lock", "you", SetArgs.Builder.nx().px(30_000)));
    assertTrue(redis.pttl("lock") > 20_000);
    assertEquals(42, redis.incrby("count", 42));
    assertEquals(42.5, redis.incrbyfloat("count", 0.5));
    redis.mset(Map.of("k1", "v1", "k2", "v2"));
    assertEquals(
        List.of(KeyValue.just("k1", "v1"), KeyValue.empty("missing"), KeyValue.just("k2", "v2")),
        redis.mget("k1", "missing", "k2"));
    assertTrue(redis.expire("k1", 100));
    assertEquals(100, redis.ttl("k1"));
    assertFalse(redis.expire("missing", 100));
    assertEquals("v1", redis.getdel("k1"));
    assertEquals(0, redis.exists("k1"));
    assertEquals("string", redis.type("k2"));
  }

  @ParameterizedTest
  @EnumSource
  void hashesListsSets(ProtocolVersion protocol) {
    speak(protocol);
    assertEquals(2, redis.hset("user:1", Map.of("name", "Jack", "age", "21")));
    assertEquals(Map.of("name", "Jack", "age", "21"), redis.hgetall("user:1"));
    assertEquals(22, redis.hincrby("user:1", "age", 1));
    assertEquals(Set.of("name", "age"), Set.copyOf(redis.hkeys("user:1")));
    assertTrue(redis.hgetall("missing").isEmpty());
    assertEquals(3, redis.rpush("list", "a", "b", "c"));
    assertEquals(KeyValue.just("list", "a"), redis.blpop(1, "list"));
    assertNull(redis.blpop(0.01, "empty"));
    assertEquals(List.of("b", "c"), redis.lpop("list", 5));
    assertEquals(2, redis.sadd("set", "x", "y"));
    assertEquals(Set.of("x", "y"), redis.smembers("set"));
    assertEquals(List.of(true, false), redis.smismember("set", "x", "z"));
    assertTrue(redis.sismember("set", "y"));
  }

  @ParameterizedTest
  @EnumSource
  void sortedSetsAndPlaces(ProtocolVersion protocol) {
    speak(protocol);
    redis.zadd("rank", ScoredValue.just(800, "Jerry"), ScoredValue.just(500.25, "Tom"), ScoredValue.just(700, "Mike"));
    assertEquals(
        List.of(ScoredValue.just(800, "Jerry"), ScoredValue.just(700, "Mike")),
        redis.zrevrangeWithScores("rank", 0, 1));
    assertEquals(500.25, redis.zscore("rank", "Tom"));
    assertNull(redis.zscore("rank", "missing"));
    assertNull(redis.zrank("rank", "missing"));
    assertEquals(List.of("Tom"), redis.zrangebyscore("rank", Range.create(0, 600), Limit.from(5)));
    assertEquals(ScoredValue.just(500.25, "Tom"), redis.zpopmin("rank"));
    assertEquals(KeyValue.just("rank", ScoredValue.just(800, "Jerry")), redis.bzpopmax(1, "rank"));
    assertEquals(701.5, redis.zaddincr("rank", 1.5, "Mike"));

    redis.geoadd("shops", 116.397128, 39.916527, "palace");
    redis.geoadd("shops", 116.410886, 39.881949, "temple");
    assertEquals(4.02, redis.geodist("shops", "palace", "temple", GeoArgs.Unit.km), 0.02);
    assertEquals(
        Set.of("palace", "temple"), redis.georadius("shops", 116.4, 39.9, 10, GeoArgs.Unit.km));
  }

  @ParameterizedTest
  @EnumSource
  void streamsAndGroups(ProtocolVersion protocol) {
    speak(protocol);
    redis.xgroupCreate(StreamOffset.from("orders", "0"), "group", XGroupCreateArgs.Builder.mkstream());
    String first = redis.xadd("orders", Map.of("id", "1"));
    String second = redis.xadd("orders", new XAddArgs().maxlen(100), Map.of("id", "2"));
    assertEquals(2, redis.xlen("orders"));
    List<StreamMessage<String, String>> got =
        redis.xreadgroup(Consumer.from("group", "c1"), XReadArgs.Builder.count(1), StreamOffset.lastConsumed("orders"));
    assertEquals(first, got.get(0).getId());
    assertEquals(Map.of("id", "1"), got.get(0).getBody());
    assertEquals(1, redis.xpending("orders", "group").getCount());
    assertEquals(1, redis.xack("orders", "group", first));
    assertEquals(second, redis.xread(StreamOffset.from("orders", first)).get(0).getId());
    assertTrue(redis.xread(XReadArgs.Builder.block(10), StreamOffset.latest("orders")).isEmpty());
    List<Object> group = redis.xinfoGroups("orders");
    assertEquals(1, group.size());
    assertEquals(
        List.of("name", "group", "consumers", 1L, "pending", 0L), ((List<?>) group.get(0)).subList(0, 6));
  }

  @ParameterizedTest
  @EnumSource
  void scriptsAndErrors(ProtocolVersion protocol) {
    speak(protocol);
    redis.scriptFlush();
    String script = "return {KEYS[1], ARGV[1], 3, redis.call('get', KEYS[1])}";
    String sha = redis.digest(script);
    assertEquals(
        "NOSCRIPT No matching script. Please use EVAL.",
        assertThrows(
                RedisNoScriptException.class, () -> redis.evalsha(sha, ScriptOutputType.MULTI, new String[] {"key"}))
            .getMessage());
    assertEquals(sha, redis.scriptLoad(script));
    redis.set("key", "value");
    assertEquals(
        List.of("key", "arg", 3L, "value"),
        redis.evalsha(sha, ScriptOutputType.MULTI, new String[] {"key"}, "arg"));
    assertEquals(true, redis.eval("return 1", ScriptOutputType.BOOLEAN));
    assertEquals("fine", redis.eval("return redis.status_reply('fine')", ScriptOutputType.STATUS));
    assertNull(redis.eval("return nil", ScriptOutputType.VALUE));
    assertEquals(
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        assertThrows(RedisCommandExecutionException.class, () -> redis.lpush("key", "x")).getMessage());
  }

  @ParameterizedTest
  @EnumSource
  void scanAndKeys(ProtocolVersion protocol) {
    speak(protocol);
    for (int i = 0; i < 300; i++) {
      redis.set("scan:" + i, "");
    }
    Set<String> seen = new HashSet<>();
    KeyScanCursor<String> cursor = redis.scan(ScanArgs.Builder.matches("scan:*").limit(40));
    seen.addAll(cursor.getKeys());
    while (!cursor.isFinished()) {
      cursor = redis.scan(cursor, ScanArgs.Builder.matches("scan:*").limit(40));
      seen.addAll(cursor.getKeys());
    }
    assertEquals(300, seen.size());
    assertEquals(11, redis.keys("scan:1?").size() + redis.keys("scan:1").size());
  }

  @ParameterizedTest
  @EnumSource
  void bytesComeBackAsTheyWere(ProtocolVersion protocol) {
    speak(protocol);
    byte[] every = new byte[256];
    for (int i = 0; i < every.length; i++) {
      every[i] = (byte) i;
    }
    try (StatefulRedisConnection<byte[], byte[]> bytes = client.connect(ByteArrayCodec.INSTANCE)) {
      bytes.sync().set(every, every);
      assertArrayEquals(every, bytes.sync().get(every));
    }
  }

  @ParameterizedTest
  @EnumSource
  void serverCommands(ProtocolVersion protocol) {
    speak(protocol);
    assertEquals("PONG", redis.ping());
    assertTrue(redis.info("server").contains("redis_version:"));
    assertEquals(Map.of("appendonly", "no"), redis.configGet("appendonly"));
    assertTrue(redis.commandCount() > 200);
    assertTrue(redis.clientInfo().contains(" resp=" + (protocol == ProtocolVersion.RESP3 ? 3 : 2)));
    redis.set("key", "v");
    assertEquals("OK", redis.restore("copy", 0, redis.dump("key")));
    assertEquals("v", redis.get("copy"));
  }
}
