package clients.redisson;

import static clients.support.Await.await;
import static clients.support.TestCluster.control;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Load;
import clients.support.TestCluster;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RMapCache;
import org.redisson.api.RScript;
import org.redisson.api.RShardedTopic;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

/** Redisson with useClusterServers(): routing, slots that move, failovers, topics, locks, batches and scripts. */
class ClusterTest {
  private static final StringCodec TEXT = StringCodec.INSTANCE;

  private RedissonClient redisson;

  @BeforeEach
  void connect() {
    control("fresh");
    Config config = new Config();
    config.setThreads(8).setNettyThreads(4);
    config.useClusterServers()
        .addNodeAddress(TestCluster.addresses().stream().map(address -> "redis://" + address).toArray(String[]::new))
        .setScanInterval(500)
        .setReadMode(ReadMode.MASTER)
        .setMasterConnectionMinimumIdleSize(2).setMasterConnectionPoolSize(16)
        .setSlaveConnectionMinimumIdleSize(1).setSlaveConnectionPoolSize(8)
        .setSubscriptionConnectionMinimumIdleSize(1)
        .setTimeout(2000).setRetryAttempts(20);
    redisson = Redisson.create(config);
  }

  @AfterEach
  void disconnect() {
    redisson.shutdown(0, 1, TimeUnit.SECONDS);
  }

  private static List<String> keys(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
  }

  private static String at(int port, String... words) {
    try (Plain plain = new Plain("127.0.0.1", port)) {
      return plain.call(words);
    }
  }

  private String get(String key) {
    return redisson.<String>getBucket(key, TEXT).get();
  }

  private void set(String key) {
    redisson.<String>getBucket(key, TEXT).set(key);
  }

  @Test
  void keysGoToTheirNodes() {
    keys("key:", 300).forEach(this::set);
    keys("key:", 300).forEach(key -> assertEquals(key, get(key)));
    List<Long> sizes = TestCluster.ports().stream().filter(port -> at(port, "INFO", "replication").contains("role:master"))
        .map(port -> Long.parseLong(at(port, "DBSIZE"))).toList();
    assertEquals(3, sizes.size());
    assertTrue(sizes.stream().allMatch(size -> size > 0), sizes.toString());
    assertEquals(300, redisson.getKeys().count());
    Map<String, String> pairs = keys("m", 50).stream().collect(Collectors.toMap(key -> key, key -> key));
    redisson.getBuckets(TEXT).set(pairs);
    assertEquals(pairs, redisson.getBuckets(TEXT).get(pairs.keySet().toArray(String[]::new)));
  }

