package clients.lettuce;

import static clients.support.Await.await;
import static clients.support.TestCluster.control;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Load;
import clients.support.TestCluster;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.RedisClusterPubSubAdapter;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.ArrayList;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** RedisClusterClient: routing, topology refresh, slots that move, failovers, pub/sub, transactions and scripts. */
class ClusterTest {
  private RedisClusterClient client;
  private StatefulRedisClusterConnection<String, String> connection;
  private RedisAdvancedClusterCommands<String, String> cluster;

  @BeforeEach
  void connect() {
    control("fresh");
    connect(ProtocolVersion.RESP3);
  }

  private void connect(ProtocolVersion protocol) {
    disconnect();
    client = RedisClusterClient.create(TestCluster.ports().stream()
        .map(port -> RedisURI.builder().withHost("127.0.0.1").withPort(port).withTimeout(Duration.ofSeconds(10)).build()).toList());
    ClusterTopologyRefreshOptions refresh = ClusterTopologyRefreshOptions.builder()
        .enableAllAdaptiveRefreshTriggers()
        .adaptiveRefreshTriggersTimeout(Duration.ofMillis(200))
        .refreshTriggersReconnectAttempts(1)
        .enablePeriodicRefresh(Duration.ofSeconds(1))
        .build();
    client.setOptions(ClusterClientOptions.builder().protocolVersion(protocol).topologyRefreshOptions(refresh).maxRedirects(20).build());
    connection = client.connect();
    cluster = connection.sync();
  }

  @AfterEach
  void disconnect() {
    if (client != null) {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      client = null;
    }
  }

  private static List<String> keys(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
  }

