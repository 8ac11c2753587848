package clients.jedissharded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisShardInfo;
import redis.clients.jedis.ShardedJedis;
import redis.clients.jedis.ShardedJedisPipeline;
import redis.clients.jedis.ShardedJedisPool;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Hashing;
import redis.clients.jedis.util.Sharded;

/** Three independent servers; the client distributes the keys by consistent hashing. */
class ShardedTest {
  private static final int KEYS = 300;
  private static final List<OwnServer> SERVERS = new ArrayList<>();
  private static final List<JedisShardInfo> SHARDS = new ArrayList<>();

  private ShardedJedis sharded;

  @BeforeAll
  static void startServers() {
    for (int i = 0; i < 3; i++) {
      OwnServer server = OwnServer.start("--requirepass", "secret");
      SERVERS.add(server);
      JedisShardInfo shard = new JedisShardInfo(server.host(), server.port(), "shard" + i);
      shard.setPassword("secret");
      SHARDS.add(shard);
    }
  }

  @AfterAll
  static void endServers() {
    SERVERS.forEach(OwnServer::close);
  }

  @BeforeEach
  void connect() {
    sharded = new ShardedJedis(SHARDS, Hashing.MURMUR_HASH, Sharded.DEFAULT_KEY_TAG_PATTERN);
    sharded.getAllShards().forEach(Jedis::flushAll);
  }

  @AfterEach
  void disconnect() {
    sharded.close();
  }

  @Test
  void everyServerGetsItsShareAndEveryKeyIsFoundAgain() {
    for (int i = 0; i < KEYS; i++) {
      sharded.set("key" + i, "value" + i);
    }
    long sum = 0;
    for (Jedis shard : sharded.getAllShards()) {
      long size = shard.dbSize();
      assertTrue(size > KEYS / 10, "a share of " + size);
      sum += size;
    }
    assertEquals(KEYS, sum);
    for (int i = 0; i < KEYS; i++) {
      assertEquals("value" + i, sharded.get("key" + i));
      assertEquals("value" + i, sharded.getShard("key" + i).get("key" + i));
    }
  }

  @Test
  void keyTagsKeepKeysTogether() {
    for (int i = 0; i < 20; i++) {
      assertSame(sharded.getShard("{user:1}"), sharded.getShard("{user:1}:field" + i));
    }
    sharded.sadd("{user}:a", "x", "y");
    sharded.sadd("{user}:b", "y", "z");
    assertEquals(Set.of("y"), sharded.getShard("{user}").sinter("{user}:a", "{user}:b"));
  }

  @Test
  void allTypes() {
    sharded.hset("hash", Map.of("field", "value"));
    sharded.rpush("list", "a", "b");
    sharded.zadd("rank", 1.5, "member");
    sharded.incrBy("count", 41);
    assertEquals(Map.of("field", "value"), sharded.hgetAll("hash"));
    assertEquals(List.of("a", "b"), sharded.lrange("list", 0, -1));
    assertEquals(1.5, sharded.zscore("rank", "member"));
    assertEquals(42, sharded.incr("count"));
    assertEquals(1, sharded.expire("count", 100));
    assertEquals(100, sharded.ttl("count"));
    assertEquals(1, sharded.del("count"));
    assertNull(sharded.get("count"));
  }

  @Test
  void pipelineGoesToAllServersAndRepliesComeInOrder() {
    ShardedJedisPipeline writes = sharded.pipelined();
    for (int i = 0; i < KEYS; i++) {
      writes.set("key" + i, "value" + i);
    }
    assertEquals(KEYS, writes.syncAndReturnAll().stream().filter("OK"::equals).count());
    ShardedJedisPipeline reads = sharded.pipelined();
    for (int i = 0; i < KEYS; i++) {
      reads.get("key" + i);
    }
    List<Object> values = reads.syncAndReturnAll();
    for (int i = 0; i < KEYS; i++) {
      assertEquals("value" + i, values.get(i));
    }
  }

  @Test
  void poolLendsAndTakesBack() {
    GenericObjectPoolConfig<ShardedJedis> config = new GenericObjectPoolConfig<>();
    config.setMaxTotal(2);
    config.setTestOnBorrow(true);
    try (ShardedJedisPool pool = new ShardedJedisPool(config, SHARDS)) {
      for (int i = 0; i < 50; i++) {
        try (ShardedJedis borrowed = pool.getResource()) {
          borrowed.incr("borrowed");
        }
      }
      try (ShardedJedis borrowed = pool.getResource()) {
        assertEquals("50", borrowed.get("borrowed"));
      }
    }
  }

  @Test
  void keysOfTheOtherServersStayWhileOneIsDown() {
    for (int i = 0; i < KEYS; i++) {
      sharded.set("key" + i, "value" + i);
    }
    OwnServer down = SERVERS.get(1);
    down.kill();
    int refused = 0;
    for (int i = 0; i < KEYS; i++) {
      String key = "key" + i;
      if (sharded.getShardInfo(key).getPort() == down.port()) {
        assertThrows(JedisConnectionException.class, () -> sharded.get(key));
        refused++;
      } else {
        assertEquals("value" + i, sharded.get(key));
      }
    }
    assertTrue(refused > 0);
    down.restart();
  }
}
