package clients.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import clients.support.Servers;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisCluster;
import redis.embedded.RedisServer;
import redis.embedded.RedisShardedCluster;

/** embedded-redis makes a cluster of our program: MEET, ADDSLOTS, REPLICATE, and its waits between them. */
@Tag("all")
class EmbeddedClusterTest {
  private static final int BUS_OFFSET = 10_000;

  @TempDir private Path folder;

  /** Below the ports of outgoing connections, and so are the ports of the bus. */
  private static List<Integer> ports(int count) {
    List<Integer> ports = new ArrayList<>();
    Random random = new Random();
    while (ports.size() < count) {
      int port = 11_000 + random.nextInt(BUS_OFFSET);
      if (!ports.contains(port) && isFree(port) && isFree(port + BUS_OFFSET)) {
        ports.add(port);
      }
    }
    return ports;
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException exception) {
      return false;
    }
  }

  private RedisShardedCluster build(List<Integer> ports, int replicas) throws IOException {
    return RedisShardedCluster.newRedisCluster()
        .withServerBuilder(RedisServer.newRedisServer()
            .executableProvider(() -> new File(Servers.BINARY))
            .setting("dir " + folder)
            .setting("save \"\""))
        .serverPorts(ports)
        .shard("first", replicas)
        .shard("second", replicas)
        .shard("third", replicas)
        .initializationTimeout(Duration.ofSeconds(30))
        .build();
  }

  private static JedisCluster connect(RedisShardedCluster cluster) {
    Set<HostAndPort> nodes =
        cluster.serverPorts().stream().map(port -> new HostAndPort("127.0.0.1", port)).collect(Collectors.toSet());
    return new JedisCluster(nodes);
  }

  @Test
  void startUseStop() throws IOException {
    RedisShardedCluster cluster = build(ports(3), 0);
    cluster.start();
    assertTrue(cluster.isActive());
    List<Long> pids = new ArrayList<>();
    try (JedisCluster jedis = connect(cluster)) {
      for (int i = 0; i < 100; i++) {
        jedis.set("key" + i, "" + i);
      }
      for (int i = 0; i < 100; i++) {
        assertEquals("" + i, jedis.get("key" + i));
      }
    }
    for (int port : cluster.serverPorts()) {
      try (Jedis node = new Jedis("127.0.0.1", port)) {
        Servers.assertRunsBinary(node.info("server"));
        assertTrue(node.dbSize() > 0);
        pids.add(Long.parseLong(node.info("server").replaceFirst("(?s).*process_id:(\\d+).*", "$1")));
      }
    }
    cluster.stop();
    assertFalse(cluster.isActive());
    pids.forEach(pid -> assertTrue(ProcessHandle.of(pid).isEmpty()));
  }

  @Test
  void withReplicas() throws IOException {
    RedisShardedCluster cluster = build(ports(6), 1);
    cluster.start();
    try (Jedis node = new Jedis("127.0.0.1", cluster.serverPorts().get(0))) {
      Await.await("three replicas", Duration.ofSeconds(20),
          () -> node.clusterNodes().lines().filter(line -> line.contains("slave")).count() == 3);
      assertEquals(3, node.clusterNodes().lines().filter(line -> line.contains("master")).count());
      assertTrue(node.clusterInfo().contains("cluster_state:ok"));
    } finally {
      cluster.stop();
    }
    assertThrows(RuntimeException.class, () -> connect(cluster).get("key"));
  }
}
