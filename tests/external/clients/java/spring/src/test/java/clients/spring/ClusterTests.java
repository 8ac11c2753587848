package clients.spring;

import static clients.support.Await.await;
import static clients.support.TestCluster.control;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Load;
import clients.support.TestCluster;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedRuntimeException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import redis.clients.jedis.Jedis;

/** A Spring Boot application with spring.data.redis.cluster.nodes. */
abstract class ClusterTests {
  @EnableAutoConfiguration
  static class Application {}

  private final Driver driver;
  private ConfigurableApplicationContext application;
  private StringRedisTemplate redis;

  ClusterTests(Driver driver) {
    this.driver = driver;
  }

  @BeforeEach
  void start() {
    control("fresh");
    application = new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .properties(
            "spring.main.banner-mode=off",
            "spring.data.redis.cluster.nodes=" + String.join(",", TestCluster.addresses()),
            "spring.data.redis.cluster.max-redirects=20",
            "spring.data.redis.timeout=10s",
            "spring.data.redis.client-type=" + driver.name().toLowerCase(),
            "spring.data.redis.lettuce.cluster.refresh.adaptive=true",
            "spring.data.redis.lettuce.cluster.refresh.period=1s")
        .run();
    redis = application.getBean(StringRedisTemplate.class);
  }

  @AfterEach
  void end() {
    application.close();
  }

  private RedisClusterConnection cluster() {
    return application.getBean(RedisConnectionFactory.class).getClusterConnection();
  }

  private static List<String> keys(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
  }

  private void put(List<String> keys) {
    keys.forEach(key -> redis.opsForValue().set(key, key));
  }

  private void check(List<String> keys) {
    keys.forEach(key -> assertEquals(key, redis.opsForValue().get(key)));
  }

  @Test
  void keysGoToTheirNodes() {
    put(keys("key:", 200));
    check(keys("key:", 200));
    // Spring sends these to several nodes and combines the answers.
    assertEquals(keys("key:", 50), redis.opsForValue().multiGet(keys("key:", 50)));
    assertEquals(50, redis.delete(keys("key:", 50)));
    assertEquals(150, redis.keys("key:*").size());
    redis.opsForValue().multiSet(Map.of("{u}a", "1", "{u}b", "2"));
    assertEquals(Arrays.asList("1", "2", null), redis.opsForValue().multiGet(List.of("{u}a", "{u}b", "{u}c")));
  }

  @Test
  void theTopology() {
    RedisClusterConnection cluster = cluster();
    await("all replicas are known", () -> {
      int masters = 0;
      int replicas = 0;
      for (RedisClusterNode node : cluster.clusterGetNodes()) {
        masters += node.isMaster() ? 1 : 0;
        replicas += node.isReplica() ? 1 : 0;
      }
      return masters == 3 && replicas == 3;
    });
    assertEquals(16384, cluster.clusterGetClusterInfo().getSlotsAssigned());
    assertEquals("ok", cluster.clusterGetClusterInfo().getState());
    assertEquals(TestCluster.owner("a"), cluster.clusterGetNodeForKey("a".getBytes()).getPort());
    redis.opsForValue().set("a", "1");
    assertEquals(1, cluster.clusterCountKeysInSlot(cluster.clusterGetSlotForKey("a".getBytes())));
    assertEquals(3, cluster.clusterGetMasterReplicaMap().size());
    cluster.close();
  }

  @Test
  void scriptsWithHashTags() {
    RedisScript<String> swap = RedisScript.of(
        "redis.call('SET', KEYS[2], redis.call('GETDEL', KEYS[1])) return redis.call('GET', KEYS[2])", String.class);
    for (String tag : List.of("a", "b", "c")) {
      redis.opsForValue().set("{" + tag + "}1", tag);
      assertEquals(tag, redis.execute(swap, List.of("{" + tag + "}1", "{" + tag + "}2")));
    }
    RedisScript<String> foreign = RedisScript.of("return redis.call('GET', 'b')", String.class);
    NestedRuntimeException error =
        assertThrows(NestedRuntimeException.class, () -> redis.execute(foreign, List.of("a")));
    String text = error.getMostSpecificCause().getMessage();
    assertTrue(text.contains("Script attempted to access a non local key in a cluster node"), text);
  }

  /** Spring itself refuses these. */
  @Test
  void transactionsAreRefused() {
    assertThrows(InvalidDataAccessApiUsageException.class, () -> redis.execute(new SessionCallback<Object>() {
      @Override
      @SuppressWarnings("unchecked")
      public <K, V> Object execute(org.springframework.data.redis.core.RedisOperations<K, V> operations) {
        operations.multi();
        return operations.exec();
      }
    }));
  }

  @Test
  void messagesReachEveryNode() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    RedisMessageListenerContainer container = new RedisMessageListenerContainer();
    container.setConnectionFactory(application.getBean(RedisConnectionFactory.class));
    container.addMessageListener((message, pattern) -> heard.add(new String(message.getBody())), ChannelTopic.of("news"));
    container.afterPropertiesSet();
    container.start();
    for (int port : TestCluster.ports()) {
      try (Jedis node = new Jedis("127.0.0.1", port)) {
        node.publish("news", "" + port);
      }
      assertEquals("" + port, heard.poll(10, TimeUnit.SECONDS));
    }
    container.stop();
  }

  @Test
  void aSlotThatMovesAsks() {
    List<String> keys = keys("{ask}", 20);
    put(keys);
    String target = control("open", "{ask}");
    assertEquals("10", control("carry", "{ask}", target, 10));
    check(keys);
    put(keys("{ask}new", 3));
    check(keys("{ask}new", 3));
    control("close", "{ask}", target);
    assertEquals(keys, redis.opsForValue().multiGet(keys));
  }

  @Test
  void slotsMoveAndPrimariesChangeUnderLoad() {
    Load load = new Load(Load.Errors.NONE, key -> redis.opsForValue().increment(key));
    try (load) {
      control("move", load.key(0), 20);
      control("failover", load.key(1));
      load.goesOn();
    }
    load.counts().forEach((key, count) -> assertEquals("" + count, redis.opsForValue().get(key), key));
  }

  @Test
  void aPrimaryDiesUnderLoad() {
    put(keys("kept:", 100));
    control("settle");
    try (Load load = new Load(Load.Errors.EXPECTED, key -> redis.opsForValue().increment(key))) {
      String dead = control("kill", load.key(0));
      assertNotEquals(dead, control("owner", load.key(0)));
      load.goesOn();
      control("heal");
      load.goesOn();
    }
    check(keys("kept:", 100));
  }
}