  /** A connection to one node, which follows no redirection. */
  private static <T> T at(int port, java.util.function.Function<RedisCommands<String, String>, T> question) {
    RedisClient single = RedisClient.create(RedisURI.create("127.0.0.1", port));
    try (var one = single.connect()) {
      return question.apply(one.sync());
    } finally {
      single.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESP2", "RESP3"})
  void keysGoToTheirNodes(ProtocolVersion protocol) {
    connect(protocol);
    List<String> keys = keys("key:", 300);
    keys.forEach(key -> cluster.set(key, key));
    keys.forEach(key -> assertEquals(key, cluster.get(key)));
    assertEquals(300, cluster.dbsize());
    List<Long> sizes = new ArrayList<>();
    cluster.upstream().commands().dbsize().forEach(sizes::add);
    assertEquals(3, sizes.size());
    assertTrue(sizes.stream().allMatch(size -> size > 0), sizes.toString());
    assertEquals(6, client.getPartitions().size());
  }

  /** The client splits these commands itself. */
  @Test
  void manyKeysOverAllNodes() {
    Map<String, String> pairs = keys("m", 100).stream().collect(Collectors.toMap(key -> key, key -> key));
    assertEquals("OK", cluster.mset(pairs));
    assertEquals(keys("m", 100), cluster.mget(keys("m", 100).toArray(String[]::new)).stream().map(KeyValue::getValue).toList());
    assertEquals(100, cluster.del(keys("m", 100).toArray(String[]::new)));
    RedisCommandExecutionException error = assertThrows(RedisCommandExecutionException.class, () -> cluster.sinter("a", "b"));
    assertEquals("CROSSSLOT Keys in request don't hash to the same slot", error.getMessage());
  }

  @Test
  void manyRequestsAtOnce() {
    List<RedisFuture<Long>> replies = keys("async", 500).stream().map(key -> connection.async().incr(key)).toList();
    await("all are answered", () -> replies.stream().allMatch(RedisFuture::isDone));
    assertTrue(replies.stream().allMatch(reply -> reply.toCompletableFuture().join() == 1));
  }

  @ParameterizedTest
  @EnumSource(names = {"RESP2", "RESP3"})
  void transactionsAtTheNodeOfATag(ProtocolVersion protocol) {
    connect(protocol);
    RedisClusterNode node = connection.getPartitions().getPartitionBySlot(io.lettuce.core.cluster.SlotHash.getSlot("{t}"));
    RedisCommands<String, String> one = ((io.lettuce.core.api.StatefulRedisConnection<String, String>)
        connection.getConnection(node.getNodeId())).sync();
    one.multi();
    one.set("{t}a", "1");
    one.incr("{t}a");
    TransactionResult result = one.exec();
    assertEquals(List.of("OK", 2L), result.stream().toList());
    one.watch("{t}a");
    at(node.getUri().getPort(), other -> other.set("{t}a", "9"));
    one.multi();
    one.set("{t}a", "10");
    assertTrue(one.exec().wasDiscarded());
    assertEquals("9", cluster.get("{t}a"));
  }

  @Test
  void scriptsWithHashTags() {
    String swap = "redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])";
    String sha = cluster.scriptLoad(swap); // at all nodes
    for (String tag : List.of("a", "b", "c")) {
      cluster.set("{" + tag + "}1", tag);
      assertEquals(tag, cluster.evalsha(sha, ScriptOutputType.VALUE, "{" + tag + "}1", "{" + tag + "}2"));
    }
    RedisCommandExecutionException error = assertThrows(RedisCommandExecutionException.class,
        () -> cluster.eval("return redis.call('GET', 'b')", ScriptOutputType.VALUE, "a"));
    assertTrue(error.getMessage().contains("Script attempted to access a non local key in a cluster node"), error.getMessage());
    cluster.upstream().commands().functionLoad("#!lua name=lib\nredis.register_function('put', function(k, a) return redis.call('SET', k[1], a[1]) end)");
    keys("f", 20).forEach(key -> cluster.fcall("put", ScriptOutputType.STATUS, new String[] {key}, key));
    assertEquals("f7", cluster.get("f7"));
  }

  @Test
  void messagesReachEveryNode() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    StatefulRedisClusterPubSubConnection<String, String> listener = client.connectPubSub();
    listener.addListener(new RedisClusterPubSubAdapter<>() {
      @Override
      public void message(RedisClusterNode node, String channel, String message) {
        heard.add(message);
      }
    });
    listener.sync().subscribe("news");
    for (int port : TestCluster.ports()) {
      at(port, node -> node.publish("news", "" + port));
      assertEquals("" + port, heard.poll(10, TimeUnit.SECONDS));
    }
  }

  /** The subscription follows when its slot moves. */
  @ParameterizedTest
  @EnumSource(names = {"RESP2", "RESP3"})
  void shardedMessages(ProtocolVersion protocol) throws InterruptedException {
    connect(protocol);
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    StatefulRedisClusterPubSubConnection<String, String> listener = client.connectPubSub();
    listener.addListener(new RedisClusterPubSubAdapter<>() {
      @Override
      public void smessage(RedisClusterNode node, String channel, String message) {
        heard.add(channel + " " + message);
      }

      @Override
      public void sunsubscribed(RedisClusterNode node, String channel, long count) {
        heard.add("ended");
      }
    });
    listener.sync().ssubscribe("shard");
    assertEquals(1, cluster.spublish("shard", "one"));
    assertEquals("shard one", heard.poll(10, TimeUnit.SECONDS));
    control("move", "shard", 1);
    assertEquals("ended", heard.poll(10, TimeUnit.SECONDS));
    listener.sync().ssubscribe("shard");
    await("it is subscribed at the new owner", () -> cluster.spublish("shard", "two") == 1);
    assertEquals("shard two", heard.poll(10, TimeUnit.SECONDS));
  }

  @Test
  void replicasAnswerReads() {
    connection.setReadFrom(ReadFrom.REPLICA);
    List<String> keys = keys("r", 30);
    keys.forEach(key -> cluster.set(key, key));
    control("settle");
    TestCluster.ports().forEach(port -> at(port, RedisCommands::configResetstat));
    keys.forEach(key -> assertEquals(key, cluster.get(key)));
    int calls = 0;
    for (int port : TestCluster.ports()) {
      String info = at(port, RedisCommands::info);
      String stats = at(port, node -> node.info("commandstats"));
      if (info.contains("role:slave") && stats.contains("cmdstat_get:")) {
        calls += Integer.parseInt(stats.replaceFirst("(?s).*cmdstat_get:calls=(\\d+).*", "$1"));
      }
    }
    assertEquals(30, calls);
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
    RedisCommandExecutionException ask =
        assertThrows(RedisCommandExecutionException.class, () -> at(source, node -> node.get("{ask}new")));
    assertTrue(ask.getMessage().matches("ASK \\d+ 127.0.0.1:" + target), ask.getMessage());
    RedisCommandExecutionException again = assertThrows(RedisCommandExecutionException.class,
        () -> at(source, node -> node.mget(keys.toArray(String[]::new))));
    assertEquals("TRYAGAIN Multiple keys request during rehashing of slot", again.getMessage());
    control("close", "{ask}", target);
    keys.forEach(key -> assertEquals(key, cluster.get(key)));
  }

  private int ownerAsTheClientSees(String key) {
    RedisClusterNode node = client.getPartitions().getPartitionBySlot(io.lettuce.core.cluster.SlotHash.getSlot(key));
    return node == null ? 0 : node.getUri().getPort();
  }

  @Test
  void slotsMoveAndPrimariesChangeUnderLoad() {
    Load load = new Load(Load.Errors.NONE, key -> cluster.incr(key));
    try (load) {
      for (int i = 0; i < 3; i++) {
        control("move", load.key(i), 20);
        String key = load.key(i);
        await("the topology is refreshed", () -> ownerAsTheClientSees(key) == TestCluster.owner(key));
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
    try (Load load = new Load(Load.Errors.EXPECTED, key -> cluster.incr(key))) {
      int dead = Integer.parseInt(control("kill", load.key(0)));
      int owner = TestCluster.owner(load.key(0));
      assertNotEquals(dead, owner);
      await("the topology is refreshed", Duration.ofSeconds(20), () -> ownerAsTheClientSees(load.key(0)) == owner);
      load.goesOn();
      control("heal");
      load.goesOn();
      assertTrue(at(dead, node -> node.info("replication")).contains("role:slave"));
    }
    kept.forEach(key -> assertEquals(key, cluster.get(key)));
  }
}
