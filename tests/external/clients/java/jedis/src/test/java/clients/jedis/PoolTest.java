package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import clients.support.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/** JedisPool (connections borrowed and tested) and RedisClient (one object for all threads). */
class PoolTest extends OnSuiteServer {
  private static JedisPoolConfig eightTested() {
    JedisPoolConfig config = new JedisPoolConfig();
    config.setMaxTotal(8);
    config.setMaxWait(Duration.ofSeconds(10));
    config.setTestOnBorrow(true);
    return config;
  }

  @Test
  void aHundredThreadsShareEightConnections() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(100);
    try (JedisPool pool = new JedisPool(eightTested(), Servers.HOST, Servers.PORT)) {
      List<Future<Long>> results = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        results.add(threads.submit(() -> {
          try (Jedis borrowed = pool.getResource()) {
            return borrowed.incr("count");
          }
        }));
      }
      for (Future<Long> result : results) {
        result.get();
      }
      assertEquals("1000", jedis.get("count"));
      assertTrue(pool.getNumIdle() <= 8);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void shortConnectionsComeAndGo() {
    for (int i = 0; i < 300; i++) {
      try (Jedis once = another()) {
        once.incr("visits");
      }
    }
    assertEquals("300", jedis.get("visits"));
  }

  @Test
  void pooledObjectServesManyThreads() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try (RedisClient pooled = RedisClient.create(Servers.HOST, Servers.PORT)) {
      List<Future<Long>> results = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        String member = "member" + i;
        results.add(threads.submit(() -> pooled.sadd("members", member)));
      }
      for (Future<Long> result : results) {
        assertEquals(1, result.get());
      }
      assertEquals(500, pooled.scard("members"));
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void borrowTestNoticesThatTheServerWasStartedAgain() {
    try (OwnServer server = OwnServer.start();
        JedisPool pool = new JedisPool(eightTested(), server.host(), server.port())) {
      try (Jedis borrowed = pool.getResource()) {
        borrowed.set("key", "before");
      }
      server.kill();
      assertThrows(JedisException.class, pool::getResource);
      server.restart();
      try (Jedis borrowed = pool.getResource()) {
        assertEquals(null, borrowed.get("key"));
      }
    }
  }

  @Test
  void connectionBreaksWhenTheServerIsKilled() {
    try (OwnServer server = OwnServer.start(); Jedis client = new Jedis(server.host(), server.port())) {
      client.ping();
      server.kill();
      assertThrows(JedisConnectionException.class, client::ping);
    }
  }
}
