package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clients.support.OwnServer;
import clients.support.Servers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import redis.clients.jedis.Jedis;

/**
 * Virtual machines with their own tests on one server, each in its own world, which only its URL selects. Gradle gives
 * its forks their number in the property that is used here.
 */
@EnabledIfEnvironmentVariable(named = Servers.TEST_SERVER, matches = ".+")
class ForksTest {
  private static final int FORKS = 8;
  private static final int ROUNDS = 200;

  @Test
  void forksShareAServer() throws Exception {
    try (OwnServer server = OwnServer.start("--test-commands", "local")) {
      List<Process> forks = new ArrayList<>();
      for (int number = 1; number <= FORKS; number++) forks.add(fork(number, server.port()));
      for (Process fork : forks) {
        String said = new String(fork.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, fork.waitFor(), said);
      }
      try (Jedis jedis = new Jedis(server.host(), server.port())) {
        assertEquals(0, jedis.dbSize());
      }
    }
  }

  private static Process fork(int number, int port) throws IOException {
    return new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"), "-XX:TieredStopAtLevel=1",
            "-cp", System.getProperty("java.class.path"), "-Dorg.gradle.test.worker=" + number, Fork.class.getName(),
            String.valueOf(port))
        .redirectErrorStream(true)
        .start();
  }

  /** The test of each fork: each round empties the data and changes a directive, which would break other forks. */
  static final class Fork {
    public static void main(String[] arguments) {
      String worker = System.getProperty("org.gradle.test.worker");
      try (Jedis jedis = new Jedis("redis://world.fork-" + worker + ":x@127.0.0.1:" + arguments[0] + "/0")) {
        for (int round = 0; round < ROUNDS; round++) {
          String policy = round % 2 == 0 ? "allkeys-lru" : "noeviction";
          jedis.flushAll();
          jedis.configSet("maxmemory-policy", policy);
          jedis.set("round", worker + "." + round);
          same(1L, jedis.incr("steps"));
          same(worker + "." + round, jedis.get("round"));
          same(2L, jedis.dbSize());
          same(Map.of("maxmemory-policy", policy), jedis.configGet("maxmemory-policy"));
        }
      }
    }

    private static void same(Object expected, Object found) {
      if (!expected.equals(found)) throw new AssertionError("expected " + expected + ", found " + found);
    }
  }
}
