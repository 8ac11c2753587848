package clients.jedis;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import clients.support.OwnServer;
import clients.support.Servers;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.BuilderFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.csc.Cache;
import redis.clients.jedis.csc.DefaultCache;
import redis.clients.jedis.params.XAddParams;
import redis.clients.jedis.params.XReadParams;
import redis.clients.jedis.resps.Tuple;
import redis.clients.jedis.util.KeyValue;

/** The newer protocol: HELLO 3, typed replies, and client-side caching. */
class Resp3Test extends OnSuiteServer {
  private static final DefaultJedisClientConfig RESP3 = DefaultJedisClientConfig.builder().resp3().build();

  private final Jedis resp3 = new Jedis(ADDRESS, RESP3);

  @AfterEach
  void close() {
    resp3.close();
  }

  @Test
  void helloWithPasswordNameAndDatabase() {
    try (OwnServer server = OwnServer.start("--requirepass", "secret");
        Jedis client =
            new Jedis(
                new HostAndPort(server.host(), server.port()),
                DefaultJedisClientConfig.builder().resp3().user("default").password("secret").clientName("three")
                    .database(3).build())) {
      assertEquals("three", client.clientGetname());
      String info = client.clientInfo();
      assertTrue(info.contains(" db=3 ") && info.contains(" resp=3"), info);
    }
  }

  @Test
  void mapsSetsAndDoublesHaveTheirTypes() {
    resp3.hset("hash", "field", "value");
    assertEquals(Map.of("field", "value"), resp3.hgetAll("hash"));
    assertEquals(
        List.of(new KeyValue<>("field", "value")),
        decoded(resp3.sendCommand(Command.HGETALL, "hash")));
    resp3.sadd("set", "a", "b");
    assertEquals(Set.of("a", "b"), resp3.smembers("set"));
    resp3.zadd("zset", 1.5, "member");
    assertEquals(1.5, resp3.zscore("zset", "member"));
    assertEquals(List.of(new Tuple("member", 1.5)), resp3.zrangeWithScores("zset", 0, -1));
    assertNull(resp3.zscore("zset", "missing"));
    assertNull(resp3.get("missing"));
    assertNull(resp3.blpop(0.01, "missing"));
  }

  private static Object decoded(Object reply) {
    return BuilderFactory.ENCODED_OBJECT.build(reply);
  }

  @Test
  void streamsAreReadAsMaps() {
    resp3.xadd("stream", new XAddParams().id("1-1"), Map.of("field", "value"));
    var read =
        resp3.xread(
            new XReadParams().count(5),
            Map.of("stream", new StreamEntryID()));
    assertEquals("stream", read.get(0).getKey());
    assertEquals(Map.of("field", "value"), read.get(0).getValue().get(0).getFields());
  }

  @Test
  void scriptsAnswerInTheProtocolOfTheConnection() {
    assertEquals("ok", resp3.eval("return redis.status_reply('ok')"));
    assertNull(resp3.eval("return nil"));
    assertEquals(true, resp3.eval("redis.setresp(3); return true"));
    assertEquals(1L, jedis.eval("return true"));
  }

  @Test
  void clientSideCacheIsToldOfChanges() {
    // Jedis requires Redis 7.4 for its cache, unless it is told that the server behaves like 7.4, as earlier versions
    // do.
    Cache cache = new DefaultCache(100) {
      @Override
      public boolean compatibilityMode() {
        return true;
      }
    };
    try (RedisClient cached =
        RedisClient.builder().hostAndPort(ADDRESS).clientConfig(RESP3).cache(cache).build()) {
      jedis.set("key", "one");
      assertEquals("one", cached.get("key"));
      assertEquals("one", cached.get("key"));
      assertEquals(1, cached.getCache().getStats().getHitCount());

      jedis.set("key", "two");
      await("the new value is seen", () -> "two".equals(cached.get("key")));
      assertTrue(cached.getCache().getStats().getInvalidationCount() >= 1);
      assertEquals("two", cached.get("key"));

      jedis.flushAll();
      await("the flush is seen", () -> cached.get("key") == null);
    }
  }

  @Test
  void connectionIsTaggedWithTheLibrary() {
    assumeTrue(Servers.version() >= 70200, "CLIENT SETINFO came with 7.2");
    assertTrue(resp3.clientInfo().contains(" lib-name=jedis"), resp3.clientInfo());
  }
}
