package clients.jedis;

import static clients.support.Await.await;
import static clients.support.TestCluster.control;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Load;
import clients.support.TestCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.ClusterPipeline;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.JedisShardedPubSub;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisClusterOperationException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisMovedDataException;
import redis.clients.jedis.util.JedisClusterCRC16;

/** JedisCluster: routing, slots that move, failovers, pub/sub, transactions and scripts. */
class ClusterTest {
  private static final String SWAP =
      "redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])";

  private JedisCluster cluster;

  @BeforeEach
  void connect() {
    control("fresh");
    connect(RedisProtocol.RESP3);
  }

  private void connect(RedisProtocol protocol) {
    if (cluster != null) {
      cluster.close();
    }
    Set<HostAndPort> nodes = TestCluster.addresses().stream().map(HostAndPort::from).collect(Collectors.toSet());
    GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
    pool.setMaxTotal(16);
    cluster = new JedisCluster(nodes, DefaultJedisClientConfig.builder().protocol(protocol).build(), 20,
        Duration.ofSeconds(20), pool);
  }

  @AfterEach
  void disconnect() {
    cluster.close();
  }

  private static Jedis single(int port) {
    return new Jedis("127.0.0.1", port);
  }

  private static List<String> keys(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void keysGoToTheirNodes(RedisProtocol protocol) {
    connect(protocol);
    List<String> keys = keys("key:", 300);
    keys.forEach(key -> cluster.set(key, key));
    keys.forEach(key -> assertEquals(key, cluster.get(key)));
    assertEquals(6, cluster.getClusterNodes().size());
    List<Long> sizes = new ArrayList<>();
    for (ConnectionPool pool : cluster.getClusterNodes().values()) {
      try (Jedis node = new Jedis(pool.getResource())) {
        if (node.info("replication").contains("role:master")) {
          sizes.add(node.dbSize());
        }
      }
    }
    assertEquals(3, sizes.size());
    assertTrue(sizes.stream().allMatch(size -> size > 0));
    assertEquals(300, sizes.stream().mapToLong(Long::longValue).sum());
  }

  @Test
  void severalKeysNeedOneSlot() {
    assertEquals("OK", cluster.mset("{u}a", "1", "{u}b", "2"));
    assertEquals(Arrays.asList("1", "2", null), cluster.mget("{u}a", "{u}b", "{u}c"));
    assertThrows(JedisClusterOperationException.class, () -> cluster.sinter("a", "b"));
    try (Jedis node = single(TestCluster.owner("a"))) {
      JedisDataException error = assertThrows(JedisDataException.class, () -> node.mget("a", "b"));
      assertEquals("CROSSSLOT Keys in request don't hash to the same slot", error.getMessage());
    }
  }

  @Test
  void aPipelineOverAllNodes() {
    List<Response<Long>> replies = new ArrayList<>();
    try (ClusterPipeline pipeline = cluster.pipelined()) {
      keys("p", 200).forEach(key -> replies.add(pipeline.incrBy(key, key.length())));
    }
    assertEquals(keys("p", 200).stream().map(key -> (long) key.length()).toList(),
        replies.stream().map(Response::get).toList());
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void transactionsWithHashTags(RedisProtocol protocol) {
    connect(protocol);
    // JedisCluster has no transactions; they need the connection of a slot.
    try (Connection connection = cluster.getConnectionFromSlot(JedisClusterCRC16.getSlot("{t}a"));
        Transaction transaction = new Transaction(connection)) {
      transaction.set("{t}a", "1");
      Response<Long> incremented = transaction.incr("{t}a");
      assertEquals(List.of("OK", 2L), transaction.exec());
      assertEquals(2, incremented.get());
    }
    try (Connection connection = cluster.getConnectionFromSlot(JedisClusterCRC16.getSlot("{t}a"));
        Transaction transaction = new Transaction(connection, false)) {
      transaction.watch("{t}a");
      cluster.set("{t}a", "9");
      transaction.multi();
      transaction.set("{t}a", "10");
      assertEquals(null, transaction.exec());
    }
    assertEquals("9", cluster.get("{t}a"));
  }

  @Test
  void scriptsWithHashTags() {
    for (String tag : List.of("a", "b", "c")) {
      cluster.set("{" + tag + "}1", tag);
      String sha = cluster.scriptLoad(SWAP, "{" + tag + "}");
      assertEquals(tag, cluster.evalsha(sha, 2, "{" + tag + "}1", "{" + tag + "}2"));
    }
    JedisDataException error =
        assertThrows(JedisDataException.class, () -> cluster.eval("return redis.call('GET', 'b')", 1, "a"));
    assertTrue(error.getMessage().contains("Script attempted to access a non local key in a cluster node"), error.getMessage());
    cluster.functionLoad(
        "#!lua name=lib\nredis.register_function('put', function(k, a) return redis.call('SET', k[1], a[1]) end)");
    keys("f", 20).forEach(key -> assertEquals("OK", cluster.fcall("put", List.of(key), List.of(key))));
    assertEquals("f7", cluster.get("f7"));
  }

  @Test
  void messagesReachEveryNode() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    JedisPubSub listener = new JedisPubSub() {
      @Override
      public void onMessage(String channel, String message) {
        heard.add(message);
      }
    };
    Thread thread = new Thread(() -> cluster.subscribe(listener, "news"));
    thread.start();
    await("subscribed", listener::isSubscribed);
    for (int port : TestCluster.ports()) {
      try (Jedis node = single(port)) {
        node.publish("news", "" + port);
      }
      assertEquals("" + port, heard.poll(10, TimeUnit.SECONDS));
    }
    listener.unsubscribe();
    thread.join();
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void shardedMessages(RedisProtocol protocol) throws InterruptedException {
    connect(protocol);
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    JedisShardedPubSub listener = new JedisShardedPubSub() {
      @Override
      public void onSMessage(String channel, String message) {
        heard.add(channel + " " + message);
      }

      @Override
      public void onSUnsubscribe(String channel, int subscribed) {
        heard.add("ended");
      }
    };
    Thread thread = new Thread(() -> cluster.ssubscribe(listener, "shard"));
    thread.start();
    await("subscribed", listener::isSubscribed);
    assertEquals(1, cluster.spublish("shard", "one"));
    assertEquals("shard one", heard.poll(10, TimeUnit.SECONDS));
    control("move", "shard", 1);
    assertEquals("ended", heard.poll(10, TimeUnit.SECONDS));
    thread.join();
    assertEquals(0, cluster.spublish("shard", "two"));
  }

  @Test
  void aSlotThatMovesAsks() {
    List<String> keys = keys("{ask}", 20);
    keys.forEach(key -> cluster.set(key, key));
    int source = TestCluster.owner("{ask}");
    int target = Integer.parseInt(control("open", "{ask}"));
    assertEquals("10", control("carry", "{ask}", target, 10));
    keys.forEach(key -> assertEquals(key, cluster.get(key)));
    cluster.set("{ask}new", "at the target");
    assertEquals("at the target", cluster.get("{ask}new"));
    try (Jedis node = single(source)) {
      JedisAskDataException ask = assertThrows(JedisAskDataException.class, () -> node.get("{ask}new"));
      assertEquals(target, ask.getTargetNode().getPort());
      JedisDataException again = assertThrows(JedisDataException.class, () -> node.mget(keys.toArray(String[]::new)));
      assertEquals("TRYAGAIN Multiple keys request during rehashing of slot", again.getMessage());
      control("close", "{ask}", target);
      assertEquals(keys, cluster.mget(keys.toArray(String[]::new)));
      assertThrows(JedisMovedDataException.class, () -> node.get("{ask}new"));
    }
  }

  @Test
  void slotsMoveAndPrimariesChangeUnderLoad() {
    Load load = new Load(Load.Errors.NONE, cluster::incr);
    try (load) {
      for (int i = 0; i < 3; i++) {
        control("move", load.key(i), 20);
      }
      control("failover", load.key(0));
      load.goesOn();
    }
    load.counts().forEach((key, count) -> assertEquals("" + count, cluster.get(key), key));
  }

  @Test
  void aPrimaryDiesUnderLoad() {
    List<String> kept = keys("kept:", 100);
    kept.forEach(key -> cluster.set(key, key));
    control("settle");
    String dead;
    try (Load load = new Load(Load.Errors.EXPECTED, cluster::incr)) {
      dead = control("kill", load.key(0));
      assertNotEquals(dead, control("owner", load.key(0)));
      load.goesOn();
      control("heal");
      load.goesOn();
    }
    kept.forEach(key -> assertEquals(key, cluster.get(key)));
    try (Jedis node = single(Integer.parseInt(dead))) {
      assertTrue(node.info("replication").contains("role:slave"));
    }
  }
}
