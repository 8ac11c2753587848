package clients.jedis;

import static clients.support.Await.await;
import static clients.support.TestSentinels.NAME;
import static clients.support.TestSentinels.control;
import static clients.support.TestSentinels.primary;
import static clients.support.TestSentinels.replicas;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Failovers;
import clients.support.Servers;
import clients.support.TestSentinels;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.JedisSentinelPool;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** JedisSentinelPool, as the tutorials make it, and the SENTINEL commands of Jedis. */
class SentinelTest {
  private List<String> addresses;

  @BeforeEach
  void start() {
    addresses = TestSentinels.fresh();
  }

  private JedisSentinelPool pool() {
    return new JedisSentinelPool(NAME, Set.copyOf(addresses));
  }

  /** Tests a connection before it is used, because a server that becomes a replica closes all connections. */
  private JedisSentinelPool askingPool() {
    GenericObjectPoolConfig<Jedis> config = new GenericObjectPoolConfig<>();
    config.setTestOnBorrow(true);
    return new JedisSentinelPool(NAME, Set.copyOf(addresses), config);
  }

  private Jedis sentinel() {
    return new Jedis(HostAndPort.from(addresses.get(0)));
  }

  private static Jedis single(int port) {
    return new Jedis("127.0.0.1", port);
  }

  private static List<Integer> ports(List<Map<String, String>> servers) {
    return servers.stream().map(server -> Integer.parseInt(server.get("port"))).sorted().toList();
  }

  @Test
  void thePoolFindsThePrimary() {
    try (JedisSentinelPool pool = pool(); Jedis jedis = pool.getResource()) {
      assertEquals(new HostAndPort("127.0.0.1", primary()), pool.getCurrentHostMaster());
      assertEquals("master", jedis.role().get(0));
      assertEquals("OK", jedis.set("key", "value"));
      assertEquals("value", jedis.get("key"));
      assertEquals(2, jedis.waitReplicas(2, 10_000));
      for (int port : replicas()) {
        try (Jedis replica = single(port)) {
          assertEquals("value", replica.get("key"));
          JedisDataException error = assertThrows(JedisDataException.class, () -> replica.set("key", "other"));
          assertEquals("READONLY You can't write against a read only replica.", error.getMessage());
        }
      }
    }
  }

  @Test
  void transactionsThroughThePool() {
    try (JedisSentinelPool pool = pool(); Jedis jedis = pool.getResource(); Transaction transaction = jedis.multi()) {
      Response<Long> first = transaction.incr("n");
      transaction.incr("n");
      assertEquals(List.of(1L, 2L), transaction.exec());
      assertEquals(1, first.get());
    }
  }

  @Test
  void anUnknownName() {
    JedisException error = assertThrows(JedisException.class, () -> new JedisSentinelPool("nobody", Set.copyOf(addresses)).close());
    assertEquals("Can connect to sentinel, but nobody seems to be not monitored...", error.getMessage());
  }

  @Test
  void noSentinelAnswers() throws IOException {
    Set<String> nowhere = Set.of("127.0.0.1:" + Servers.freePort());
    JedisConnectionException error =
        assertThrows(JedisConnectionException.class, () -> new JedisSentinelPool(NAME, nowhere).close());
    assertTrue(error.getMessage().startsWith("All sentinels down"), error.getMessage());
  }

  @Test
  void theSentinelsTell() {
    try (Jedis sentinel = sentinel()) {
      assertEquals(List.of("127.0.0.1", "" + primary()), sentinel.sentinelGetMasterAddrByName(NAME));
      assertEquals(null, sentinel.sentinelGetMasterAddrByName("nobody"));
      assertEquals(List.of(primary()), ports(sentinel.sentinelMasters()));
      assertEquals(replicas(), ports(sentinel.sentinelReplicas(NAME)));
      Map<String, String> told = sentinel.sentinelMaster(NAME);
      assertEquals(List.of(NAME, "master", "2", "2", "2"), List.of(told.get("name"), told.get("flags"),
          told.get("num-slaves"), told.get("num-other-sentinels"), told.get("quorum")));
      List<Integer> others = addresses.stream().skip(1).map(address -> HostAndPort.from(address).getPort()).sorted().toList();
      assertEquals(others, ports(sentinel.sentinelSentinels(NAME)));
      JedisDataException error = assertThrows(JedisDataException.class, () -> sentinel.sentinelMaster("nobody"));
      assertEquals("ERR No such master with that name", error.getMessage());
    }
  }

  @Test
  void aSentinelIsToldAboutAnotherPrimary() {
    try (Jedis sentinel = sentinel()) {
      assertEquals("OK", sentinel.sentinelMonitor("other", "127.0.0.1", primary(), 1));
      assertEquals("OK", sentinel.sentinelSet("other", Map.of("down-after-milliseconds", "4000")));
      assertEquals("4000", sentinel.sentinelMaster("other").get("down-after-milliseconds"));
      assertEquals("OK", sentinel.sentinelRemove("other"));
      assertEquals(null, sentinel.sentinelGetMasterAddrByName("other"));
    }
  }

  /** The events that the pool itself subscribes to. */
  @Test
  void theSentinelsSayThatThePrimaryChanged() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    JedisPubSub listener = new JedisPubSub() {
      @Override
      public void onMessage(String channel, String message) {
        heard.add(message);
      }
    };
    int old = primary();
    try (Jedis sentinel = sentinel()) {
      Thread thread = new Thread(() -> sentinel.subscribe(listener, "+switch-master"));
      thread.start();
      await("subscribed", listener::isSubscribed);
      String port = control("failover");
      assertEquals(NAME + " 127.0.0.1 " + old + " 127.0.0.1 " + port, heard.poll(20, TimeUnit.SECONDS));
      listener.unsubscribe();
      thread.join();
    }
  }

  @Test
  @Tag("all")
  void aFailoverByHandUnderLoad() {
    try (JedisSentinelPool pool = askingPool()) {
      Failovers.byHandUnderLoad(client(pool));
      assertEquals(primary(), pool.getCurrentHostMaster().getPort());
    }
  }

  @Test
  void aPrimaryDiesUnderLoad() {
    try (JedisSentinelPool pool = askingPool()) {
      Failovers.primaryDiesUnderLoad(client(pool));
      assertEquals(primary(), pool.getCurrentHostMaster().getPort());
    }
  }

  @Test
  @Tag("all")
  void whatBothReplicasHaveSurvives() {
    try (JedisSentinelPool pool = askingPool()) {
      Failovers.whatBothReplicasHaveSurvives(key -> {
        try (Jedis jedis = pool.getResource()) {
          jedis.incr(key);
          if (jedis.waitReplicas(2, 500) < 2) {
            throw new JedisException("not at both replicas");
          }
        }
      }, client(pool)::get);
    }
  }

  private static Failovers.Client client(JedisSentinelPool pool) {
    return new Failovers.Client() {
      @Override
      public void set(String key, String value) {
        try (Jedis jedis = pool.getResource()) {
          jedis.set(key, value);
        }
      }

      @Override
      public String get(String key) {
        try (Jedis jedis = pool.getResource()) {
          return jedis.get(key);
        }
      }

      @Override
      public void increment(String key) {
        try (Jedis jedis = pool.getResource()) {
          jedis.incr(key);
        }
      }
    };
  }
}