  @Test
  void aBatchOverAllNodesAndOneThatIsATransaction() {
    RBatch batch = redisson.createBatch();
    List<RFuture<Long>> replies = keys("b", 100).stream().map(key -> batch.getAtomicLong(key).addAndGetAsync(7)).toList();
    assertEquals(100, batch.execute().getResponses().size());
    replies.forEach(reply -> assertEquals(7, reply.toCompletableFuture().join()));
    RBatch atomic = redisson.createBatch(BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.REDIS_WRITE_ATOMIC));
    atomic.getAtomicLong("{t}a").incrementAndGetAsync();
    atomic.getAtomicLong("{t}b").addAndGetAsync(5);
    assertEquals(List.of(1L, 5L), atomic.execute().getResponses());
  }

  @Test
  void locksAndMapsSurviveThatTheirSlotMoves() throws InterruptedException {
    RLock lock = redisson.getLock("{lock}");
    RMapCache<String, String> map = redisson.getMapCache("{lock}map", TEXT);
    lock.lock(60, TimeUnit.SECONDS);
    map.put("field", "value", 60, TimeUnit.SECONDS);
    control("move", "{lock}", 1);
    assertTrue(lock.isHeldByCurrentThread());
    assertEquals("value", map.get("field"));
    Thread waiter = new Thread(() -> {
      redisson.getLock("{lock}").lock(60, TimeUnit.SECONDS);
      map.put("waited", "yes");
    });
    waiter.start();
    await("the waiter listens", () -> TestCluster.ports().stream()
        .anyMatch(port -> at(port, "CLIENT", "LIST", "TYPE", "PUBSUB").contains("sub=1")
            || at(port, "CLIENT", "LIST", "TYPE", "PUBSUB").contains("ssub=1")));
    lock.unlock();
    waiter.join(20_000);
    assertEquals("yes", map.get("waited"));
  }

  @Test
  void scriptsWithHashTags() {
    String swap = "redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])";
    RScript script = redisson.getScript(TEXT);
    String sha = script.scriptLoad(swap);
    for (String tag : List.of("a", "b", "c")) {
      set("{" + tag + "}1");
      assertEquals("{" + tag + "}1", script.evalSha("{" + tag + "}", RScript.Mode.READ_WRITE, sha, RScript.ReturnType.VALUE,
          List.of("{" + tag + "}1", "{" + tag + "}2")));
    }
    RedisException error = assertThrows(RedisException.class,
        () -> script.eval("a", RScript.Mode.READ_WRITE, "return redis.call('GET', 'b')", RScript.ReturnType.VALUE, List.of("a")));
    assertTrue(error.getMessage().contains("Script attempted to access a non local key in a cluster node"), error.getMessage());
  }

  @Test
  void messagesReachEveryNode() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    RTopic topic = redisson.getTopic("news", TEXT);
    topic.addListener(String.class, (channel, message) -> heard.add(message));
    for (int port : TestCluster.ports()) {
      at(port, "PUBLISH", "news", "" + port);
      assertEquals("" + port, heard.poll(10, TimeUnit.SECONDS));
    }
  }

  /** Works only while the slot stays: Redisson does not subscribe again at the new node, with redis-server either. */
  @Test
  void shardedMessages() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    RShardedTopic topic = redisson.getShardedTopic("shard", TEXT);
    topic.addListener(String.class, (channel, message) -> heard.add(message));
    assertEquals(1, topic.publish("one"));
    assertEquals("one", heard.poll(10, TimeUnit.SECONDS));
    assertEquals("1", at(TestCluster.owner("shard"), "SPUBLISH", "shard", "two"));
    assertEquals("two", heard.poll(10, TimeUnit.SECONDS));
  }

  @Test
  void aSlotThatMovesAsks() {
    List<String> keys = keys("{ask}", 20);
    keys.forEach(this::set);
    String target = control("open", "{ask}");
    assertEquals("10", control("carry", "{ask}", target, 10));
    keys.forEach(key -> assertEquals(key, get(key)));
    set("{ask}new");
    assertEquals("{ask}new", get("{ask}new"));
    control("close", "{ask}", target);
    keys.forEach(key -> assertEquals(key, get(key)));
  }

  @Test
  void slotsMoveAndPrimariesChangeUnderLoad() {
    Load load = new Load(Load.Errors.NONE, key -> redisson.getAtomicLong(key).incrementAndGet());
    try (load) {
      for (int i = 0; i < 3; i++) {
        control("move", load.key(i), 20);
      }
      control("failover", load.key(0));
      load.goesOn();
    }
    // The counter may be higher: Redisson repeats a request whose connection ended before the reply.
    load.counts().forEach((key, count) -> assertTrue(redisson.getAtomicLong(key).get() >= count, key));
  }

  @Test
  void aPrimaryDiesUnderLoad() {
    List<String> kept = keys("kept:", 100);
    kept.forEach(this::set);
    control("settle");
    try (Load load = new Load(Load.Errors.EXPECTED, key -> redisson.getAtomicLong(key).incrementAndGet())) {
      String dead = control("kill", load.key(0));
      assertNotEquals(dead, control("owner", load.key(0)));
      load.goesOn();
      control("heal");
      load.goesOn();
      assertTrue(at(Integer.parseInt(dead), "INFO", "replication").contains("role:slave"));
    }
    kept.forEach(key -> assertEquals(key, get(key)));
  }
}
