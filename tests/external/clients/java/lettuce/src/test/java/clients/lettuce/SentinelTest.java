package clients.lettuce;

import static clients.support.Await.await;
import static clients.support.TestSentinels.NAME;
import static clients.support.TestSentinels.control;
import static clients.support.TestSentinels.primary;
import static clients.support.TestSentinels.replicas;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Failovers;
import clients.support.TestSentinels;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.masterreplica.MasterReplica;
import io.lettuce.core.masterreplica.StatefulRedisMasterReplicaConnection;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A RedisURI of Sentinels: discovery, reads from replicas, SENTINEL commands, failovers under load. */
class SentinelTest {
  private RedisClient client;
  private RedisURI uri;

  @BeforeEach
  void start() {
    uri = uriOf(TestSentinels.fresh(), NAME);
    client = RedisClient.create();
  }

  @AfterEach
  void end() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  private static RedisURI uriOf(List<String> sentinels, String name) {
    RedisURI.Builder builder = RedisURI.builder().withSentinelMasterId(name).withTimeout(Duration.ofSeconds(3));
    for (String address : sentinels) {
      builder.withSentinel("127.0.0.1", Integer.parseInt(address.substring(address.indexOf(':') + 1)));
    }
    return builder.build();
  }

  private static int port(Map<String, String> server) {
    return Integer.parseInt(server.get("port"));
  }

  @Test
  void itFindsThePrimary() {
    RedisCommands<String, String> redis = client.connect(uri).sync();
    assertEquals("master", redis.role().get(0));
    assertTrue(redis.info("server").contains("tcp_port:" + primary()));
    assertEquals("OK", redis.set("key", "value"));
    assertEquals("value", control("get", "key"));
  }

  @Test
  void anUnknownName() {
    RedisURI unknown = uriOf(uri.getSentinels().stream().map(one -> one.getHost() + ":" + one.getPort()).toList(), "nobody");
    assertThrows(RedisConnectionException.class, () -> client.connect(unknown));
  }

  @Test
  void replicasAnswerReads() {
    try (StatefulRedisMasterReplicaConnection<String, String> connection =
        MasterReplica.connect(client, StringCodec.UTF8, uri)) {
      connection.setReadFrom(ReadFrom.REPLICA);
      connection.sync().set("key", "value");
      control("settle");
      assertEquals("value", connection.sync().get("key"));
      String read = connection.sync().info("server");
      assertTrue(replicas().stream().anyMatch(port -> read.contains("tcp_port:" + port)), read);
    }
  }

  @Test
  void theSentinelsTell() {
    try (StatefulRedisSentinelConnection<String, String> sentinel = client.connectSentinel(uri)) {
      InetSocketAddress address = (InetSocketAddress) sentinel.sync().getMasterAddrByName(NAME);
      assertEquals(primary(), address.getPort());
      assertEquals(List.of(primary()), sentinel.sync().masters().stream().map(SentinelTest::port).toList());
      assertEquals(replicas(), sentinel.sync().replicas(NAME).stream().map(SentinelTest::port).sorted().toList());
      assertEquals("2", sentinel.sync().master(NAME).get("num-other-sentinels"));
    }
  }

  @Test
  @Tag("all")
  void aFailoverByHandUnderLoad() {
    RedisCommands<String, String> redis = client.connect(uri).sync();
    Failovers.byHandUnderLoad(commands(redis));
    assertTrue(redis.info("server").contains("tcp_port:" + primary()));
  }

  @Test
  void aPrimaryDiesUnderLoad() {
    RedisCommands<String, String> redis = client.connect(uri).sync();
    Failovers.primaryDiesUnderLoad(commands(redis));
    assertTrue(redis.info("server").contains("tcp_port:" + primary()));
  }

  @Test
  @Tag("all")
  void readsOfReplicasSurviveThePrimary() {
    try (StatefulRedisMasterReplicaConnection<String, String> connection =
        MasterReplica.connect(client, StringCodec.UTF8, uri)) {
      connection.setReadFrom(ReadFrom.REPLICA_PREFERRED);
      connection.sync().set("key", "value");
      control("settle");
      control("kill");
      await("it writes again", Duration.ofSeconds(30), () -> {
        try {
          return "OK".equals(connection.sync().set("key", "new"));
        } catch (RuntimeException outage) {
          return false;
        }
      });
      control("heal");
      control("settle");
      assertEquals("new", connection.sync().get("key"));
    }
  }

  private static Failovers.Client commands(RedisCommands<String, String> redis) {
    return new Failovers.Client() {
      @Override
      public void set(String key, String value) {
        redis.set(key, value);
      }

      @Override
      public String get(String key) {
        return redis.get(key);
      }

      @Override
      public void increment(String key) {
        redis.incr(key);
      }
    };
  }
}
